"""Git index reader: the checked-out commit and dirty files of a work tree, from git's own files, without running git.

Parses ``.git/index`` (versions 2 to 4), ``HEAD``, refs and packed refs. Knows no history and no objects.
"""

from __future__ import annotations

import hashlib
import os
import struct
import threading
from bisect import bisect_left
from collections.abc import Iterable
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Any, NamedTuple

from dowse.indexing.stamps import is_settled
from dowse.lazy_regex import compile_lazily
from dowse.safe_files import read_regular
from dowse.types.discovered import Revision

MAX_HASHED_BYTES = 2_000_000
"""Larger files are not hashed to see whether only their time stamp changed."""

MAX_NAME_BYTES = 65_536
"""Longest path in an index: names of version 4 share prefixes, so that a few bytes could make very long ones."""

MAX_VARINT_BYTES = 10

MAX_FILE_BYTES = 500_000_000
"""Of a file of git's: the index of a million files has a hundred million."""

_COMMIT = compile_lazily(r"[0-9a-f]{40}(?:[0-9a-f]{24})?")
_HEADER_BYTES = 12
_ENTRY = struct.Struct(">10I20sH")
_EXTENDED_FLAG = 0x4000
_NAME_LENGTH_MASK = 0x0FFF
_FILE_TYPES = (0b1000, 0b1010, 0b1110)  # regular file, symbolic link, submodule


class _IndexEntry(NamedTuple):
    """A file as git's index has it."""

    mtime_ns: int
    size: int
    blob: bytes


def read_revision(root: Path, paths: Iterable[str] = ()) -> Revision | None:
    """Read the commit of a work tree, and which of these files are dirty; None without git."""
    tree = _find_work_tree(root)
    folder = _find_git_folder(tree) if tree else None
    if tree is None or folder is None:
        return None
    branch, commit = _read_head(folder)
    base, prefix = f"{root}/", _path_prefix(root, tree)
    index = _open_index(folder)
    dirty = [
        path
        for path in sorted(set(paths))
        if _is_dirty(base + path, index.find(prefix + path) if index else None)
    ]
    return Revision(commit, branch, tuple(dirty))


def read_head(root: Path) -> str:
    """Read the commit that is checked out around a root; empty without git, or before the first commit."""
    tree = _find_work_tree(root)
    folder = _find_git_folder(tree) if tree else None
    return _read_head(folder)[1] if folder is not None else ""


@lru_cache(maxsize=64)
def _path_prefix(root: Path, tree: str) -> str:
    """Return what the paths of a root begin with in the work tree around it."""
    inside = root.relative_to(tree).as_posix()
    return "" if inside == "." else f"{inside}/"


def _find_work_tree(root: Path) -> str | None:
    """Find the work tree of git that a root is in."""
    if os.path.exists(f"{root}/.git"):
        return str(root)
    return next((str(folder) for folder in root.parents if os.path.exists(folder / ".git")), None)


def _find_git_folder(tree: str) -> str | None:
    """Find the folder with git's own files of a work tree."""
    mark = f"{tree}/.git"
    if os.path.isdir(mark):
        return mark
    try:
        target = _read_line(mark).removeprefix("gitdir:").strip()
        return os.path.realpath(os.path.join(tree, target))
    except (OSError, ValueError):  # a NUL in the path
        return None


def find_hooks_folder(root: Path) -> Path | None:
    """Find the hooks of the repository, unless its configuration names another place."""
    tree = _find_work_tree(root)
    folder = _find_git_folder(tree) if tree else None
    return Path(_find_common_folder(folder), "hooks") if folder else None


@lru_cache(maxsize=64)
def _find_common_folder(folder: str) -> str:
    """Find the folder that all work trees of a repository share."""
    try:
        return os.path.realpath(os.path.join(folder, _read_line(f"{folder}/commondir")))
    except (OSError, ValueError):
        return folder


def _read_head(folder: str) -> tuple[str, str]:
    """Read the branch and commit that are checked out; empty where there is none."""
    head = _read_cached(f"{folder}/HEAD")
    if not head.startswith("ref: "):
        return "", head if _COMMIT.fullmatch(head) else ""
    name = head.removeprefix("ref: ")
    if not name.startswith("refs/") or ".." in name:
        return "", ""  # git allows no such name: it would be a file of the user's own
    common = _find_common_folder(folder)
    commit = _read_cached(f"{common}/{name}") or _read_cached(f"{common}/packed-refs", name)
    return name.removeprefix("refs/heads/"), commit if _COMMIT.fullmatch(commit) else ""


def _read_cached(path: str, name: str = "") -> str:
    """Read a line as ``_read_line`` does, from a cache once the file cannot change again under its time stamp."""
    try:
        status = os.stat(path)
        if not is_settled(status.st_mtime_ns):
            return _read_line(path, name)
        return _read_unchanged(path, name, status.st_ino, status.st_mtime_ns, status.st_size)
    except (OSError, ValueError):
        return ""


@lru_cache(maxsize=64)
def _read_unchanged(path: str, name: str, inode: int, mtime_ns: int, size: int) -> str:
    return _read_line(path, name)


def _read_line(path: str, name: str = "") -> str:
    """Read a file of git's; of one with a line for each name, what stands before this name."""
    text = _read(path).decode("utf-8", "replace").strip()
    if not name:
        return text
    return next((line[: -len(name)].strip() for line in text.splitlines() if line.endswith(f" {name}")), "")


