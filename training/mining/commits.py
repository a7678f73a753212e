"""Queries from git history: the message of a commit asks for what it changed, where that is at the pinned commit."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import chain, islice
from pathlib import Path
from typing import NamedTuple

from training.mining.tree import MinedQuery, Tree, TreeFile, find_innermost
from training.pairs import collapse_spaces

from dowse.code import file_roles, tokens
from dowse.errors import UsageError
from dowse.evaluation import commit_history
from dowse.evaluation.commit_history import GitCommit
from dowse.evaluation.mining.commits import BOT_AUTHOR, extract_query
from dowse.search.query.analyze import STOP_WORDS
from dowse.services import git
from dowse.types.source import Role

MAX_HISTORY_COMMITS = 4000
"""Commits of the main line that are read, newest first."""

WINDOW_COMMITS = 20
"""Commits of the main line that are read at a time. A clone may lack some contents, and git stops at the first."""

MAX_SOURCE_FILES = 4
MAX_CHANGED_LINES = 400
"""A commit that changes more is about several things."""

MIN_USEFUL_WORDS = 4
SHORT_SUBJECT_WORDS = 7
"""A subject of fewer words is followed by the first sentence of the body."""

MAX_WORDS = 40
MAX_COMMITS_PER_FILE = 3
"""Queries whose first answer is in the same file."""

MIN_OTHER_COMMITS = 8
"""Commits that change a single test, document or configuration file; more where there are few others."""

MAX_DEFINITION_LINES = 250
"""Of a larger definition only the lines around the change are the answer."""

MAX_TARGETS = 8
PRIMARY_SHARE = 0.25
"""Definitions with this share of the lines of the one that changed most are what to show first."""

MARGIN_LINES = 3
"""Lines above and below a change outside of every definition; closer changes are one answer."""

_ADVICE = "give another folder with --mirrors"
_ROUTINE = re.compile(
    r"\b(?:bump\w*|releas\w+|merge[ds]?|revert\w*|typos?|lint\w*|(?:re)?format(?:ting|ted)?|prettier|autocorrect"
    r"|whitespace|cherry[- ]pick\w*|changelog|backport\w*|translations?|locali[sz]ation|weblate|crowdin|copyright|wip"
    r"|spelling|clang-format|gofmt|ktlint|clippy|pre-commit|dependenc(?:y|ies)|prepare for|nits?|code style|coverage"
    r"|(?:upgrade|update|bump) .{0,40}\bto v?\d|v?\d+\.\d+\.\d+)\b"
    r"|^\W*(?:address|apply) (?:\w+ )?(?:review|comments|feedback|suggestions?)|^fixup!|^squash!|^chore\(deps"
    r"|^update [\w./-]+\.\w+$|^(?:create|add files|delete) [\w./-]+(?:\.\w+)?$",
    re.I,
)
_UNTOLD_NAME = re.compile(
    r"(?:change|history|news|release)[\w.-]*\.?\w*$|\block\b|[.-]lock|\.sum$|\.snap$|authors|contributors",
    re.I,
)
_SENTENCE_END = re.compile(r"(?<=[.!?])\s+(?=[A-Z])|\n\s*\n|\n(?=[-*#>])")
_BODY_NOISE = re.compile(
    r"^(?:[\w-]+-by:|co-authored|fix(?:es|ed)?:? |close[sd]?:? |resolve[sd]?:? |refs?:? |see |part of |follow-?up"
    r"|https?:|#\d|git-svn|[*#>|-])",
    re.I,
)
_ISSUE = re.compile(
    r"\s*\((?:gh-?|#)\s*\d+(?:,\s*#\d+)*\)|\b(?:(?:fix(?:e[sd])?|close[sd]?|resolve[sd]?|see|refs?|issue|pr)\s+)?[\w/-]*#\d+"
    r"|\bgh-\d+|https?://\S+|:\w+:(?=\s|$)|\[(?:ci skip|skip ci)\]",
    re.I,
)
_EMPTY_BRACKETS = re.compile(r"(?<!\w)[(\[][\s,;:]*[)\]]")
_HUNK = re.compile(r"^@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@", re.M)


class Hunk(NamedTuple):
    """Lines of a file that became others: the first line and the number of lines, before and after.

    Where there are none on one side, the first line is the one that follows.
    """

    old: int
    old_length: int
    new: int
    new_length: int


class _Places(NamedTuple):
    """The lines of a target, and how many of them a commit changed."""

    target: str
    changed: int


def mine_commits(tree: Tree, repository: Path, pin: str, limit: int) -> list[MinedQuery]:
    """Mine the newest commits that are about one thing, say what, and changed something that is still there."""
    line = commit_history.list_first_parents(repository, MAX_HISTORY_COMMITS, pin)
    history = _History(repository, pin, line)
    sources = _take(tree, history, _changes_sources, limit)
    wanted = max(MIN_OTHER_COMMITS, (limit - len(sources)) // 2)
    others = _take(tree, history, _changes_other_file, wanted)
    return [*sources[: limit - len(others)], *others]


@dataclass
class _History:
    """The commits before a pinned one, read when they are needed."""

    repository: Path
    pin: str
    line: Sequence[str]
    _windows: dict[int, list[GitCommit]] = field(default_factory=dict)

    def __iter__(self) -> Iterator[GitCommit]:
        """Yield the commits that say what they are about, newest first."""
        for start in range(0, len(self.line), WINDOW_COMMITS):
            if start not in self._windows:
                self._windows[start] = [commit for commit in self._read_window(start) if _is_told(commit)]
            yield from self._windows[start]

    def _read_window(self, start: int) -> list[GitCommit]:
        edges = self.line[start : start + WINDOW_COMMITS + 1]
        try:
            return commit_history.list_commits_between(self.repository, edges[-1], edges[0])
        except UsageError:
            return []


def _is_told(commit: GitCommit) -> bool:
    """Return whether the message of a commit says what was done, and it is no routine."""
    lines = sum(file.added + file.removed for file in commit.files)
    if (
        not 1 <= lines <= MAX_CHANGED_LINES
        or BOT_AUTHOR.search(commit.author)
        or _ROUTINE.search(commit.subject)
    ):
        return False
    words = [word.lower() for word in tokens.split_words(write_query(commit))]
    return len({word for word in words if word not in STOP_WORDS and not word.isdigit()}) >= MIN_USEFUL_WORDS


def write_query(commit: GitCommit) -> str:
    """Write the subject without prefixes and issue numbers; if it is short, with the first sentence of the body."""
    body = commit.body if len(tokens.split_words(commit.subject)) < SHORT_SUBJECT_WORDS else ""
    sentence = _SENTENCE_END.split(body.strip(), maxsplit=1)[0]
    sentence = "" if _BODY_NOISE.match(sentence) else collapse_spaces(sentence)
    subject = _ISSUE.sub("", commit.subject)
    query = extract_query(commit._replace(subject=subject, body=_ISSUE.sub("", sentence)))
    query = _EMPTY_BRACKETS.sub("", query.replace("`", ""))
    query = query if query.count("(") == query.count(")") else query.replace("(", "").replace(")", "")
    return " ".join(query.split()[:MAX_WORDS]).strip(" .,;:-")


def _changes_sources(commit: GitCommit) -> bool:
    roles = [file_roles.classify_role(file.path) for file in commit.files]
    return 1 <= roles.count(Role.SOURCE) <= MAX_SOURCE_FILES


def _changes_other_file(commit: GitCommit) -> bool:
    """Return whether a commit changes one test, document or configuration file, and nothing else."""
    if len(commit.files) != 1 or _UNTOLD_NAME.search(commit.files[0].path.rpartition("/")[2]):
        return False
    return file_roles.classify_role(commit.files[0].path) in (Role.TEST, Role.DOCS, Role.CONFIG)


def _take(tree: Tree, history: _History, fits: Callable[[GitCommit], bool], limit: int) -> list[MinedQuery]:
    """Take the first commits that have an answer, not too many about one file."""
    by_file: Counter[str] = Counter()
    queries: dict[str, MinedQuery] = {}
    for commit in filter(fits, history):
        if len(queries) >= limit:
            break
        found = find_targets(tree, history.repository, history.pin, commit)
        path = found.primary[0].rpartition(":")[0] if found else ""
        if found and found.query.lower() not in queries and by_file[path] < MAX_COMMITS_PER_FILE:
            by_file[path] += 1
            queries[found.query.lower()] = found
    return list(queries.values())


def find_targets(tree: Tree, repository: Path, pin: str, commit: GitCommit) -> MinedQuery | None:
    """Find the definitions, or else the lines or files, that a commit changed, where they are at the pinned commit."""
    roles = {file.path: file_roles.classify_role(file.path) for file in commit.files}
    wanted = Role.SOURCE if Role.SOURCE in roles.values() else next(iter(roles.values()))
    files = [tree.by_path[path] for path, role in roles.items() if role is wanted and path in tree.by_path]
    definitions, others = [], []
    for file in files:
        try:
            lines = _map_changes(repository, pin, commit, file.path)
        except UsageError:  # the clone lacks a content
            return None
        inside, outside = _sort_lines(file, lines)
        definitions += inside
        others += outside if lines else [_Places(file.whole, 1)]
    places = sorted(definitions or others, key=lambda place: -place.changed)[:MAX_TARGETS]
    if not places:
        return None
    enough = PRIMARY_SHARE * places[0].changed
    primary = tuple(place.target for place in places if place.changed >= enough)
    less_changed = (place.target for place in places if place.changed < enough)
    secondary = tuple(
        target for target in less_changed if not any(_overlaps(target, first) for first in primary)
    )
    return MinedQuery(write_query(commit), primary, secondary, f"Commit {commit.sha[:12]} changed this.")


def _overlaps(one: str, other: str) -> bool:
    """Return whether two targets share lines, as a class does with its methods."""
    (path, _, lines), (other_path, _, other_lines) = one.rpartition(":"), other.rpartition(":")
    first, last = map(int, lines.split("-"))
    other_first, other_last = map(int, other_lines.split("-"))
    return path == other_path and first <= other_last and other_first <= last


def _map_changes(repository: Path, pin: str, commit: GitCommit, path: str) -> list[int]:
    """List the lines that a commit wrote and that the pinned commit has, by their numbers there."""
    changes = _diff(repository, commit.parent, commit.sha, path) if commit.parent else []
    written = chain.from_iterable(range(h.new, h.new + max(1, h.new_length)) for h in changes)
    later = _diff(repository, commit.sha, pin, path)
    return [line for number in written if (line := map_line(later, number))]


def _diff(repository: Path, older: str, newer: str, path: str) -> list[Hunk]:
    options = (*git.PLAIN_DIFF, "--no-renames", "-U0", "-w")
    output = git.run_text(repository, "diff", *options, older, newer, "--", path, otherwise=_ADVICE)
    found = []
    for match in _HUNK.finditer(output):
        old, new = int(match[1]), int(match[3])
        old_length, new_length = int(match[2] or 1), int(match[4] or 1)
        found.append(Hunk(old + (not old_length), old_length, new + (not new_length), new_length))
    return found


def map_line(hunks: Sequence[Hunk], line: int) -> int | None:
    """Return the number that a line has after a change; None if the change replaced it."""
    shift = 0
    for hunk in hunks:
        if line < hunk.old:
            break
        if line < hunk.old + hunk.old_length:
            return None
        shift = hunk.new + hunk.new_length - hunk.old - hunk.old_length
    return line + shift


def _sort_lines(file: TreeFile, lines: Sequence[int]) -> tuple[list[_Places], list[_Places]]:
    """Sort changed lines into the definitions they are in, and runs of lines outside of every definition."""
    changed: Counter[str] = Counter()
    inside_large: list[int] = []
    outside: list[int] = []
    for line in lines:
        if line > len(file.lines) or not file.lines[line - 1].strip():
            continue
        entity = find_innermost(file.entities, line)
        if not entity:
            outside.append(line)
        elif entity.end_line - entity.start_line >= MAX_DEFINITION_LINES:
            inside_large.append(line)
        else:
            changed[file.target(entity)] += 1
    definitions = [_Places(target, count) for target, count in changed.items()]
    return [*definitions, *_join_lines(file, inside_large)], _join_lines(file, outside)


def _join_lines(file: TreeFile, lines: Sequence[int]) -> list[_Places]:
    """Join changed lines that are close to each other, with a margin."""
    runs: list[list[int]] = []
    for line in sorted(lines):
        if runs and line - runs[-1][-1] <= 2 * MARGIN_LINES:
            runs[-1].append(line)
        else:
            runs.append([line])
    last = len(file.lines) - (not file.lines[-1])
    return [
        _Places(f"{file.path}:{max(1, run[0] - MARGIN_LINES)}-{min(last, run[-1] + MARGIN_LINES)}", len(run))
        for run in islice(runs, MAX_TARGETS)
    ]
