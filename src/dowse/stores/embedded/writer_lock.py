"""File lock of the one writer (mutual exclusion between processes) of an embedded index, with the pid of its holder."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from dowse.errors import IndexLocked, IndexUnwritable
from dowse.stores.embedded.layout import HOLDER, LOCK_FILE


@contextmanager
def hold(data: Path, name: Path) -> Iterator[None]:
    """Hold the file lock in a data folder; raise ``IndexLocked`` if another process has it. Messages say the name."""
    from filelock import FileLock, Timeout

    lock = FileLock(data / LOCK_FILE, timeout=0)
    try:
        lock.acquire()
    except Timeout:
        raise IndexLocked(
            f"another process{_describe_holder(data)} is writing the index at {name}: "
            "wait for it to finish, or stop it"
        ) from None
    except OSError as error:
        raise IndexUnwritable(f"the index at {name} cannot be locked: {error}") from error
    try:
        yield
    finally:
        lock.release()


def write_holder(data: Path, name: Path) -> None:
    """Write down that this process holds the lock."""
    try:
        (data / HOLDER).write_text(str(os.getpid()), encoding="utf-8")
    except OSError as error:
        raise IndexUnwritable.because(f"the index at {name}", error) from error


def _describe_holder(data: Path) -> str:
    try:
        return f" (pid {(data / HOLDER).read_text(encoding='utf-8').strip()})"
    except OSError:
        return ""
