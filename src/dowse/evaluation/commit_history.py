"""Git history reader: commits, their changed files and lines (diff hunks), and files as they were at a commit.

Needs no checkout and no work tree: nothing in ``.git`` changes.
"""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path, PurePosixPath
from typing import NamedTuple

from dowse.services import git

_ADVICE = "leave 'git' out of --from"
_RECORD, _FIELD = "\x1e", "\x1f"
_FORMAT = f"--format={_RECORD}%H{_FIELD}%P{_FIELD}%an <%ae>{_FIELD}%s{_FIELD}%b{_FIELD}"
_PLAIN_DIFF = (*git.PLAIN_DIFF, "--no-renames")
_HUNK = re.compile(r"^@@ -(\d+)(?:,(\d+))? ", re.M)
_NOT_ON_WINDOWS = re.compile(r'[<>:"|?*\\]')
_FILE_MODES = (b"100644", b"100755")


class ChangedFile(NamedTuple):
    """A file that a commit changed; changes of white space do not count."""

    path: str
    added: int
    removed: int


class GitCommit(NamedTuple):
    """A commit with one parent."""

    sha: str
    parent: str
    author: str
    subject: str
    body: str
    files: tuple[ChangedFile, ...]


def list_first_parents(root: Path, limit: int, newest: str = "HEAD") -> list[str]:
    """List the newest commits along the main line, newest first."""
    return _run_git(root, "rev-list", "--first-parent", f"--max-count={limit}", newest).split()


def list_commits_between(root: Path, older: str, newer: str) -> list[GitCommit]:
    """List the commits of ``newer`` that are not in ``older``, without merges, newest first; paths below the root."""
    return _read_log(root, f"{older}..{newer}")


def list_newest_commits(root: Path, limit: int) -> list[GitCommit]:
    """List the newest commits, without merges, with what they changed."""
    return _read_log(root, f"--max-count={limit}")


def _read_log(root: Path, which: str) -> list[GitCommit]:
    output = _run_git(
        root, "log", "--no-merges", "--numstat", "-w", "--relative", *_PLAIN_DIFF, _FORMAT, which
    )
    return [_parse_commit(record) for record in output.split(_RECORD)[1:]]


def _parse_commit(record: str) -> GitCommit:
    sha, parents, author, subject, body, rest = record.split(_FIELD, 5)
    files = []
    for line in rest.splitlines():
        fields = line.split("\t")
        if len(fields) == 3 and fields[0].isdigit():  # "-" is a binary file
            files.append(ChangedFile(fields[2], int(fields[0]), int(fields[1])))
    return GitCommit(sha, parents.partition(" ")[0], author, subject.strip(), body.strip(), tuple(files))


def list_changed_lines(root: Path, commit: GitCommit, path: str) -> list[tuple[int, int]]:
    """List the line ranges of a file, as it was before a commit, that the commit changed or inserted after."""
    output = _run_git(root, "diff", "-U0", "-w", *_PLAIN_DIFF, commit.parent, commit.sha, "--", path)
    found = []
    for match in _HUNK.finditer(output):
        first, length = int(match[1]), int(match[2] or 1)
        found.append((max(1, first), max(1, first + max(length, 1) - 1)))
    return found


def read_file_at(root: Path, commit: str, path: str) -> bytes | None:
    """Read a file as it was in a commit; None if it was not there."""
    done = git.run(root, "cat-file", "blob", f"{commit}:./{path}", otherwise=_ADVICE)
    return done.stdout if done.returncode == 0 else None


def export(root: Path, commit: str, folder: Path, present: Mapping[str, bytes]) -> dict[str, bytes]:
    """Make a folder hold the files below the root as they were in a commit; return the blob of each.

    ``present`` is what an earlier export returned for the folder. Links and submodules are skipped.
    """
    listed = git.run(root, "ls-tree", "-r", "-z", commit, otherwise=_ADVICE)
    if listed.returncode:
        raise git.refusal_error(listed, _ADVICE)
    wanted = dict(entry for entry in map(_parse_tree_entry, listed.stdout.split(b"\0")) if entry)
    for path in present.keys() - wanted.keys():
        _join_path(folder, path).unlink(missing_ok=True)
    _write_blobs(root, folder, {path: blob for path, blob in wanted.items() if present.get(path) != blob})
    return wanted


def _write_blobs(root: Path, folder: Path, blobs: Mapping[str, bytes]) -> None:
    with subprocess.Popen(
        git.command("cat-file", "--batch"), cwd=root, stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as reader:
        assert reader.stdin and reader.stdout
        for path, blob in blobs.items():
            reader.stdin.write(blob + b"\n")
            reader.stdin.flush()
            header = reader.stdout.readline().split()
            data = reader.stdout.read(int(header[2]) + 1)[:-1]
            target = _join_path(folder, path)
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(data)
        reader.stdin.close()


def _join_path(folder: Path, path: str) -> Path:
    return folder.joinpath(*PurePosixPath(path).parts)


def _parse_tree_entry(line: bytes) -> tuple[str, bytes] | None:
    """Parse a line of ``ls-tree`` into path and blob; None if it is no file, or has a name that cannot be written."""
    about, tab, name = line.partition(b"\t")
    fields = about.split()
    if not tab or fields[0] not in _FILE_MODES:
        return None
    try:
        path = name.decode()
    except UnicodeDecodeError:
        return None
    unsafe = ".." in path.split("/") or path.startswith("/")
    unwritable = sys.platform == "win32" and _NOT_ON_WINDOWS.search(path)
    return None if unsafe or unwritable else (path, fields[2])


def _run_git(root: Path, *arguments: str) -> str:
    return git.run_text(root, *arguments, otherwise=_ADVICE)
