"""Git diff and co-change: changed lines since a revision (unified diff parser), and files that change together."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path

from dowse.errors import UsageError
from dowse.services import git

MAX_COMMITS = 1000
"""Commits that are read, newest first: older ones say little about which files change together now."""

MAX_COMMIT_FILES = 40
"""A commit with more files is a clean-up or a merge, not a change of things that belong together."""

MIN_SHARED_COMMITS = 2
"""Commits that two files must share: a single one is chance."""

_ADVICE = "is this a repository, and the revision right? A diff can be piped into 'dowse affected --diff -'"
_NEW_FILE = re.compile(r"^\+\+\+ (?:b/)?(.*?)\t?$")
_OLD_FILE = re.compile(r"^--- (?:a/)?(.*?)\t?$")
_HUNK = re.compile(r"^@@ -\d+(?:,\d+)? \+(\d+)(?:,(\d+))? @@")
_DEV_NULL = "/dev/null"


def parse_diff(diff: str) -> tuple[dict[str, list[tuple[int, int]]], list[str]]:
    """Parse a unified diff into the changed line ranges by path (as they are after it), and the removed paths."""
    changed: dict[str, list[tuple[int, int]]] = {}
    removed: list[str] = []
    old, path = "", ""
    for line in diff.splitlines():
        if match := _OLD_FILE.match(line):
            old = match[1]
        elif match := _NEW_FILE.match(line):
            path = match[1]
            if path == _DEV_NULL:
                removed.append(old)
            else:
                changed.setdefault(path, [])
        elif path and path != _DEV_NULL and (match := _HUNK.match(line)):
            first, count = int(match[1]), int(match[2] or 1)
            changed[path].append((first, first + max(count, 1) - 1))
    return changed, removed


def read_diff(root: Path, revision: str) -> str:
    """Return the diff between a revision and the files on disk."""
    if revision.startswith("-"):
        raise UsageError(f"{revision} is not a revision: give a commit, a branch or a tag")
    quiet = git.disable_filters(root, otherwise=_ADVICE)
    return _run_git(root, *quiet, "diff", *git.PLAIN_DIFF, "--relative", "-U0", revision, "--")


def list_untracked(root: Path) -> list[str]:
    """List files that git does not track and does not ignore."""
    listed = _run_git(root, "ls-files", "--others", "--exclude-standard", "-z")
    return [path for path in listed.split("\0") if path]


def find_companions(root: Path, paths: Sequence[str]) -> list[tuple[str, float, int]]:
    """Find files that usually change with these: path, share of their commits, number of commits; most first."""
    log = _run_git(
        root, "log", f"-{MAX_COMMITS}", "--no-merges", "--name-only", "--relative", "--format=%x01", "-z"
    )
    commits = [frozenset(filter(None, re.split(r"[\0\n]+", part))) for part in log.split("\x01")]
    return count_co_changes(commits, frozenset(paths))


def count_co_changes(
    commits: Iterable[frozenset[str]], paths: frozenset[str]
) -> list[tuple[str, float, int]]:
    """Count which files share commits with some paths; each commit is given as its set of paths."""
    shared: Counter[str] = Counter()
    own = 0
    for commit in commits:
        if len(commit) <= MAX_COMMIT_FILES and commit & paths:
            own += 1
            shared.update(commit - paths)
    found = [(path, count / own, count) for path, count in shared.items() if count >= MIN_SHARED_COMMITS]
    return sorted(found, key=lambda row: (-row[2], row[0]))


def _run_git(root: Path, *arguments: str) -> str:
    return git.run_text(root, *arguments, otherwise=_ADVICE)
