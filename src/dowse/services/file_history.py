"""Git history of one file: its newest commits, who changed each line last (blame), and its content at a commit."""

from __future__ import annotations

import time
from pathlib import Path
from typing import NamedTuple

from dowse.lazy_regex import compile_lazily
from dowse.services import git

MAX_CONTENT_BYTES = 50_000_000
MAX_SECONDS = 20.0
"""What is read of git at the most, and how long it is waited for: blame walks through all of a file's history."""

NO_HISTORY = "there is no history to look at"

_FIELD = "\x1f"
_COMMIT = compile_lazily(r"[0-9a-f]{7,64}")
_BLAME_HEADER = compile_lazily(r"([0-9a-f]{40,64}) \d+ \d+(?: \d+)?")
_NO_COMMIT = compile_lazily(r"0+")


class FileCommit(NamedTuple):
    """A commit that changed a file. One without a hash stands for changes that are not committed."""

    sha: str = ""
    author: str = ""
    day: str = ""  # ISO date, in UTC
    subject: str = ""


def list_commits(root: Path, path: str, limit: int) -> list[FileCommit]:
    """List the newest commits that changed a file; none without git or history."""
    format = f"--format=%H{_FIELD}%an{_FIELD}%ct{_FIELD}%s"
    span = ("--encoding=UTF-8", f"--max-count={limit}", format, "HEAD", "--", f":(literal){path}")
    output = git.run_within(root, MAX_CONTENT_BYTES, MAX_SECONDS, "log", *git.PLAIN_DIFF, *span)
    rows = (line.split(_FIELD, 3) for line in output.decode("utf-8", "replace").split("\n"))
    return [FileCommit(row[0], row[1], _format_day(row[2]), row[3]) for row in rows if len(row) == 4]


def blame_lines(root: Path, path: str, first: int, last: int) -> list[FileCommit]:
    """Find the commit that changed each of some lines last, as the file is on disk; none without git or history."""
    filters = git.disable_filters(root, otherwise=NO_HISTORY)
    span = ("--encoding=UTF-8", "-L", f"{first},{last}", "--", path)
    output = git.run_within(
        root, MAX_CONTENT_BYTES, MAX_SECONDS, *filters, "blame", "--porcelain", "--no-textconv", *span
    )
    return _parse_blame(output.decode("utf-8", "replace"))


def _parse_blame(text: str) -> list[FileCommit]:
    """Parse blame's porcelain format: a header, what is new about its commit, and the line after a tab."""
    commits: dict[str, FileCommit] = {}
    lines: list[FileCommit] = []
    sha = ""
    for row in text.split("\n"):
        header = _BLAME_HEADER.fullmatch(row)
        if header:
            sha = header[1]
            commits.setdefault(sha, FileCommit("" if _NO_COMMIT.fullmatch(sha) else sha))
        elif row.startswith("\t"):
            lines.append(commits[sha])
        elif sha:
            key, _, value = row.partition(" ")
            if key == "author":
                commits[sha] = commits[sha]._replace(author=value)
            elif key == "committer-time":
                commits[sha] = commits[sha]._replace(day=_format_day(value))
            elif key == "summary":
                commits[sha] = commits[sha]._replace(subject=value)
    return lines


def _format_day(seconds: str) -> str:
    return time.strftime("%Y-%m-%d", time.gmtime(int(seconds))) if seconds.isdigit() else ""


def is_commit(text: str) -> bool:
    """Return whether a text is written like the hash of a commit: nothing that git would read as an option."""
    return _COMMIT.fullmatch(text) is not None


def read_content_at(root: Path, path: str, commit: str) -> bytes | None:
    """Read the content of a file in a commit; None if the commit or the file in it is not there."""
    if not is_commit(commit):
        return None
    name = f"{commit}:./{path}"
    size = git.run(root, "cat-file", "-s", name, otherwise=NO_HISTORY)
    if size.returncode or int(size.stdout) > MAX_CONTENT_BYTES:
        return None
    content = git.run(root, "cat-file", "blob", name, otherwise=NO_HISTORY)
    return None if content.returncode else content.stdout
