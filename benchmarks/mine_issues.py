"""Mine the set of issues from git history: ``python -m benchmarks.mine_issues MIRRORS`` writes ``sets/issues.jsonl``.

A commit that mends something says in its message what was wrong, as a report does. Of each, the file keeps the commit
and what it changed: the sources and the definitions around the changed lines, as they are in the commit before. The
message stays in the history, where ``issue_reports.py`` reads it. Rows with a ``text`` were written by hand, in our own
words, after reports that a commit refers to; they are kept, and their answers are found anew.
"""

from __future__ import annotations

import argparse
import json
import random
import re
from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

from benchmarks.issue_reports import ISSUES_FILE, read_report
from dowse.code import parsing, symbols
from dowse.code.languages import load_builtin
from dowse.errors import UsageError
from dowse.evaluation.mining.commits import BOT_AUTHOR, is_code
from dowse.services import git
from dowse.types.source import Entity, Kind, ParseHealth

SEED = 22
PER_REPOSITORY = 14
NEWEST_COMMITS = 5000
NEWEST_USABLE = 250
"""Usable commits to draw from: trees of neighbouring commits have most files in common."""

MIN_WORDS, MAX_WORDS = 30, 600
MAX_SOURCES = 3
MAX_FILES = 12
MAX_CHANGED_LINES = 200

FORMAT = "--format=%x1e%H%x1f%P%x1f%an <%ae>%x1f%s%x1f%b%x1f"
ADVICE = "give another folder of mirrors"
_HUNK = re.compile(r"^@@ -(\d+)(?:,(\d+))? ", re.MULTILINE)

_ROUTINE = re.compile(
    r"\b(?:bump|releas\w+|merge|revert|typos?|lint|reformat\w*|changelog|translat\w+|docs?|documentation|refactor\w*|clean-?up"
    r"|rename|type (?:hints?|annotations?)|typing|deprecat\w+|upgrade|dependenc\w+|add support|pre-commit|ci)\b",
    re.IGNORECASE,
)
_MENDING = re.compile(
    r"\b(?:fix\w*|bugs?|errors?|fail\w*|crash\w*|wrong\w*|incorrect\w*|broken|regress\w+|exceptions?|problems?|raises?|panics?"
    r"|does(?:n't| not)|should(?:n't| not)?|unexpected\w*|leak\w*|hang\w*|missing)\b",
    re.IGNORECASE,
)


class Commit(NamedTuple):
    """A commit with one parent, and the paths that it changed."""

    sha: str
    parent: str
    author: str
    subject: str
    body: str
    paths: tuple[str, ...]


class Labels(NamedTuple):
    """What a commit changed, as it was before: paths, and definitions as ``path:Qualified.name``."""

    files: list[str]
    functions: list[str]


