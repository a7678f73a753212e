"""Understands many files on all cores, in processes of their own.

Workers are started as ``python -m dowse.indexing.workers`` and spoken to over pipes, rather than through
``multiprocessing``: that would run a caller's unguarded script again in every worker, and forking is not
safe beside the threads of the lexical engine.
"""

from __future__ import annotations

import pickle
import subprocess
import sys
import threading
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from itertools import chain
from typing import IO, Any, NamedTuple

from dowse.errors import DowseError
from dowse.indexing.understand import Understanding, Understood, understand
from dowse.types import ParsedFile, ParseHealth

PARALLEL_BYTES = 3_000_000
"""Less than this is done sooner than a worker has started."""

GROUP_BYTES = 250_000
"""Source sent to a worker at a time: large against the cost of a message, small against a batch."""


class Task(NamedTuple):
    """A file to understand."""

    path: str
    content: bytes
    known: ParsedFile | None


def understand_all(
    how: Understanding, tasks: Iterable[Task], total_bytes: int, processes: int
) -> Iterator[Understood]:
    """Each task understood, in order; in this process if there is little to do."""
    if processes < 2 or total_bytes < PARALLEL_BYTES:
        return (attempt(how, task) for task in tasks)
    return _in_processes(how, tasks, processes)


def attempt(how: Understanding, task: Task) -> Understood:
    """A task understood, or the reason why not: one bad file must not stop a run."""
    try:
        return understand(how, *task)
    except Exception as error:
        return Understood(ParsedFile("", ParseHealth.FAILED, (), ()), (), f"{type(error).__name__}: {error}")


def _in_processes(how: Understanding, tasks: Iterable[Task], processes: int) -> Iterator[Understood]:
    local = threading.local()
    workers: list[subprocess.Popen[bytes]] = []

    def run(group: Sequence[Task]) -> list[Understood]:
        worker = getattr(local, "worker", None)
        if worker is None:
            worker = local.worker = _start(how)
            workers.append(worker)
        assert worker.stdin and worker.stdout
        _send(worker.stdin, group)
        answer: list[Understood] = _receive(worker.stdout)
        return answer

    waiting: deque[Future[list[Understood]]] = deque()
    pool = ThreadPoolExecutor(processes, thread_name_prefix="dowse-worker")
    try:
        for group in _grouped(tasks):
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


def _grouped(tasks: Iterable[Task]) -> Iterator[list[Task]]:
    group: list[Task] = []
    size = 0
    for task in tasks:
        group.append(task)
        size += len(task.content)
        if size >= GROUP_BYTES:
            yield group
            group, size = [], 0
    if group:
        yield group


def _start(how: Understanding) -> subprocess.Popen[bytes]:
    worker = subprocess.Popen(
        [sys.executable, "-m", "dowse.indexing.workers"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        # Ctrl-C is for the parent, which ends its workers
        start_new_session=True,
        creationflags=getattr(subprocess, "CREATE_NEW_PROCESS_GROUP", 0),
    )
    assert worker.stdin
    _send(worker.stdin, how)
    return worker


def _send(pipe: IO[bytes], value: object) -> None:
    data = pickle.dumps(value, protocol=pickle.HIGHEST_PROTOCOL)
    pipe.write(len(data).to_bytes(8, "little") + data)
    pipe.flush()


def _receive(pipe: IO[bytes]) -> Any:
    head = pipe.read(8)
    if len(head) < 8:
        raise DowseError("a worker process ended unexpectedly: try again with 'workers = 1' in dowse.toml")
    return pickle.loads(pipe.read(int.from_bytes(head, "little")))


def _serve() -> None:
    """The life of a worker: settings first, then groups of tasks until the pipe closes."""
    stdin, stdout = sys.stdin.buffer, sys.stdout.buffer
    sys.stdout = sys.stderr  # nothing may write between the messages
    how = _receive(stdin)
    assert isinstance(how, Understanding)
    while head := stdin.read(8):
        group: list[Task] = pickle.loads(stdin.read(int.from_bytes(head, "little")))
        _send(stdout, [attempt(how, task) for task in group])


if __name__ == "__main__":
    try:
        _serve()
    except (KeyboardInterrupt, BrokenPipeError, DowseError):
        pass  # the parent is gone or was interrupted, and says so itself
