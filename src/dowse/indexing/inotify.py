"""File watching with Linux inotify: which paths may have changed, without a thread and without waiting.

The kernel queues an event within the call that makes a change, so that what is read here covers all that was done
before. In any doubt (queue overflow, a moved folder, a network file system) the answer is that anything may have
changed. Called through ``ctypes``: the packages for it start a process (``ldconfig``) when they are imported.
"""

from __future__ import annotations

import ctypes
import errno
import os
import struct
import sys
import weakref
from collections.abc import Callable, Iterator, Set
from functools import cache
from pathlib import Path

MAX_WATCHES = 16
"""Trees that one process watches at a time: a user may have 128 of these descriptors, for all programs."""

READ_BYTES = 65_536
"""Bytes read at once: a few thousand events."""

_MODIFY, _ATTRIB, _CLOSE_WRITE, _MOVED_FROM, _MOVED_TO = 0x2, 0x4, 0x8, 0x40, 0x80
_CREATE, _DELETE, _DELETE_SELF, _MOVE_SELF = 0x100, 0x200, 0x400, 0x800
_UNMOUNT, _OVERFLOW, _IGNORED = 0x2000, 0x4000, 0x8000
_ONLY_FOLDER, _NO_LINK, _NOT_UNLINKED, _IS_FOLDER = 0x0100_0000, 0x0200_0000, 0x0400_0000, 0x4000_0000

_ENTRY_EVENTS = _MODIFY | _ATTRIB | _CLOSE_WRITE | _MOVED_FROM | _MOVED_TO | _CREATE | _DELETE
_LOST_EVENTS = _DELETE_SELF | _MOVE_SELF | _UNMOUNT | _OVERFLOW | _IGNORED
_WATCH_MASK = _ENTRY_EVENTS | _DELETE_SELF | _MOVE_SELF | _ONLY_FOLDER | _NO_LINK | _NOT_UNLINKED

_MISSING_FOLDER_ERRORS = (errno.ENOENT, errno.ENOTDIR, errno.ELOOP)
_HEADER = struct.Struct("iIII")  # watch number, event mask, a number that pairs moves, bytes of the name
_STATFS_BYTES = 256  # more than the structure has anywhere

LOCAL_FILE_SYSTEMS = {
    "bcachefs": 0xCA451A4E,
    "btrfs": 0x9123683E,
    "ext4": 0xEF53,
    "f2fs": 0xF2F52010,
    "jfs": 0x3153464A,
    "overlayfs": 0x794C7630,
    "tmpfs": 0x01021994,
    "xfs": 0x58465342,
    "zfs": 0x2FC12FC1,
}
"""File systems that are only changed through this kernel, by their numbers in statfs(2)."""


class Unwatchable(OSError):
    """The tree cannot be watched: another operating system, a limit that is reached, or an unsuitable file system."""


class Watch:
    """The folders of a tree that are watched. Not for use in several threads at once."""

    _root: str
    _process: int
    _is_sure: bool
    _identity: tuple[int, int]
    _descriptor: int
    _close: Callable[[], object]

    def __init__(self, root: Path) -> None:
        if sys.platform != "linux":
            raise Unwatchable("there is no inotify on this system")
        if len(_open_watches) >= MAX_WATCHES:
            raise Unwatchable("this process watches enough trees")
        self._root = os.fspath(root)
        self._process = os.getpid()
        self._folders: dict[int, str] = {}  # by the kernel's number
        self._watched: set[str] = set()
        self._devices: set[int] = set()
        self._is_sure = True
        self._identity = self._root_identity()
        self._descriptor = _check_result(_libc().inotify_init1(os.O_NONBLOCK | os.O_CLOEXEC))
        self._close = weakref.finalize(self, os.close, self._descriptor)
        _open_watches.add(self)

    def close(self) -> None:
        """Stop watching."""
        self._is_sure = False
        _open_watches.discard(self)
        self._close()

    def lacks(self, folders: Set[str]) -> bool:
        """Return whether some folders are not watched."""
        return not folders <= self._watched

    def add(self, folders: Set[str]) -> None:
        """Watch more folders from now on, those of them that exist."""
        for folder in sorted(folders - self._watched):  # parents first, so that no move is missed
            try:
                self._add(folder)
            except OSError as error:
                if error.errno in _MISSING_FOLDER_ERRORS:
                    continue
                if error.errno != errno.EACCES:  # its parent reports new permissions
                    raise Unwatchable(*error.args) from error
            self._watched.add(folder)

    def _add(self, folder: str) -> None:
        path = f"{self._root}/{folder}" if folder else self._root
        device = os.stat(path).st_dev
        if device not in self._devices:
            _check_file_system(path)
            self._devices.add(device)
        # The root may be reached by a link; what is below it is not.
        mask = _WATCH_MASK if folder else _WATCH_MASK & ~_NO_LINK
        number = _check_result(_libc().inotify_add_watch(self._descriptor, os.fsencode(path), mask))
        if self._folders.setdefault(number, folder) != folder:
            raise Unwatchable(f"{folder} and {self._folders[number]} are the same folder")

    def drain_events(self) -> set[str] | None:
        """Return the paths that may have changed since the last call; None, from then on, if anything may have."""
        changed: set[str] = set()
        if self._is_sure:
            try:
                # A process that was forked shares the queue: what it read here would be missed there.
                self._is_sure = self._process == os.getpid() and self._root_identity() == self._identity
                for number, what, name in self._read_events():
                    changed.add(self._event_path(number, what, name))
            except OSError:
                self._is_sure = False
        return changed if self._is_sure else None

    def _read_events(self) -> Iterator[tuple[int, int, str]]:
        while self._is_sure:
            try:
                data = os.read(self._descriptor, READ_BYTES)
            except BlockingIOError:
                return
            at = 0
            while at < len(data):
                number, what, _, length = _HEADER.unpack_from(data, at)
                at += _HEADER.size + length
                yield number, what, os.fsdecode(data[at - length : at].rstrip(b"\0"))

    def _event_path(self, number: int, what: int, name: str) -> str:
        """Return the path of an event, relative to the root as in the index."""
        folder = self._folders.get(number)
        path = f"{folder}/{name}" if folder and name else folder or name
        if what & _LOST_EVENTS or folder is None or not name or (what & _IS_FOLDER and path in self._watched):
            self._is_sure = False
        return path

    def _root_identity(self) -> tuple[int, int]:
        try:
            status = os.stat(self._root)
        except OSError as error:
            raise Unwatchable(*error.args) from error
        return status.st_dev, status.st_ino


_open_watches: weakref.WeakSet[Watch] = weakref.WeakSet()


@cache
def _libc() -> ctypes.CDLL:
    return ctypes.CDLL(None, use_errno=True)


def _check_result(result: int) -> int:
    if result < 0:
        number = ctypes.get_errno()
        raise Unwatchable(number, os.strerror(number))
    return result


def _check_file_system(path: str) -> None:
    """Refuse a file system that may be changed without this kernel's knowledge."""
    buffer = ctypes.create_string_buffer(_STATFS_BYTES)
    _check_result(_libc().statfs(os.fsencode(path), buffer))
    (kind,) = struct.unpack_from("l", buffer)
    if kind & 0xFFFF_FFFF not in LOCAL_FILE_SYSTEMS.values():
        raise Unwatchable(f"{path} is on a file system of kind {kind:#x}, which others may change")
