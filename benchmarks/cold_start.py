"""Measure a new process that opens an index and searches: ``python -m benchmarks.cold_start ROOT INDEX < QUERIES``.

Queries are a JSON list on standard input; the times are printed as JSON. Ready means that an engine is open and
has a snapshot of the index, so that it could search.
"""

from __future__ import annotations

import json
import sys
import time
from importlib import import_module

from benchmarks.stage_clock import read_peak_memory_mb


def main(root: str, index: str) -> None:
    """Import, open, search; print milliseconds and megabytes."""
    queries = json.load(sys.stdin)
    started = time.perf_counter()
    from dowse.engine import Engine

    import_module("dowse.stores.embedded")  # would be imported as the index is opened
    imported = time.perf_counter()
    with Engine.open(root, index_dir=index) as engine:
        with engine.store.snapshot():
            ready = time.perf_counter()
        engine.search(queries[0])
        first = time.perf_counter()
        for query in queries[1:]:
            engine.search(query)
        times = {
            "import_ms": (imported - started) * 1e3,
            "open_ms": (ready - imported) * 1e3,
            "first_search_ms": (first - ready) * 1e3,
            "memory_mb": read_peak_memory_mb(),
        }
    print(json.dumps(times))


if __name__ == "__main__":
    main(*sys.argv[1:])
