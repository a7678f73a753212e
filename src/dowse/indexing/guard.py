"""Sandboxed worker process for parsing: CPU time and memory limits (rlimit), timeouts, crash detection.

A grammar or regular expression that is stuck cannot be stopped from within. The kernel ends the process when its CPU
time or memory is used up; its parent does so where there is no such limit, or where it just waits.
"""

from __future__ import annotations

import os
import pickle
import signal
import subprocess
import sys
import threading
from collections.abc import Sequence
from typing import IO, Any

from dowse import lifeline
from dowse.errors import DowseError
from dowse.indexing.analyze_file import AnalyzedFile, ParserConfig, PendingFile

CPU_SECONDS = 2.0
CPU_SECONDS_PER_MB = 3.0
"""CPU time that a file may take, many times what code takes. The parser stops before that by itself."""

GROUP_CPU_SECONDS = 1.0
GROUP_CPU_SECONDS_PER_MB = 2.0
"""CPU time that files may take together. If it is not enough, each is tried alone: the one to blame costs both."""

MEMORY_BYTES = 240_000_000
"""Memory that files may take beyond what the process had before; code takes less than 100 MB per megabyte."""

WALL_FACTOR = 15
"""The same in time by the clock: a machine may have more to do."""

_WORKER_ENDED_MESSAGE = "a worker process ended unexpectedly: try again with 'workers = 1' in dowse.toml"

CRASH_CODES = tuple(
    -getattr(signal, name) for name in ("SIGSEGV", "SIGABRT", "SIGBUS", "SIGILL") if hasattr(signal, name)
)
"""How a worker ends when a grammar crashes; one that was killed, or could not start, says nothing of its files."""

_CPU_LIMIT_CODE = -getattr(signal, "SIGXCPU", 0)

OUT_OF_MEMORY = 77
"""What a worker exits with that notices itself that its memory is used up."""


class Crashed(Exception):
    """A worker ended as one does that a grammar crashes."""


class OverBudget(Exception):
    """A worker ended because its files took too much time or memory."""


class Worker:
    """A worker process that analyzes groups of files sent over a pipe; not usable any more after an error."""

    def __init__(self, how: ParserConfig) -> None:
        self._process = subprocess.Popen(
            # -P: what lies in the working directory, a user's own pickle.py say, must not be imported
            [sys.executable, "-P", "-m", "dowse.indexing.workers", str(os.getpid())],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            # Ctrl-C is for the parent, which ends its workers
            start_new_session=True,
            creationflags=getattr(subprocess, "CREATE_NEW_PROCESS_GROUP", 0),
        )
        self._is_late = False
        self._untold: ParserConfig | None = how

    def analyze(self, group: Sequence[PendingFile]) -> list[AnalyzedFile]:
        """Have a group of files analyzed; raise an error if the worker crashes or takes too long."""
        clock = threading.Timer(WALL_FACTOR * cpu_seconds_for(group), self._end_late)
        clock.daemon = True
        clock.start()
        try:
            if self._untold:
                self._send(self._untold)
                self._untold = None
            self._send(group)
            assert self._process.stdout
            answer: list[AnalyzedFile] | None = receive(self._process.stdout)
            if answer is None:
                raise self._make_error()
            return answer
        finally:
            clock.cancel()

    def kill(self) -> None:
        """End the process at once."""
        self._process.kill()

    def close(self) -> None:
        """Wait for the process to be gone, after it was killed."""
        self._process.communicate()

    def _end_late(self) -> None:
        self._is_late = True
        self._process.kill()

    def _send(self, value: object) -> None:
        assert self._process.stdin
        try:
            send(self._process.stdin, value)
        except OSError as error:
            raise self._make_error() from error

    def _make_error(self) -> Exception:
        """Tell from how the process ended what that means."""
        code = self._process.wait()
        if self._is_late or code == OUT_OF_MEMORY or (code < 0 and code == _CPU_LIMIT_CODE):
            return OverBudget()
        return Crashed() if code in CRASH_CODES else DowseError(_WORKER_ENDED_MESSAGE)


def cpu_seconds_for(group: Sequence[PendingFile]) -> float:
    """Say how much CPU time files may take."""
    megabytes = sum(len(task.content) for task in group) / 1e6
    if len(group) == 1:
        return CPU_SECONDS + CPU_SECONDS_PER_MB * megabytes
    return GROUP_CPU_SECONDS + GROUP_CPU_SECONDS_PER_MB * megabytes


def limit(group: Sequence[PendingFile]) -> None:
    """Let this process, which is a worker, take no more for some files than they may take."""
    seconds = cpu_seconds_for(group)
    lifeline.limit_cpu(seconds)
    lifeline.limit_memory(MEMORY_BYTES)
    lifeline.limit_time(2 * WALL_FACTOR * seconds)  # the parent, if it lives, comes before that


def send(pipe: IO[bytes], value: object) -> None:
    """Write a message."""
    data = pickle.dumps(value, protocol=pickle.HIGHEST_PROTOCOL)
    pipe.write(len(data).to_bytes(8, "little") + data)
    pipe.flush()


def receive(pipe: IO[bytes]) -> Any:
    """Read the next message; none if the pipe ends before or within it."""
    head = pipe.read(8)
    size = int.from_bytes(head, "little")
    data = pipe.read(size) if len(head) == 8 else b""
    return pickle.loads(data) if data and len(data) == size else None
