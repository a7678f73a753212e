"""Process supervision: end a child process when its parent dies, and limit its CPU time, wall time and memory (rlimit).

A worker that waits for messages sees its pipe close; one that is stuck in a parser or a regular expression would go on
as an orphan. On Linux the kernel kills it (parent death signal), elsewhere a thread watches the parent. Needs little of
the standard library, so that a worker starts fast.
"""

from __future__ import annotations

import _thread
import ctypes
import faulthandler
import os
import signal
import sys
import time
from functools import cache
from typing import IO

_LOOK_SECONDS = 0.5
"""Between two looks at the parent: soon enough for people, and nothing to the processor."""

_SET_PARENT_DEATH_SIGNAL = 1  # PR_SET_PDEATHSIG


def end_with_parent(parent: int) -> None:
    """End this process as soon as the process of this id is no longer its parent."""
    if os.name != "posix":
        return  # the id of the parent stays the same there after its end
    _ask_kernel()
    _end_if_orphan(parent)  # it may have ended before the kernel was asked
    _thread.start_new_thread(_watch, (parent,))


def limit_cpu(seconds: float) -> None:
    """End this process when it has used this much more CPU time; a later call sets a new limit."""
    if sys.platform == "win32":
        return
    import resource

    _, hard = resource.getrlimit(resource.RLIMIT_CPU)
    end = int(time.process_time() + seconds) + 1  # the kernel counts whole seconds
    resource.setrlimit(resource.RLIMIT_CPU, (end if hard == resource.RLIM_INFINITY else min(end, hard), hard))


def limit_time(seconds: float) -> None:
    """End this process after this many seconds of wall time; a later call sets a new limit.

    A thread of C sees to it, which no grammar and no pattern can keep from running: where nothing else ends a helper
    whose parent was killed, as on Windows, this does.
    """
    faulthandler.dump_traceback_later(seconds, exit=True, file=_open_nowhere())


def lift_time_limit() -> None:
    """Let this process live on after ``limit_time``."""
    faulthandler.cancel_dump_traceback_later()


@cache
def _open_nowhere() -> IO[str]:
    """Open what the traceback is written to that nobody reads."""
    return open(os.devnull, "w", encoding="ascii")


def limit_memory(size: int) -> None:
    """Limit the memory that this process may take from now on; a later call sets a new limit. Only on Linux."""
    if sys.platform != "linux":
        return
    import resource

    with open("/proc/self/statm", encoding="ascii") as file:
        taken = int(file.read().split()[5]) * resource.getpagesize()
    _, hard = resource.getrlimit(resource.RLIMIT_DATA)
    end = taken + size
    resource.setrlimit(
        resource.RLIMIT_DATA, (end if hard == resource.RLIM_INFINITY else min(end, hard), hard)
    )


def leave_no_core() -> None:
    """Have this process end without a file of its memory in the working directory, which is somebody's tree."""
    if sys.platform == "win32":
        return
    import resource

    _, hard = resource.getrlimit(resource.RLIMIT_CORE)
    resource.setrlimit(resource.RLIMIT_CORE, (0, hard))


def _ask_kernel() -> None:
    if sys.platform != "linux":
        return
    try:
        ctypes.CDLL(None).prctl(_SET_PARENT_DEATH_SIGNAL, signal.SIGKILL)
    except (OSError, AttributeError):
        pass  # a C library without it: the thread looks after the parent


def _end_if_orphan(parent: int) -> None:
    if os.getppid() != parent:
        os._exit(1)


def _watch(parent: int) -> None:
    while True:
        time.sleep(_LOOK_SECONDS)
        _end_if_orphan(parent)
