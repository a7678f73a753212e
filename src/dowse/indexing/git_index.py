"""What git says about a tree, read from its own files: no process is started for an answer.

Not a git of our own: only the commit that is checked out, and which of some files differ from what git has
in its index.
"""

from __future__ import annotations

import hashlib
import os
import re
import struct
import threading
from bisect import bisect_left
from collections.abc import Iterable
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Any, NamedTuple

from dowse.indexing.tree_diff import settled_time
from dowse.safe_files import read_regular
from dowse.types import Revision

LARGEST = 2_000_000
"""Bytes of a file that are hashed to see whether only its time stamp changed."""

MAX_NAME_BYTES = 65_536
"""Of a path in the index: names of version 4 share their beginnings, so that a few bytes could make very long ones."""

MAX_VARINT_BYTES = 10

MAX_FILE_BYTES = 500_000_000
"""Of a file of git's: the index of a million files has a hundred million."""

_COMMIT = re.compile(r"[0-9a-f]{40}(?:[0-9a-f]{24})?")
_HEADER = 12
_ENTRY = struct.Struct(">10I20sH")
_EXTENDED = 0x4000
_NAME_LENGTH = 0x0FFF
_FILE_TYPES = (0b1000, 0b1010, 0b1110)  # regular file, symbolic link, submodule


class _Tracked(NamedTuple):
    """A file as git's index has it."""

    mtime_ns: int
    size: int
    blob: bytes


def revision(root: Path, paths: Iterable[str] = ()) -> Revision | None:
    """The commit of a work tree, and which of these files are not as git has them; None without git."""
    tree = _work_tree(root)
    folder = _folder_of(tree) if tree else None
    if tree is None or folder is None:
        return None
    branch, commit = _head(folder)
    base, prefix = f"{root}/", _prefix(root, tree)
    index = _index(folder)
    dirty = [
        path
        for path in sorted(set(paths))
        if _is_dirty(base + path, index.entry(prefix + path) if index else None)
    ]
    return Revision(commit, branch, tuple(dirty))


@lru_cache(maxsize=64)
def _prefix(root: Path, tree: str) -> str:
    """What the paths of a root begin with in the work tree around it."""
    inside = root.relative_to(tree).as_posix()
    return "" if inside == "." else f"{inside}/"


def _work_tree(root: Path) -> str | None:
    """The folder around a root that git knows as a work tree."""
    if os.path.exists(f"{root}/.git"):
        return str(root)
    return next((str(folder) for folder in root.parents if os.path.exists(folder / ".git")), None)


def _folder_of(tree: str) -> str | None:
    """The folder with git's own files of a work tree."""
    mark = f"{tree}/.git"
    if os.path.isdir(mark):
        return mark
    try:
        target = _said_in(mark).removeprefix("gitdir:").strip()
        return os.path.realpath(os.path.join(tree, target))
    except (OSError, ValueError):  # a NUL in the path
        return None


def hooks_folder(root: Path) -> Path | None:
    """Where the hooks of the repository are, unless its configuration names another place."""
    tree = _work_tree(root)
    folder = _folder_of(tree) if tree else None
    return Path(_common(folder), "hooks") if folder else None


@lru_cache(maxsize=64)
def _common(folder: str) -> str:
    """What all work trees of a repository share."""
    try:
        return os.path.realpath(os.path.join(folder, _said_in(f"{folder}/commondir")))
    except (OSError, ValueError):
        return folder


def _head(folder: str) -> tuple[str, str]:
    """Branch and commit that are checked out; empty where there is none."""
    head = _remembered(f"{folder}/HEAD")
    if not head.startswith("ref: "):
        return "", head if _COMMIT.fullmatch(head) else ""
    name = head.removeprefix("ref: ")
    if not name.startswith("refs/") or ".." in name:
        return "", ""  # git allows no such name: it would be a file of the user's own
    common = _common(folder)
    commit = _remembered(f"{common}/{name}") or _remembered(f"{common}/packed-refs", name)
    return name.removeprefix("refs/heads/"), commit if _COMMIT.fullmatch(commit) else ""


def _remembered(path: str, name: str = "") -> str:
    """As ``_said_in``; remembered, since every answer asks, once nothing more can happen under the file's time."""
    try:
        status = os.stat(path)
        if settled_time(status.st_mtime_ns) < 0:
            return _said_in(path, name)
        return _settled(path, name, status.st_ino, status.st_mtime_ns, status.st_size)
    except (OSError, ValueError):
        return ""


@lru_cache(maxsize=64)
def _settled(path: str, name: str, inode: int, mtime_ns: int, size: int) -> str:
    return _said_in(path, name)


def _said_in(path: str, name: str = "") -> str:
    """What a file of git's says; or, of a file with a line for each name, what stands before this one."""
    text = _read(path).decode("utf-8", "replace").strip()
    if not name:
        return text
    return next((line[: -len(name)].strip() for line in text.splitlines() if line.endswith(f" {name}")), "")


