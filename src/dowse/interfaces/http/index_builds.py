"""Index builds of a server: who asks for an index that is not there yet is told how far it is, and holds no thread.

A search elsewhere builds a missing index and waits for it. On a server, everybody would wait as long, and whoever gave
up would stop the work: so it is done once, in a thread of its own.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable
from pathlib import Path

from dowse.engine import Engine
from dowse.errors import DowseError
from dowse.interfaces.call_context import Cancelled
from dowse.interfaces.http.problems import RETRY_SECONDS, HttpProblem
from dowse.interfaces.progress import describe_progress
from dowse.types.discovered import IndexReport
from dowse.types.stored import IndexState

PATIENCE_SECONDS = 10.0
"""Time from the begin of a build that requests wait for its end: most are done by then."""

LATE_PATIENCE_SECONDS = 0.5
"""Time that they wait later on."""

log = logging.getLogger("dowse.http")


class IndexBuilding(HttpProblem):
    """The index that a request needs is being built."""

    def __init__(self, name: str, percent: float, stage: str) -> None:
        how_far = f"{percent:.0f} % done" if percent else stage
        super().__init__(
            503,
            f"the index of {name} is being built ({how_far}): ask again in a moment",
            {"Retry-After": str(RETRY_SECONDS)},
        )
        self.percent = percent
        self.how_far = how_far


class _Build:
    """One build that runs: how far it is, and how it ended."""

    def __init__(self) -> None:
        self.began = time.monotonic()
        self.done = threading.Event()
        self.error: Exception | None = None
        self.percent = 0.0
        self.stage = "it has just begun"
        self.is_cancelled = False

    def progress(self, stage: str, done: int, total: int) -> None:
        """Note how far it is; the engine calls this."""
        if self.is_cancelled:
            raise Cancelled
        self.percent = max(self.percent, 100.0 * done / total if total else 0.0)
        self.stage = describe_progress(stage, 0, 0, 0.0).partition(" ...")[0]


class IndexBuilds:
    """The builds of a server, one at a time for each folder."""

    def __init__(self) -> None:
        self._running: dict[Path, _Build] = {}
        self._lock = threading.Lock()

    def close(self) -> None:
        """Stop what runs at its next step; what is indexed by then is kept."""
        with self._lock:
            for build in self._running.values():
                build.is_cancelled = True

    def index(
        self, engine: Engine, progress: Callable[[str, int, int], None], *, rebuild: bool
    ) -> IndexReport:
        """Index now, in this thread, and let those who wait for the index know how far it is."""

        def report(stage: str, done: int, total: int) -> None:
            build.progress(stage, done, total)
            progress(stage, done, total)

        with self._lock:
            build = self._running.setdefault(engine.root, _Build())
        try:
            return engine.index(report, rebuild=rebuild, wait=True)
        finally:
            self._finish(engine, build)

    def wait_for(self, engine: Engine, name: str) -> None:
        """Wait a moment for an index that is not there, having it built; raise an error if it takes longer."""
        if engine.read_only or engine.state() is IndexState.CURRENT:
            return
        with self._lock:
            build = self._running.get(engine.root)
            if build is None:
                build = self._running[engine.root] = _Build()
                work = (engine, build)
                threading.Thread(target=self._build, args=work, name="dowse-index", daemon=True).start()
        rest = build.began + PATIENCE_SECONDS - time.monotonic()
        if not build.done.wait(max(rest, LATE_PATIENCE_SECONDS)):
            raise IndexBuilding(name, build.percent, build.stage)
        if build.error is not None:
            raise build.error

    def _build(self, engine: Engine, build: _Build) -> None:
        try:
            engine.index(build.progress, wait=True)
        except DowseError as error:
            build.error = error
        except Cancelled:
            build.error = HttpProblem(503, "the server is being stopped")
        except Exception as error:  # the outermost edge of this thread
            log.error("internal error", exc_info=error)
            build.error = HttpProblem(500, "the index could not be built: the log of the server says why")
        finally:
            self._finish(engine, build)

    def _finish(self, engine: Engine, build: _Build) -> None:
        with self._lock:
            if self._running.get(engine.root) is build:
                del self._running[engine.root]
        build.done.set()
