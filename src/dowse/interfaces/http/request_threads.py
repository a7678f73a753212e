"""Threads that answer requests: a bounded pool with a bounded queue, deadlines, and a stop when the client leaves."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager
from functools import partial
from typing import TypeVar

from starlette.requests import Request

from dowse.interfaces.call_context import Call, Cancelled
from dowse.interfaces.http.problems import RETRY_SECONDS, HttpProblem

T = TypeVar("T")

MAX_THREADS = 8
"""Requests that are answered side by side."""

MAX_WAITING = 500
"""Requests that wait for a thread, as many as there may be connections; more are told to come back."""

DEADLINE_SECONDS = 60.0
"""Time that a request may take, waiting included; making an index is allowed all the time it needs."""

POLL_SECONDS = 0.5
"""Pause between two looks at whether the client is still there."""


class RequestThreads:
    """The threads of a server."""

    def __init__(self) -> None:
        self._pool = ThreadPoolExecutor(MAX_THREADS, thread_name_prefix="dowse-http")
        self._running = 0

    def close(self) -> None:
        """Let the threads go; what nobody has begun is dropped."""
        self._pool.shutdown(wait=False, cancel_futures=True)

    async def run(self, request: Request, work: Callable[[Call], T], call: Call | None = None) -> T:
        """Run some work in a thread; it is told to stop when the time is up or the client has left."""
        with_deadline = call is None
        call = call or Call()
        async with self._admit():
            task = asyncio.get_running_loop().run_in_executor(self._pool, partial(work, call))
            began = asyncio.get_running_loop().time()
            try:
                while not (await asyncio.wait([task], timeout=POLL_SECONDS))[0]:
                    if await request.is_disconnected():
                        raise HttpProblem(499, "the client has left")
                    if with_deadline and asyncio.get_running_loop().time() - began > DEADLINE_SECONDS:
                        raise HttpProblem(
                            504, f"it took more than {DEADLINE_SECONDS:.0f} s: try again, or narrow it down"
                        )
                return task.result()
            except Cancelled as error:
                raise HttpProblem(499, "the client has left") from error
            finally:
                call.cancel()  # of no effect on work that is done
                task.cancel()

    @asynccontextmanager
    async def _admit(self) -> AsyncIterator[None]:
        if self._running >= MAX_THREADS + MAX_WAITING:
            raise HttpProblem(503, "the server is busy: try again soon", {"Retry-After": str(RETRY_SECONDS)})
        self._running += 1
        try:
            yield
        finally:
            self._running -= 1