def _read(path: str) -> bytes:
    """Read a file of git's; it may be a link, but no pipe that nobody writes to."""
    return read_regular(os.path.realpath(path), MAX_FILE_BYTES)


def _is_dirty(path: str, tracked: _Tracked | None) -> bool:
    if tracked is None:
        return True
    try:
        status = os.lstat(path)
        if status.st_size != tracked.size & 0xFFFFFFFF and tracked.size:
            return True
        if status.st_mtime_ns == tracked.mtime_ns:
            return False
        if status.st_size > LARGEST:
            return True
        content = read_regular(path, LARGEST)
    except OSError:
        return True
    return hashlib.sha1(b"blob %d\0" % len(content) + content, usedforsecurity=False).digest() != tracked.blob


def _index(folder: str) -> _Index | None:
    """The index of a work tree; nothing if there is none, or one of another kind."""
    path = f"{folder}/index"
    try:
        status = os.stat(path)
        return _read_index(path, status.st_mtime_ns, status.st_size)
    except (OSError, struct.error, ValueError):
        return None


@lru_cache(maxsize=8)
def _read_index(path: str, mtime_ns: int, size: int) -> _Index:
    return _Index(_read(path))


class _Index:
    """A git index file (versions 2 to 4).

    An answer asks for a few of its thousands of entries: they are looked for in the bytes, which takes a hundredth
    of the time of reading all, and between those that were found before, since entries are in the order of their
    names. Version 4 cannot be searched: names in it are what differs from the one before.
    """

    def __init__(self, data: bytes) -> None:
        signature, self._version, self._count = struct.unpack_from(">4sII", data)
        if signature != b"DIRC" or self._version not in (2, 3, 4):
            raise ValueError("not an index of git, or a newer one")
        self._data = data
        self._known: dict[str, _Tracked | None] = {}
        self._names: list[bytes] = []  # those that were found, in order, and where each is
        self._starts: list[int] = []
        self._guard = threading.Lock()

    def entry(self, path: str) -> _Tracked | None:
        """What the index has of a path."""
        if self._version == 4:
            return self._all.get(path)
        with self._guard:
            if path not in self._known:
                self._known[path] = self._found(path.encode("utf-8", "surrogateescape"))
            return self._known[path]

    def _found(self, name: bytes) -> _Tracked | None:
        position = bisect_left(self._names, name)
        low = self._starts[position - 1] if position else _HEADER
        high = self._starts[position] if position < len(self._starts) else len(self._data)
        while (at := self._data.find(name + b"\0", low, high)) >= 0:
            for start in (at - _ENTRY.size, at - _ENTRY.size - 2):
                if (found := self._entry_at(start, at, len(name))) is not None:
                    self._names.insert(position, name)
                    self._starts.insert(position, at)
                    return found
            low = at + 1
        return None

    def _entry_at(self, start: int, name: int, length: int) -> _Tracked | None:
        """The entry that begins here, if it is one whose name begins there and is so long."""
        if start < _HEADER or (start - _HEADER) % 8:  # entries are padded to eight bytes
            return None
        fields = _ENTRY.unpack_from(self._data, start)
        extended = 2 if fields[11] & _EXTENDED else 0
        whole = name == start + _ENTRY.size + extended and fields[11] & _NAME_LENGTH == min(
            length, _NAME_LENGTH
        )
        return _tracked(fields) if whole and fields[6] >> 12 in _FILE_TYPES else None

    @cached_property
    def _all(self) -> dict[str, _Tracked]:
        try:
            return _entries(self._data, self._count)
        except (struct.error, ValueError, IndexError):
            return {}


def _tracked(fields: tuple[Any, ...]) -> _Tracked:
    return _Tracked(fields[2] * 1_000_000_000 + fields[3], fields[9], fields[10])


def _entries(data: bytes, count: int) -> dict[str, _Tracked]:
    """All entries of a file of version 4."""
    found: dict[str, _Tracked] = {}
    at, name = _HEADER, b""
    for _ in range(count):
        fields = _ENTRY.unpack_from(data, at)
        strip, start = _varint(data, at + _ENTRY.size + (2 if fields[11] & _EXTENDED else 0))
        end = data.index(b"\0", start)
        name = name[: max(0, len(name) - strip)] + data[start:end]
        if len(name) > MAX_NAME_BYTES:
            raise ValueError("a name is too long")
        at = end + 1
        found[name.decode("utf-8", "surrogateescape")] = _tracked(fields)
    return found


def _varint(data: bytes, at: int) -> tuple[int, int]:
    """A number in git's offset encoding, and where it ends."""
    byte = data[at]
    value, at = byte & 0x7F, at + 1
    end = at + MAX_VARINT_BYTES
    while byte & 0x80:
        if at > end:
            raise ValueError("a number is too long")
        byte = data[at]
        value, at = ((value + 1) << 7) | (byte & 0x7F), at + 1
    return value, at
