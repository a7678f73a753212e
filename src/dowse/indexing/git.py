"""What git says about a tree, read from its own files: no process is started for an answer.

Not a git of our own: only the commit that is checked out, and which of some files differ from what git has
in its index.
"""

from __future__ import annotations

import hashlib
import os
import struct
from collections.abc import Iterable, Mapping
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

from dowse.types import Revision

LARGEST = 2_000_000
"""Bytes of a file that are hashed to see whether only its time stamp changed."""

_ENTRY = struct.Struct(">10I20sH")
_EXTENDED = 0x4000
_NAME_LENGTH = 0x0FFF


class _Tracked(NamedTuple):
    """A file as git's index has it."""

    mtime_ns: int
    size: int
    blob: bytes


def revision(root: Path, paths: Iterable[str] = ()) -> Revision | None:
    """The commit of a work tree, and which of these files are not as git has them; None without git."""
    folder = git_folder(root)
    if folder is None:
        return None
    branch, commit = _head(folder)
    prefix = _prefix(root, folder)
    tracked = _tracked(folder) if prefix is not None else {}
    dirty = [path for path in sorted(set(paths)) if _is_dirty(root, path, tracked.get(f"{prefix}{path}"))]
    return Revision(commit, branch, tuple(dirty))


def git_folder(root: Path) -> Path | None:
    """The folder with git's own files of the work tree around a root."""
    for folder in (root, *root.parents):
        mark = folder / ".git"
        if mark.is_dir():
            return mark
        if mark.is_file():
            try:
                target = mark.read_text(encoding="utf-8").removeprefix("gitdir:").strip()
            except (OSError, UnicodeDecodeError):
                return None
            return (folder / target).resolve()
    return None


def hooks_folder(root: Path) -> Path | None:
    """Where the hooks of the repository are, unless its configuration names another place."""
    folder = git_folder(root)
    return _common(folder) / "hooks" if folder else None


def _common(folder: Path) -> Path:
    """What all work trees of a repository share."""
    try:
        return (folder / (folder / "commondir").read_text(encoding="utf-8").strip()).resolve()
    except (OSError, UnicodeDecodeError):
        return folder


def _head(folder: Path) -> tuple[str, str]:
    """Branch and commit that are checked out; empty where there is none."""
    head = _line(folder / "HEAD")
    if not head.startswith("ref: "):
        return "", head
    name = head.removeprefix("ref: ")
    return name.removeprefix("refs/heads/"), _commit(_common(folder), name)


def _commit(common: Path, name: str) -> str:
    if loose := _line(common / name):
        return loose
    try:
        packed = (common / "packed-refs").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""
    return next((line[: -len(name)].strip() for line in packed.splitlines() if line.endswith(f" {name}")), "")


def _line(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8", errors="replace").strip()
    except OSError:
        return ""


def _prefix(root: Path, folder: Path) -> str | None:
    """The root's place in its work tree, as git's index has paths; None where that is not known."""
    for tree in (root, *root.parents):
        if (tree / ".git").exists():
            inside = root.relative_to(tree).as_posix()
            return "" if inside == "." else f"{inside}/"
    return None


def _is_dirty(root: Path, path: str, tracked: _Tracked | None) -> bool:
    if tracked is None:
        return True
    try:
        status = os.lstat(root / path)
        if status.st_size != tracked.size & 0xFFFFFFFF and tracked.size:
            return True
        if status.st_mtime_ns == tracked.mtime_ns:
            return False
        if status.st_size > LARGEST:
            return True
        content = (root / path).read_bytes()
    except OSError:
        return True
    return hashlib.sha1(b"blob %d\0" % len(content) + content, usedforsecurity=False).digest() != tracked.blob


def _tracked(folder: Path) -> Mapping[str, _Tracked]:
    path = folder / "index"
    try:
        status = path.stat()
    except OSError:
        return {}
    return _parsed_index(str(path), status.st_mtime_ns, status.st_size)


@lru_cache(maxsize=8)
def _parsed_index(path: str, mtime_ns: int, size: int) -> Mapping[str, _Tracked]:
    """The entries of a git index file (versions 2 to 4); nothing if it is none, or of another kind."""
    try:
        data = Path(path).read_bytes()
        signature, version, count = struct.unpack_from(">4sII", data)
        if signature != b"DIRC" or version not in (2, 3, 4):
            return {}
        return _entries(data, version, count)
    except (OSError, struct.error, ValueError):
        return {}


def _entries(data: bytes, version: int, count: int) -> dict[str, _Tracked]:
    found: dict[str, _Tracked] = {}
    at, name = 12, b""
    for _ in range(count):
        fields = _ENTRY.unpack_from(data, at)
        start = at + _ENTRY.size + (2 if fields[11] & _EXTENDED else 0)
        if version == 4:
            strip, start = _varint(data, start)
            end = data.index(b"\0", start)
            name = name[: len(name) - strip] + data[start:end]
            at = end + 1
        else:
            end = data.index(b"\0", start)
            name = data[start:end]
            at += (end - at + 8) // 8 * 8  # entries are padded with one to eight zeros
        mtime_ns = fields[2] * 1_000_000_000 + fields[3]
        found[name.decode("utf-8", "surrogateescape")] = _Tracked(mtime_ns, fields[9], fields[10])
    return found


def _varint(data: bytes, at: int) -> tuple[int, int]:
    """A number in git's offset encoding, and where it ends."""
    byte = data[at]
    value, at = byte & 0x7F, at + 1
    while byte & 0x80:
        byte = data[at]
        value, at = ((value + 1) << 7) | (byte & 0x7F), at + 1
    return value, at