def main() -> None:
    """Mine every repository of a folder of mirrors that has a row in the file, or is named."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("mirrors", type=Path, help="folder with git snapshots, <owner>+<name>/repo each")
    parser.add_argument("repositories", nargs="*", help="<owner>/<name> each [default: those in the file]")
    arguments = parser.parse_args()
    known = [json.loads(line) for line in ISSUES_FILE.read_text(encoding="utf-8").splitlines()]
    named = arguments.repositories or sorted({row["repository"] for row in known})
    rows: list[dict[str, Any]] = []
    for repository in named:
        mirror = find_mirror(arguments.mirrors, repository)
        mined = list(mine(mirror, repository))
        written = [row for row in known if row["repository"] == repository and "text" in row]
        rows += mined + [row for row in written if label_again(mirror, row)]
        print(f"{repository}: {len(mined)} mined, {len(written)} written", flush=True)
    ISSUES_FILE.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")


def find_mirror(mirrors: Path, repository: str) -> Path:
    """Find the snapshot of a repository."""
    return mirrors / repository.replace("/", "+") / "repo"


def mine(mirror: Path, repository: str) -> Iterator[dict[str, Any]]:
    """Mine reports from the newest commits of a repository, drawn at random."""
    drawn = list(islice(filter(is_usable, read_log(mirror, f"--max-count={NEWEST_COMMITS}")), NEWEST_USABLE))
    random.Random(f"{SEED} {repository}").shuffle(drawn)
    count = 0
    for commit in drawn:
        try:
            labels = find_labels(mirror, commit)
        except UsageError:  # the snapshot lacks a content
            continue
        if labels.functions:
            yield make_row(repository, commit, labels)
            count += 1
        if count == PER_REPOSITORY:
            return


def make_row(repository: str, commit: Commit, labels: Labels) -> dict[str, Any]:
    """Make a row of the file."""
    return {
        "repository": repository,
        "commit": commit.sha,
        "base": commit.parent,
        "files": labels.files,
        "functions": labels.functions,
    }


def label_again(mirror: Path, row: dict[str, Any]) -> bool:
    """Find the answers of a report that was written by hand; return whether there are any."""
    (commit,) = read_log(mirror, "--max-count=1", row["commit"])
    labels = find_labels(mirror, commit)
    row.update(make_row(row["repository"], commit, labels))
    return bool(labels.files)


def read_log(mirror: Path, *which: str) -> Iterator[Commit]:
    """Read commits that have one parent, newest first, with the paths that they changed."""
    arguments = (
        "log",
        "--no-merges",
        "--no-renames",
        "--name-only",
        "--encoding=UTF-8",
        FORMAT,
        "-z",
        *which,
    )
    for record in git.run_text(mirror, *arguments, otherwise=ADVICE).split("\x1e")[1:]:
        sha, parents, author, subject, body, paths = record.split("\x1f", 5)
        changed = tuple(path.strip("\n") for path in paths.split("\0") if path.strip("\n"))
        yield Commit(sha, parents.partition(" ")[0], author, subject, body, changed)


def is_usable(commit: Commit) -> bool:
    """Return whether a commit mends one thing and says what was wrong."""
    if not 1 <= len(list_sources(commit)) <= MAX_SOURCES or len(commit.paths) > MAX_FILES:
        return False
    if BOT_AUTHOR.search(commit.author) or _ROUTINE.search(commit.subject):
        return False
    report = read_report(commit.subject, commit.body)
    return MIN_WORDS <= len(report.split()) <= MAX_WORDS and _MENDING.search(report) is not None


def list_sources(commit: Commit) -> list[str]:
    """List the changed files that are code of the project itself."""
    return [path for path in commit.paths if is_code(path, load_builtin())]


def find_labels(mirror: Path, commit: Commit) -> Labels:
    """Find the sources that were there before a commit and that it changed, and the definitions around the changes.

    A commit that changes too much, or adds a source, has none.
    """
    git.run_text(
        mirror, "ls-tree", "-r", "--name-only", commit.parent, otherwise=ADVICE
    )  # all of it is there
    files, functions, changed = [], [], 0
    for path in list_sources(commit):
        content = git.run(mirror, "cat-file", "blob", f"{commit.parent}:{path}", otherwise=ADVICE)
        if content.returncode:
            return Labels([], [])
        files.append(path)
        definitions = parse_definitions(path, content.stdout)
        for first, last in list_changed_lines(mirror, commit, path):
            changed += last - first + 1
            around = [find_innermost(definitions, line) for line in range(first, last + 1)]
            functions += [f"{path}:{definition.qualified}" for definition in around if definition]
    return Labels(files, list(dict.fromkeys(functions))) if changed <= MAX_CHANGED_LINES else Labels([], [])


def list_changed_lines(mirror: Path, commit: Commit, path: str) -> Iterator[tuple[int, int]]:
    """List the lines of a file, as it was before a commit, that the commit changed or inserted after."""
    arguments = ("diff", "-U0", "-w", *git.PLAIN_DIFF, commit.parent, commit.sha, "--", path)
    for hunk in _HUNK.finditer(git.run_text(mirror, *arguments, otherwise=ADVICE)):
        first, length = int(hunk[1]), int(hunk[2] or 1)
        yield max(1, first), max(1, first + max(length, 1) - 1)


def parse_definitions(path: str, content: bytes) -> list[Entity]:
    """Parse the functions, methods and classes of a file."""
    language = load_builtin().detect(path, content)
    tree, health = parsing.parse(language, content)
    if tree is None or health is ParseHealth.FAILED:
        return []
    found = symbols.find(language, parsing.run_queries(language, tree).definitions, content)
    return [entity for entity in found if entity.kind in (Kind.FUNCTION, Kind.METHOD)]


def find_innermost(definitions: Sequence[Entity], line: int) -> Entity | None:
    """Find the smallest definition around a line."""
    around = [entity for entity in definitions if entity.start_line <= line <= entity.end_line]
    return min(around, key=lambda entity: entity.end_line - entity.start_line, default=None)


if __name__ == "__main__":
    main()
