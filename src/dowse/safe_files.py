"""Safe file access for untrusted trees: open regular files only, without following symbolic links, up to a size limit.

A tree from an archive may hold a named pipe without a writer, a device, a link to the user's own files, or gigabytes.
To avoid a race between check and use (TOCTOU), a file is opened first (no-follow, non-blocking) and then checked.
"""

from __future__ import annotations

import errno
import os
import stat
from pathlib import Path

# Flags that a system lacks are 0.
_NO_FOLLOW = getattr(os, "O_NOFOLLOW", 0)
_SAFE_FLAGS = (
    _NO_FOLLOW
    | getattr(os, "O_NONBLOCK", 0)
    | getattr(os, "O_NOCTTY", 0)
    | getattr(os, "O_CLOEXEC", 0)
    | getattr(os, "O_BINARY", 0)
)

_LINK_ERRORS = (errno.ELOOP, errno.EMLINK)
"""What opening a link with O_NOFOLLOW fails with: ELOOP, on some BSDs EMLINK."""

_READ_BYTES = 1_000_000
"""Bytes asked for at a time: memory for all of them is taken before the first is there."""


class UnsafeFile(OSError):
    """Something at a path is not opened or not read, and why; an OSError, for callers who need no difference."""


class LinkRefused(UnsafeFile):
    """A path is a symbolic link, or leads out of the folder it must stay in."""


class NotRegular(UnsafeFile):
    """A path is a folder, a pipe, a socket or a device."""


class TooLarge(UnsafeFile):
    """A file has more bytes than its reader wants."""


def is_utf8(name: str) -> bool:
    """Return whether a name is valid UTF-8: others have lone surrogates, which cannot be stored or printed."""
    if name.isascii():
        return True
    try:
        name.encode()
    except UnicodeEncodeError:
        return False
    return True


def open_regular(path: str | Path, flags: int = os.O_RDONLY, mode: int = 0o666) -> int:
    """Open a regular file that is not a link, and return its descriptor; ``mode`` is for one that is made.

    Raise ``UnsafeFile`` for anything else, and what the system raises for a file that cannot be opened.
    """
    try:
        if not _NO_FOLLOW and os.path.islink(path):
            raise LinkRefused("a link")
        descriptor = os.open(path, flags | _SAFE_FLAGS, mode)
    except ValueError as error:  # a NUL in the path
        raise UnsafeFile(str(error)) from error
    except OSError as error:
        if error.errno in _LINK_ERRORS and os.path.islink(path):
            raise LinkRefused("a link") from error
        raise
    try:
        kind = os.fstat(descriptor).st_mode
        if not stat.S_ISREG(kind):
            raise NotRegular(describe_kind(kind))
    except BaseException:
        os.close(descriptor)
        raise
    return descriptor


def read_regular(path: str | Path, max_bytes: int) -> bytes:
    """Read a whole regular file that is not a link; raise ``UnsafeFile`` if it is none, or has more bytes."""
    descriptor = open_regular(path)
    try:
        return read_descriptor(descriptor, max_bytes)
    finally:
        os.close(descriptor)


def write_regular(path: str | Path, data: bytes, mode: int = 0o666) -> None:
    """Write a whole file, made if there is none; raise ``UnsafeFile`` for a link or what is no regular file."""
    with os.fdopen(open_regular(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, mode), "wb") as file:
        file.write(data)


def read_inside(root: Path, name: str, max_bytes: int) -> bytes:
    """Read a file of a tree; a link is followed as long as it stays in the tree."""
    path = root / name
    if not os.path.islink(path):
        return read_regular(path, max_bytes)
    try:
        target = path.resolve(strict=True)
    except RuntimeError as error:  # Python before 3.13, of links in a circle
        raise LinkRefused("a link that leads nowhere") from error
    if not target.is_relative_to(root.resolve()):
        raise LinkRefused("a link that leads out of the tree")
    return read_regular(target, max_bytes)


def read_descriptor(descriptor: int, max_bytes: int) -> bytes:
    """Read an open file to its end; raise ``TooLarge`` if it has more bytes, before they are read."""
    size = os.fstat(descriptor).st_size
    pieces: list[bytes] = []
    length = 0
    while size <= max_bytes and (piece := os.read(descriptor, min(size - length + 1, _READ_BYTES))):
        pieces.append(piece)
        length += len(piece)
        size = max(size, length)  # it may grow while it is read, and files of /proc say that they are empty
    if size > max_bytes:
        raise TooLarge(describe_excess(size, max_bytes))
    return b"".join(pieces)


def describe_kind(mode: int) -> str:
    """Name what a file that is not a regular one is, for a message."""
    names = {stat.S_IFIFO: "a pipe", stat.S_IFSOCK: "a socket", stat.S_IFDIR: "a folder"}
    return names.get(stat.S_IFMT(mode), "a device")


def describe_excess(size: int, limit: int) -> str:
    """Say by how much a file is over the limit, for a message."""
    return f"{size:,} bytes, the limit is {limit:,}"
