"""Test queries from git commits: the commit message is the query, the functions and files it changed are the answers.

Each query is run on a tree from before the commit. History is split into windows that share the tree at their
beginning, since a tree per commit would need an index each; what that tree does not have is no answer. Skipped are
merges, commits by bots, large commits, those that only format or document, and those without an answer.
"""

from __future__ import annotations

import random
import re
from collections.abc import Iterator, Sequence
from itertools import pairwise

from dowse.code import file_roles, tokens
from dowse.code.languages import Languages
from dowse.engine import Engine
from dowse.errors import UsageError
from dowse.evaluation import commit_history
from dowse.evaluation.commit_history import GitCommit
from dowse.evaluation.eval_types import EvalQuery, GoldTarget
from dowse.evaluation.leaks import names_file
from dowse.evaluation.mining.definitions import QUERY_KINDS
from dowse.indexing.analyze_file import ParserConfig, parse
from dowse.types.source import Entity, Role

MAX_CHANGED_FILES = 8
MAX_SOURCE_FILES = 3
MAX_CHANGED_LINES = 200
"""A commit that changes more files, source files or lines is about several things."""

MAX_HISTORY_COMMITS = 4000
"""Commits of the main line that are read."""

HISTORY_WINDOWS = 10
"""Trees that the queries of a repository are run on."""

OVERSAMPLING_FACTOR = 2
"""Commits to find per query wanted: some have no answer in the older tree."""

MIN_QUERY_WORDS, MAX_QUERY_WORDS = 4, 80
"""A shorter message says nothing; a longer one is cut."""

BOT_AUTHOR = re.compile(
    r"\bbot\b|\[bot\]|dependabot|renovate|pre-commit|github-actions|greenkeeper|snyk|weblate|crowdin", re.I
)
_ROUTINE_SUBJECT = re.compile(
    r"^\W*(?:merge|revert|bump|release|prepare|version|v?\d+\.\d+|changelog|upgrade|pin|format|reformat|lint|style|chore|ci"
    r"|docs?|build|typos?|whitespace|black|isort|ruff|prettier|gofmt|rustfmt|cleanup|clean up|initial|wip|rename|move"
    r"|update (?:dependenc|changelog|copyright|version|readme)|fix (?:typo|lint|format|style)|remove unused"
    r"|add tests?|test|run (?:black|prettier|ruff|gofmt|clang)|apply (?:black|prettier|ruff|format))\b",
    re.I,
)
_NON_CODE_SUBJECT = re.compile(
    r"\b(?:typos?|spelling|grammar|docstrings?|document\w*|docs?|comments?|whitespace|indentation|capitali[sz]ation|"
    r"punctuation|versionadded|versionchanged|pep-?8|flake8|lint\w*|pylint|mypy|type (?:hints?|annotations?)|typing|"
    r"formatting|imports?|copyright|licen[sc]e|authors?|changelog|readme|requirements?|requires?|versions?|releas\w+|coverage)\b",
    re.I,
)
_SUBJECT_PREFIX = re.compile(r"^(?:\[[^\]]{1,30}\]|\w{1,12}(?:\([^)]*\))?!?:)\s*")
_REFERENCE_NUMBER = re.compile(r"\(?#\d+\)?|\b[A-Z]{2,}-\d+\b|\bGH-\d+\b|https?://\S+|\b[0-9a-f]{7,40}\b")
_TRAILER_LINE = re.compile(
    r"^(?:[A-Z][\w-]+-by|Fixes|Closes|Refs?|See|Change-Id|PR|Issue|Bug|Reviewed|Cc)\b.*$", re.M | re.I
)


def mine_queries(engine: Engine, wanted: int, rng: random.Random) -> list[EvalQuery]:
    """Mine queries from commits, each to be run on a tree from before the commit."""
    line = commit_history.list_first_parents(engine.root, MAX_HISTORY_COMMITS)
    if len(line) < 2:
        raise UsageError("its history has a single commit (a shallow clone?)")
    commits = _find_usable_commits(engine, line, wanted)
    rng.shuffle(commits)
    trees = {base: _OlderTree(engine, base) for base, _ in commits}
    found: list[EvalQuery] = []
    for base, commit in commits:
        targets = tuple(dict.fromkeys(_find_targets(engine, commit, trees[base])))
        if targets:
            found.append(EvalQuery("", extract_query(commit), targets, "git", source="git", base=base))
        if len(found) >= wanted:
            break
    return found


