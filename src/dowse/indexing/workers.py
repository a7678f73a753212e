"""Process pool for parallel parsing: analyze many files in worker processes, and survive crashes, hangs and
out-of-memory.

Workers are started as ``python -m dowse.indexing.workers`` and spoken to over pipes: ``multiprocessing`` would run a
caller's unguarded script again in every worker, and forking is not safe beside the threads of the lexical engine. A
file that takes too much time or memory is chunked by lines. Little work is done in this process, except for files that
look dangerous or slow.
"""

from __future__ import annotations

import math
import os
import sys
import threading
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from itertools import chain

from dowse import lifeline
from dowse.code.languages import load_builtin
from dowse.gc_pause import gc_paused
from dowse.indexing import guard
from dowse.indexing.analyze_file import (
    AnalyzedFile,
    ParserConfig,
    PendingFile,
    analyze_by_lines,
    analyze_group,
    analyze_quickly,
)
from dowse.types.source import ParsedFile, ParseHealth

PARALLEL_BYTES = 3_000_000
"""Less source than this is analyzed before a worker has started."""

GROUP_BYTES = 250_000
"""Source sent to a worker at a time: large against the cost of a message, small against a batch."""

AHEAD_BYTES = 4_000_000
"""Source that is with the workers or analyzed, and not taken yet: enough to keep them busy while a batch is committed,
and a bound on the memory of what waits for that, some ten times as much."""

ALONE_BYTES = 100_000
"""A file of this size is sent by itself: what it takes beyond its budget is not spent on others first."""

LOCAL_GROUP_BYTES = 1_000_000
"""Source analyzed at a time in this process: a fifth of it takes 0.5 % longer, every file by itself 4 %."""


def analyze_all(
    how: ParserConfig, tasks: Iterable[PendingFile], total_bytes: int, processes: int
) -> Iterator[tuple[PendingFile, AnalyzedFile]]:
    """Analyze files in parallel; yield each with its result, in order. Uses this process if there is little to do."""
    if processes < 2 or total_bytes < PARALLEL_BYTES:
        return _analyze_here(how, tasks)
    return _analyze_in_workers(how, tasks, processes)


def attempt(how: ParserConfig, tasks: Sequence[PendingFile]) -> list[AnalyzedFile]:
    """Analyze files; one that fails gets an error as its result, so that it does not stop the run."""
    try:
        return analyze_group(how, tasks)
    except MemoryError:
        raise  # the parent tries them one by one, or by lines
    except Exception as error:
        if len(tasks) > 1:
            return [analyzed for task in tasks for analyzed in attempt(how, [task])]
        return [_make_failure(describe_error(error))]


def describe_error(error: Exception) -> str:
    """Describe the error that keeps a file out of the index."""
    return f"{type(error).__name__}: {error}"


def _make_failure(why: str) -> AnalyzedFile:
    return AnalyzedFile(ParsedFile("", ParseHealth.FAILED, (), ()), (), (), error=why)


class _RestartingWorker:
    """A worker process that is started when there is something to do, and again after a crash or timeout."""

    def __init__(self, how: ParserConfig) -> None:
        self._how = how
        self._worker: guard.Worker | None = None

    def analyze(self, group: Sequence[PendingFile]) -> list[AnalyzedFile]:
        """Analyze a group of files; if the worker fails, analyze them one by one."""
        try:
            self._worker = self._worker or guard.Worker(self._how)
            return self._worker.analyze(group)
        except (guard.Crashed, guard.OverBudget) as error:
            self.close()
            if len(group) > 1:
                return [analyzed for task in group for analyzed in self.analyze([task])]
            return [self._give_up(group[0], error)]

    def kill(self) -> None:
        """End the process at once, whatever it does."""
        if worker := self._worker:
            worker.kill()

    def close(self) -> None:
        """End the process, and wait until it is gone."""
        worker, self._worker = self._worker, None
        if worker:
            worker.kill()
            worker.close()

    def _give_up(self, task: PendingFile, error: Exception) -> AnalyzedFile:
        """Cut a file by lines; if a grammar of the user's own crashed, report that instead."""
        language = self._how.languages.detect(task.path, task.content)
        if isinstance(error, guard.Crashed) and load_builtin().by_name.get(language.name) != language:
            return _make_failure("it crashes the parser of its language")
        return analyze_by_lines(self._how, task)


