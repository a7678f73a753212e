"""Git log reader: the newest commits of a tree with their messages and changed files, within limits of time and size.

Merges are skipped, and so are commits that say nothing about what is where: bulk changes, formatting, releases.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import NamedTuple

from dowse.lazy_regex import compile_lazily
from dowse.services import git

MAX_COMMITS = 5000
"""Commits that are read, newest first."""

MAX_LOG_BYTES = 50_000_000
MAX_LOG_SECONDS = 10.0
"""What is read of a log at the most, and for how long: what comes later is older."""

MAX_COMMIT_FILES = 20
"""A commit with more files is a clean-up or a move: it is no evidence for any of them."""

MAX_MESSAGE_CHARS = 2000
"""Characters of a message that are read."""

_RECORD, _FIELD = "\x1e", "\x1f"
_FORMAT = f"--format={_RECORD}%H{_FIELD}%s{_FIELD}%b{_FIELD}"
_COMMIT = compile_lazily(r"[0-9a-f]{40}(?:[0-9a-f]{24})?")
_ROUTINE = compile_lazily(
    r"(?:chore\W|style\W|bump|release|version|prepare|update (?:dependenc|changelog|translation)|changelog|translat"
    r"|re-?format|format(?:ting)?\b|run (?:black|ruff|prettier|gofmt|rustfmt)|apply (?:black|ruff|prettier)|black\b"
    r"|lint|fix (?:lint|formatting|whitespace|typo)|whitespace|typo|merge|v?\d+\.\d+)",
    re.IGNORECASE,
)
_TRAILER = compile_lazily(r"^(?:[A-Z][\w-]+-by|Change-Id|git-svn-id|Cc|Fixes|Closes|Refs?):.*$", re.MULTILINE)


class Commit(NamedTuple):
    """A commit: its hash, what its message says, and the paths that it changed, relative to the root."""

    sha: str
    subject: str
    body: str
    paths: tuple[str, ...]


def read_commits(root: Path, since: str = "") -> list[Commit]:
    """Read the newest commits up to HEAD that are not in ``since``, newest first; none without git or history."""
    span = f"{since}..HEAD" if since else "HEAD"
    arguments = (
        "log",
        "--no-merges",
        "--no-renames",
        "--name-only",
        "--relative",
        f"--max-count={MAX_COMMITS}",
    )
    output = git.run_within(
        root,
        MAX_LOG_BYTES,
        MAX_LOG_SECONDS,
        *arguments,
        *git.PLAIN_DIFF,
        "--encoding=UTF-8",
        _FORMAT,
        "-z",
        span,
        "--",
    )
    found = [_parse_record(record) for record in output.decode("utf-8", "replace").split(_RECORD)[1:]]
    return [commit for commit in found if commit is not None]


def is_ancestor(root: Path, commit: str) -> bool:
    """Return whether HEAD descends from a commit."""
    answer = git.run_within(root, 100, MAX_LOG_SECONDS, "merge-base", commit, "HEAD")
    return answer.decode("ascii", "replace").strip() == commit


def _parse_record(record: str) -> Commit | None:
    """Parse a commit; None if it says nothing about its files."""
    fields = record.split(_FIELD, 3)
    if len(fields) < 4 or not _COMMIT.fullmatch(fields[0]):
        return None
    sha, subject, body, rest = fields
    paths = tuple(path for path in (part.strip("\n") for part in rest.split("\0")) if path)
    if not 0 < len(paths) <= MAX_COMMIT_FILES or _ROUTINE.match(subject):
        return None
    return Commit(sha, subject.strip()[:200], _TRAILER.sub("", body[:MAX_MESSAGE_CHARS]), paths)