def _read(path: str) -> bytes:
    """Read a file of git's; it may be a link, but no pipe that nobody writes to."""
    return read_regular(os.path.realpath(path), MAX_FILE_BYTES)


def _is_dirty(path: str, tracked: _IndexEntry | None) -> bool:
    if tracked is None:
        return True
    try:
        status = os.lstat(path)
        if status.st_size != tracked.size & 0xFFFFFFFF and tracked.size:
            return True
        if status.st_mtime_ns == tracked.mtime_ns:
            return False
        if status.st_size > MAX_HASHED_BYTES:
            return True
        content = read_regular(path, MAX_HASHED_BYTES)
    except OSError:
        return True
    return hashlib.sha1(b"blob %d\0" % len(content) + content, usedforsecurity=False).digest() != tracked.blob


def _open_index(folder: str) -> _GitIndex | None:
    """Open the index of a work tree; None if there is none, or one of another format."""
    path = f"{folder}/index"
    try:
        status = os.stat(path)
        return _read_index(path, status.st_mtime_ns, status.st_size)
    except (OSError, struct.error, ValueError):
        return None


@lru_cache(maxsize=8)
def _read_index(path: str, mtime_ns: int, size: int) -> _GitIndex:
    return _GitIndex(_read(path))


class _GitIndex:
    """A git index file (versions 2 to 4).

    A search needs a few of its thousands of entries: they are looked for in the bytes, which takes a hundredth of the
    time of reading all, and between those that were found before, since entries are sorted by name. Version 4 cannot
    be searched: each name is stored as its difference from the one before.
    """

    def __init__(self, data: bytes) -> None:
        signature, self._version, self._count = struct.unpack_from(">4sII", data)
        if signature != b"DIRC" or self._version not in (2, 3, 4):
            raise ValueError("not an index of git, or a newer one")
        self._data = data
        self._known: dict[str, _IndexEntry | None] = {}
        self._names: list[bytes] = []  # those that were found, in order, and where each is
        self._starts: list[int] = []
        self._lock = threading.Lock()

    def find(self, path: str) -> _IndexEntry | None:
        """Look up the entry of a path."""
        if self._version == 4:
            return self._all_entries.get(path)
        with self._lock:
            if path not in self._known:
                self._known[path] = self._search(path.encode("utf-8", "surrogateescape"))
            return self._known[path]

    def _search(self, name: bytes) -> _IndexEntry | None:
        position = bisect_left(self._names, name)
        low = self._starts[position - 1] if position else _HEADER_BYTES
        high = self._starts[position] if position < len(self._starts) else len(self._data)
        while (at := self._data.find(name + b"\0", low, high)) >= 0:
            for start in (at - _ENTRY.size, at - _ENTRY.size - 2):
                if (found := self._read_entry(start, at, len(name))) is not None:
                    self._names.insert(position, name)
                    self._starts.insert(position, at)
                    return found
            low = at + 1
        return None

    def _read_entry(self, start: int, name: int, length: int) -> _IndexEntry | None:
        """Read the entry that begins at ``start``, if it is one whose name begins at ``name`` and is so long."""
        if start < _HEADER_BYTES or (start - _HEADER_BYTES) % 8:  # entries are padded to eight bytes
            return None
        fields = _ENTRY.unpack_from(self._data, start)
        extended = 2 if fields[11] & _EXTENDED_FLAG else 0
        is_whole = name == start + _ENTRY.size + extended and fields[11] & _NAME_LENGTH_MASK == min(
            length, _NAME_LENGTH_MASK
        )
        return _make_entry(fields) if is_whole and fields[6] >> 12 in _FILE_TYPES else None

    @cached_property
    def _all_entries(self) -> dict[str, _IndexEntry]:
        try:
            return _read_entries(self._data, self._count)
        except (struct.error, ValueError, IndexError):
            return {}


def _make_entry(fields: tuple[Any, ...]) -> _IndexEntry:
    return _IndexEntry(fields[2] * 1_000_000_000 + fields[3], fields[9], fields[10])


def _read_entries(data: bytes, count: int) -> dict[str, _IndexEntry]:
    """Read all entries of a file of version 4."""
    found: dict[str, _IndexEntry] = {}
    at, name = _HEADER_BYTES, b""
    for _ in range(count):
        fields = _ENTRY.unpack_from(data, at)
        strip, start = _read_varint(data, at + _ENTRY.size + (2 if fields[11] & _EXTENDED_FLAG else 0))
        end = data.index(b"\0", start)
        name = name[: max(0, len(name) - strip)] + data[start:end]
        if len(name) > MAX_NAME_BYTES:
            raise ValueError("a name is too long")
        at = end + 1
        found[name.decode("utf-8", "surrogateescape")] = _make_entry(fields)
    return found


def _read_varint(data: bytes, at: int) -> tuple[int, int]:
    """Read a number in git's offset encoding; return also where it ends."""
    byte = data[at]
    value, at = byte & 0x7F, at + 1
    end = at + MAX_VARINT_BYTES
    while byte & 0x80:
        if at > end:
            raise ValueError("a number is too long")
        byte = data[at]
        value, at = ((value + 1) << 7) | (byte & 0x7F), at + 1
    return value, at