def _find_usable_commits(engine: Engine, line: Sequence[str], wanted: int) -> list[tuple[str, GitCommit]]:
    """Find commits that make queries, each with its older tree, from as little history as gives enough."""
    back = min(len(line) - 1, wanted * OVERSAMPLING_FACTOR)
    while True:
        step = -(-back // HISTORY_WINDOWS)
        edges = [line[i] for i in range(0, back, step)] + [line[back]]
        found = [
            (older, commit)
            for newer, older in pairwise(edges)
            for commit in commit_history.list_commits_between(engine.root, older, newer)
            if is_usable(commit, engine.languages)
        ]
        if len(found) >= wanted * OVERSAMPLING_FACTOR or back == len(line) - 1:
            return found
        back = min(len(line) - 1, back * 2)


def is_usable(commit: GitCommit, languages: Languages) -> bool:
    """Tell whether a commit is about one thing and says what."""
    sources = [file for file in commit.files if is_code(file.path, languages)]
    lines = sum(file.added + file.removed for file in commit.files)
    if (
        not 1 <= len(sources) <= MAX_SOURCE_FILES
        or len(commit.files) > MAX_CHANGED_FILES
        or not 1 <= lines <= MAX_CHANGED_LINES
    ):
        return False
    if not any(file.removed or file.added for file in sources):  # only white space
        return False
    if BOT_AUTHOR.search(commit.author) or _ROUTINE_SUBJECT.match(
        _SUBJECT_PREFIX.sub("", commit.subject) or commit.subject
    ):
        return False
    if _ROUTINE_SUBJECT.match(commit.subject) or _NON_CODE_SUBJECT.search(commit.subject):
        return False
    query = extract_query(commit)
    enough = len(tokens.split_words(query)) >= MIN_QUERY_WORDS
    return enough and not any(names_file(query, file.path) for file in sources)


def extract_query(commit: GitCommit) -> str:
    """Extract the subject and the first paragraph of the body, without issue numbers and trailers."""
    body = _TRAILER_LINE.sub("", commit.body.replace("\r", "")).strip()
    paragraph = body.split("\n\n", 1)[0] if body else ""
    text = (
        f"{_SUBJECT_PREFIX.sub('', commit.subject)}. {paragraph}"
        if paragraph
        else _SUBJECT_PREFIX.sub("", commit.subject)
    )
    words = " ".join(_REFERENCE_NUMBER.sub(" ", text).split()).split(" ")
    return " ".join(words[:MAX_QUERY_WORDS]).strip(" .,;:")


def is_code(path: str, languages: Languages) -> bool:
    """Tell whether a file is one of the project's sources, in a language that has definitions."""
    language = languages.detect(path, b"")
    return (
        file_roles.classify_role(path, b"") is Role.SOURCE
        and bool(language.definitions)
        and not language.prose
    )


class _OlderTree:
    """The tree that queries are run on, read file by file when needed."""

    def __init__(self, engine: Engine, base: str) -> None:
        s = engine.settings
        self.engine = engine
        self.base = base
        self.how = ParserConfig(engine.languages, s.chunk_size, s.chunk_overlap)
        self._names: dict[str, frozenset[str] | None] = {}

    def list_names(self, path: str) -> frozenset[str] | None:
        """Return the definitions of a file, or None if the tree does not have it."""
        if path not in self._names:
            entities = self.parse_entities(self.base, path)
            self._names[path] = None if entities is None else frozenset(e.qualified for e in entities)
        return self._names[path]

    def parse_entities(self, commit: str, path: str) -> Sequence[Entity] | None:
        """Parse what a file defined in a commit."""
        content = commit_history.read_file_at(self.engine.root, commit, path)
        return None if content is None else parse(self.how, path, content)[0].entities


def _find_targets(engine: Engine, commit: GitCommit, older: _OlderTree) -> Iterator[GoldTarget]:
    """Find the functions that a commit changed, or else the files, as far as the older tree has them."""
    for file in commit.files:
        names = older.list_names(file.path) if is_code(file.path, engine.languages) else None
        if names is None:
            continue
        entities = older.parse_entities(commit.parent, file.path) or ()
        lines = commit_history.list_changed_lines(engine.root, commit, file.path)
        changed = {e.qualified for first, last in lines for e in _find_innermost(entities, first, last)}
        kept = sorted(changed & names)
        if kept:
            yield from (GoldTarget(file.path, entity=name) for name in kept)
        else:
            yield GoldTarget(file.path)


def _find_innermost(entities: Sequence[Entity], first: int, last: int) -> list[Entity]:
    """Find the definitions that contain some of the lines, without those that enclose others."""
    touched = [e for e in entities if e.kind in QUERY_KINDS and e.start_line <= last and first <= e.end_line]
    return [e for e in touched if not any(_encloses(e, other) for other in touched)]


def _encloses(outer: Entity, inner: Entity) -> bool:
    lines = outer.start_line <= inner.start_line and inner.end_line <= outer.end_line
    return lines and inner.qualified.startswith(outer.qualified + ".")
