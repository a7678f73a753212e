"""Understands many files on all cores, in processes of their own.

Workers are started as ``python -m dowse.indexing.workers`` and spoken to over pipes, rather than through
``multiprocessing``: that would run a caller's unguarded script again in every worker, and forking is not
safe beside the threads of the lexical engine.
"""

from __future__ import annotations

import os
import pickle
import signal
import subprocess
import sys
import threading
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from itertools import chain
from typing import IO, Any, TypeVar

from dowse import lifeline
from dowse.errors import DowseError
from dowse.garbage import uncollected
from dowse.indexing.understand import Task, Understanding, Understood, understand_group
from dowse.types import ParsedFile, ParseHealth, SourceFile

PARALLEL_BYTES = 3_000_000
"""Less than this is done sooner than a worker has started."""

GROUP_BYTES = 250_000
"""Source sent to a worker at a time: large against the cost of a message, small against a batch."""

TOGETHER_BYTES = 1_000_000
"""Source understood at a time in this process: a fifth of it takes 0.5 % longer, every file by itself 4 %."""

_ENDED = "a worker process ended unexpectedly: try again with 'workers = 1' in dowse.toml"

CRASHES = tuple(
    -getattr(signal, name) for name in ("SIGSEGV", "SIGABRT", "SIGBUS", "SIGILL") if hasattr(signal, name)
)
"""How a worker ends when a grammar crashes; one that was killed, or could not start, says nothing of its files."""

HasContent = TypeVar("HasContent", Task, SourceFile)


def understand_all(
    how: Understanding, tasks: Iterable[Task], total_bytes: int, processes: int
) -> Iterator[Understood]:
    """Each task understood, in order; in this process if there is little to do."""
    if processes < 2 or total_bytes < PARALLEL_BYTES:
        return chain.from_iterable(attempt(how, group) for group in grouped(tasks, TOGETHER_BYTES))
    return _in_processes(how, tasks, processes)


def attempt(how: Understanding, tasks: Sequence[Task]) -> list[Understood]:
    """Tasks understood, or the reason why one was not: one bad file must not stop a run."""
    try:
        return understand_group(how, tasks)
    except Exception as error:
        if len(tasks) > 1:
            return [understood for task in tasks for understood in attempt(how, [task])]
        return [_failed(reason(error))]


def reason(error: Exception) -> str:
    """What is said of a file that an error keeps out of the index."""
    return f"{type(error).__name__}: {error}"


def _failed(why: str) -> Understood:
    return Understood(ParsedFile("", ParseHealth.FAILED, (), ()), (), (), error=why)


class _Crashed(Exception):
    """A worker ended as one does that a grammar crashes."""


def _in_processes(how: Understanding, tasks: Iterable[Task], processes: int) -> Iterator[Understood]:
    local = threading.local()
    workers: list[subprocess.Popen[bytes]] = []

    def run(group: Sequence[Task]) -> list[Understood]:
        worker = getattr(local, "worker", None)
        if worker is None:
            worker = local.worker = _start()
            workers.append(worker)
            _tell(worker, how)
        try:
            _tell(worker, group)
            return _answer(worker)
        except _Crashed:
            local.worker = None
            if len(group) > 1:
                return [understood for task in group for understood in run([task])]
            return [_failed("it crashes the parser of its language")]

    waiting: deque[Future[list[Understood]]] = deque()
    pool = ThreadPoolExecutor(processes, thread_name_prefix="dowse-worker")
    try:
        for group in grouped(tasks, GROUP_BYTES):
            waiting.append(pool.submit(run, group))
            if len(waiting) > 2 * processes:
                yield from waiting.popleft().result()
        yield from chain.from_iterable(future.result() for future in waiting)
    finally:
        for future in waiting:
            future.cancel()
        for worker in workers:
            worker.kill()
        pool.shutdown(wait=True)
        for worker in workers:
            worker.communicate()


def grouped(items: Iterable[HasContent], limit: int) -> Iterator[list[HasContent]]:
    """Neighbours together, each group as soon as it holds so many bytes of content."""
    group: list[HasContent] = []
    size = 0
    for item in items:
        group.append(item)
        size += len(item.content)
        if size >= limit:
            yield group
            group, size = [], 0
    if group:
        yield group


def _start() -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        # -P: what lies in the working directory, a user's own pickle.py say, must not be imported
        [sys.executable, "-P", "-m", "dowse.indexing.workers", str(os.getpid())],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        # Ctrl-C is for the parent, which ends its workers
        start_new_session=True,
        creationflags=getattr(subprocess, "CREATE_NEW_PROCESS_GROUP", 0),
    )


def _tell(worker: subprocess.Popen[bytes], value: object) -> None:
    assert worker.stdin
    try:
        _send(worker.stdin, value)
    except OSError as error:
        raise _end(worker) from error


def _answer(worker: subprocess.Popen[bytes]) -> list[Understood]:
    assert worker.stdout
    answer: list[Understood] | None = _receive(worker.stdout)
    if answer is None:
        raise _end(worker)
    return answer


def _end(worker: subprocess.Popen[bytes]) -> Exception:
    """The error that the end of a worker is."""
    return _Crashed() if worker.wait() in CRASHES else DowseError(_ENDED)


def _send(pipe: IO[bytes], value: object) -> None:
    data = pickle.dumps(value, protocol=pickle.HIGHEST_PROTOCOL)
    pipe.write(len(data).to_bytes(8, "little") + data)
    pipe.flush()


def _receive(pipe: IO[bytes]) -> Any:
    """The next message, or none if the pipe ends before or within it."""
    head = pipe.read(8)
    size = int.from_bytes(head, "little")
    data = pipe.read(size) if len(head) == 8 else b""
    return pickle.loads(data) if data and len(data) == size else None


def _serve() -> None:
    """The life of a worker: settings first, then groups of tasks until the pipe closes."""
    lifeline.end_with_parent(int(sys.argv[1]))
    stdin, stdout = sys.stdin.buffer, sys.stdout.buffer
    sys.stdout = sys.stderr  # nothing may write between the messages
    if (how := _receive(stdin)) is None:
        return
    with uncollected():
        while (group := _receive(stdin)) is not None:
            _send(stdout, attempt(how, group))


if __name__ == "__main__":
    try:
        _serve()
    except (KeyboardInterrupt, BrokenPipeError):
        pass  # the parent is gone or was interrupted, and says so itself
