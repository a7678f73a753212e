"""Process in which an engine is measured: it loads one adapter and serves requests, one per line.

Run as ``python -P serve.py ADAPTER`` by the engine's own interpreter: standard library only, and nothing of
this package. A request is a line of JSON on standard input, its answer a line on standard output. What is
timed is the call of the adapter alone.
"""

from __future__ import annotations

import importlib.util
import json
import os
import statistics
import sys
import time
from typing import Any


def cpu_seconds() -> float:
    """Sum user and system time of this process (all threads) and of its finished children."""
    spent = os.times()
    return time.process_time() + spent.children_user + spent.children_system


class Session:
    """An adapter and its current index."""

    def __init__(self, adapter: Any) -> None:
        self.adapter = adapter
        self.index: Any = None

    def answer(self, request: dict[str, Any]) -> dict[str, Any]:
        """Answer a request."""
        if request["do"] == "index":
            return self._index(request["path"], request["settings"])
        return {
            "answers": [
                self._search(query, request["depth"], request["runs"]) for query in request["queries"]
            ]
        }

    def close(self) -> None:
        """Close the index, if the adapter can."""
        if self.index is not None and hasattr(self.adapter, "close"):
            self.adapter.close(self.index)
        self.index = None

    def _index(self, path: str, settings: dict[str, Any]) -> dict[str, Any]:
        self.close()
        wall, cpu = time.perf_counter(), cpu_seconds()
        self.index = self.adapter.index(path, **settings)
        return {
            "cpu_ms": (cpu_seconds() - cpu) * 1e3,
            "wall_ms": (time.perf_counter() - wall) * 1e3,
        }

    def _search(self, query: str, depth: int, runs: int) -> dict[str, Any]:
        walls, cpus, hits = [], [], []
        for _ in range(runs):
            wall, cpu = time.perf_counter(), cpu_seconds()
            hits = self.adapter.search(self.index, query, depth)
            cpus.append((cpu_seconds() - cpu) * 1e3)
            walls.append((time.perf_counter() - wall) * 1e3)
        return {
            "hits": [list(hit) for hit in hits],
            "wall_ms": statistics.median(walls),
            "cpu_ms": statistics.median(cpus),
        }


def load(path: str) -> Any:
    """Load the adapter from a file."""
    spec = importlib.util.spec_from_file_location("adapter", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def main() -> None:
    """Serve until standard input ends."""
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)  # what an engine prints must not stand between the answers
    session = Session(load(sys.argv[1]))
    for line in sys.stdin:
        answers.write(json.dumps(session.answer(json.loads(line))) + "\n")
        answers.flush()
    session.close()


if __name__ == "__main__":
    main()
