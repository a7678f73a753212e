"""Run an engine in a process of its own, and search it from here."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, NamedTuple, Self

from benchmarks.bench_types import Hit
from benchmarks.competitors import COMPETITORS, serve


class Cost(NamedTuple):
    """Time of a call, measured in the engine's process; CPU time includes threads and children."""

    cpu_ms: float
    wall_ms: float


class Answer(NamedTuple):
    """The hits of a query and the time it took."""

    hits: list[Hit]
    cost: Cost


class EngineProcess:
    """A running engine of the table. Use in a ``with`` block."""

    def __init__(self, name: str, environment: dict[str, str] | None = None) -> None:
        competitor = COMPETITORS[name]
        launch = competitor.launch()
        self.name = name
        self._process = subprocess.Popen(
            [launch.python, "-P", serve.__file__, str(competitor.adapter)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env={**os.environ, **launch.environment, **(environment or {})},
            encoding="utf-8",
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._process.communicate()

    def index(self, path: Path, **settings: Any) -> Cost:
        """Index a tree; later searches go to it."""
        return Cost(**self._request({"do": "index", "path": str(path), "settings": settings}))

    def search(self, queries: Sequence[str], depth: int, runs: int = 1) -> list[Answer]:
        """Search for each query; its time is the median of some runs."""
        request = {"do": "search", "queries": list(queries), "depth": depth, "runs": runs}
        found = self._request(request)["answers"]
        return [
            Answer([Hit(*hit) for hit in one["hits"]], Cost(one["cpu_ms"], one["wall_ms"])) for one in found
        ]

    def _request(self, request: dict[str, Any]) -> dict[str, Any]:
        assert self._process.stdin
        assert self._process.stdout
        self._process.stdin.write(json.dumps(request) + "\n")
        self._process.stdin.flush()
        line = self._process.stdout.readline()
        if not line:
            raise RuntimeError(f"{self.name} ended unexpectedly: what it said is above")
        answer: dict[str, Any] = json.loads(line)
        return answer