def _analyze_here(
    how: ParserConfig, tasks: Iterable[PendingFile]
) -> Iterator[tuple[PendingFile, AnalyzedFile]]:
    worker = _RestartingWorker(how)
    try:
        for group in group_by_size(tasks, LOCAL_GROUP_BYTES):
            for task, analyzed in zip(group, _attempt_quickly(how, group), strict=True):
                yield task, analyzed or worker.analyze([task])[0]
    finally:
        worker.close()


def _attempt_quickly(how: ParserConfig, tasks: Sequence[PendingFile]) -> list[AnalyzedFile | None]:
    """Analyze files here, except for those that take long; one that fails gets an error as its result."""
    try:
        return analyze_quickly(how, tasks)
    except Exception as error:
        if len(tasks) > 1:
            return [analyzed for task in tasks for analyzed in _attempt_quickly(how, [task])]
        return [_make_failure(describe_error(error))]


def _analyze_in_workers(
    how: ParserConfig, tasks: Iterable[PendingFile], processes: int
) -> Iterator[tuple[PendingFile, AnalyzedFile]]:
    local = threading.local()
    workers: list[_RestartingWorker] = []

    def run(group: Sequence[PendingFile]) -> Iterator[tuple[PendingFile, AnalyzedFile]]:
        worker: _RestartingWorker | None = getattr(local, "worker", None)
        if worker is None:
            worker = local.worker = _RestartingWorker(how)
            workers.append(worker)
        return zip(group, worker.analyze(group), strict=True)

    waiting: deque[tuple[int, Future[Iterator[tuple[PendingFile, AnalyzedFile]]]]] = deque()
    ahead = 0
    pool = ThreadPoolExecutor(processes, thread_name_prefix="dowse-worker")
    try:
        for group in group_by_size(tasks, GROUP_BYTES, ALONE_BYTES):
            size = sum(len(task.content) for task in group)
            waiting.append((size, pool.submit(run, group)))
            ahead += size
            while ahead > AHEAD_BYTES:
                size, future = waiting.popleft()
                ahead -= size
                yield from future.result()
        yield from chain.from_iterable(future.result() for _, future in waiting)
    finally:
        for _, future in waiting:
            future.cancel()
        for worker in workers:
            worker.kill()
        pool.shutdown(wait=True)
        for worker in workers:
            worker.close()


def group_by_size(
    items: Iterable[PendingFile], limit: int, alone: float = math.inf
) -> Iterator[list[PendingFile]]:
    """Group neighbours up to a number of bytes of content; large files stay alone."""
    group: list[PendingFile] = []
    size = 0
    for item in items:
        if group and len(item.content) >= alone:
            yield group
            group, size = [], 0
        group.append(item)
        size += len(item.content)
        if size >= limit or len(item.content) >= alone:
            yield group
            group, size = [], 0
    if group:
        yield group


def _serve() -> None:
    """Run as a worker: receive the settings, then groups of files until the pipe closes."""
    lifeline.end_with_parent(int(sys.argv[1]))
    lifeline.leave_no_core()
    stdin, stdout = sys.stdin.buffer, sys.stdout.buffer
    sys.stdout = sys.stderr  # nothing may write between the messages
    if (how := guard.receive(stdin)) is None:
        return
    with gc_paused():
        while (group := guard.receive(stdin)) is not None:
            guard.limit(group)
            try:
                guard.send(stdout, attempt(how, group))
                lifeline.lift_time_limit()
            except MemoryError:
                os._exit(guard.OUT_OF_MEMORY)  # nothing that needs memory can be done any more


if __name__ == "__main__":
    try:
        _serve()
    except (KeyboardInterrupt, BrokenPipeError):
        pass  # the parent is gone or was interrupted, and says so itself
