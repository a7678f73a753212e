"""Scaling: indexing, queries, memory and start with 100,000 and with 1,000,000 chunks.

The trees are made of real ones (see ``corpus.py``), on disk in a temporary folder that is removed: several
GB for a million chunks. Indexing uses all cores. Queries are the public bench's, each run once, ten results
with text, after a few others have warmed up the process. "Checked": before each answer dowse makes sure that the index
matches the disk, on Linux by change notifications of the kernel. "Compared": without these, as on other systems; every
file and folder is checked. "In a burst": dowse checks only when it finds that due. "Not checked": with ``refresh`` off.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from benchmarks import corpus, data
from benchmarks.bench_types import Figure, Outcome, Target, at_most, below
from benchmarks.metrics import percentile
from benchmarks.stage_clock import Elapsed, measure_time
from dowse import Engine, SearchOptions
from dowse.indexing import inotify
from dowse.types.stored import Filter, IndexStatus

SIZES = (100_000, 1_000_000)
QUERY_TARGETS = {100_000: below(20), 1_000_000: below(100)}
"""Milliseconds, for the 95th percentile."""

MEMORY_TARGETS = {100_000: below(150)}
"""Megabytes resident."""

GROWTH_TARGET = at_most(1.5)
"""How much more a chunk of the larger tree may cost than one of the smaller."""

OPEN_TARGET = below(50)
"""Milliseconds."""

COMPARED = "compared"

WARM_UP_QUERIES = 20
TIMED_QUERIES = 200
COLD_START_QUERIES = 50
RESULT_LIMIT = 10
SEED = 0


class Measurement(NamedTuple):
    """Measurements of one tree."""

    corpus: corpus.Corpus
    status: IndexStatus
    cost: Elapsed
    queries: dict[str, list[Elapsed]]  # by filter and kind of check
    cold_start: dict[str, float]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("scale")
    group.add_argument(
        "--chunks", type=int, action="append", help="only this size [default: 100000 and 1000000]"
    )


def run(args: argparse.Namespace) -> Iterator[Outcome]:
    """Measure each size, and compare the cost per chunk with the size before."""
    before: Measurement | None = None
    for chunks in args.chunks or SIZES:
        with tempfile.TemporaryDirectory(prefix="dowse-benchmark-", ignore_cleanup_errors=True) as folder:
            measurement = _measure(Path(folder), chunks)
        yield _make_outcome(chunks, measurement, before)
        before = measurement


# --- measuring ---


def _measure(folder: Path, chunks: int) -> Measurement:
    queries = data.load_bench_queries()
    random.Random(SEED).shuffle(queries)
    print(f"scale: writing a tree of {chunks:,} chunks", file=sys.stderr)
    made = corpus.build(folder / "tree", chunks)
    index = folder / "index"
    print(f"scale: indexing {made.files:,} files", file=sys.stderr)
    with Engine.open(made.root, index_dir=str(index)) as engine:
        cost = measure_time(engine.index)
        status = engine.status()
        print(f"scale: {status.chunks:,} chunks in {cost.wall:.0f} s; searching", file=sys.stderr)
        times = _time_queries(engine, made, queries)
    return Measurement(
        made, status, cost, times, _measure_cold_start(made.root, index, queries[:COLD_START_QUERIES])
    )


def _time_queries(engine: Engine, made: corpus.Corpus, queries: Sequence[str]) -> dict[str, list[Elapsed]]:
    """Time each query, by filter and with or without a check of the tree."""
    warm_up, timed = queries[:WARM_UP_QUERIES], queries[WARM_UP_QUERIES : WARM_UP_QUERIES + TIMED_QUERIES]
    filters = {
        "checked": Filter(),
        "checked, only Python": engine.filter(languages=["python"]),
        "checked, one repository by path": engine.filter(paths=[made.part]),
    }
    time_queries = partial(_time_each, warm_up=warm_up, timed=timed)
    times = {name: time_queries(engine, filter=chosen, checked=True) for name, chosen in filters.items()}
    times["in a burst"] = time_queries(engine, filter=Filter(), checked=False)
    times[COMPARED] = _time_compared(made.root, engine.settings.index_dir, time_queries)
    with Engine.open(made.root, index_dir=engine.settings.index_dir, refresh=False) as unchecked:
        times["not checked"] = time_queries(unchecked, filter=Filter(), checked=False)
    return times


def _time_compared(root: Path, index_dir: str, time_queries: Callable[..., list[Elapsed]]) -> list[Elapsed]:
    """Time queries without change notifications from the kernel."""
    watches, inotify.MAX_WATCHES = inotify.MAX_WATCHES, 0
    try:
        with Engine.open(root, index_dir=index_dir) as engine:
            return time_queries(engine, filter=Filter(), checked=True)
    finally:
        inotify.MAX_WATCHES = watches


def _time_each(
    engine: Engine, *, warm_up: Sequence[str], timed: Sequence[str], filter: Filter, checked: bool
) -> list[Elapsed]:
    options = SearchOptions(limit=RESULT_LIMIT, filter=filter)
    for query in warm_up:
        engine.search(query, options)
    times = []
    for query in timed:
        if checked:
            engine.force_check()
        times.append(measure_time(partial(engine.search, query, options)))
    return times


def _measure_cold_start(root: Path, index: Path, queries: Sequence[str]) -> dict[str, float]:
    ran = subprocess.run(
        [sys.executable, "-m", "benchmarks.cold_start", str(root), str(index)],
        input=json.dumps(list(queries)),
        stdout=subprocess.PIPE,
        encoding="utf-8",
        cwd=Path(__file__).parent.parent,
        check=True,
    )
    found: dict[str, float] = json.loads(ran.stdout)
    return found


# --- figures ---


def _make_outcome(chunks: int, measurement: Measurement, before: Measurement | None) -> Outcome:
    made, status = measurement.corpus, measurement.status
    return Outcome(
        name=f"scale-{chunks}",
        title=f"A tree of {chunks:,} chunks",
        figures=[
            *_make_index_figures(measurement, before),
            *_make_query_figures(measurement, QUERY_TARGETS.get(chunks)),
            *_make_cold_start_figures(measurement.cold_start, MEMORY_TARGETS.get(chunks)),
        ],
        notes=(
            f"{status.files:,} files, {made.size / 1e6:,.0f} MB of source, {status.chunks:,} chunks, "
            f"index {status.size_bytes / 1e6:,.0f} MB; {os.cpu_count()} workers",
            "copies of real trees, one line changed in every file of a copy: no content occurs twice",
            "compared: every file with the disk before an answer; checked: by what the kernel told, where it can",
        ),
        details={"query_ms": {name: _round_times(times) for name, times in measurement.queries.items()}},
    )


def _round_times(times: Sequence[Elapsed]) -> list[float]:
    return sorted(round(one.wall * 1e3, 2) for one in times)


def _make_index_figures(measurement: Measurement, before: Measurement | None) -> Iterator[Figure]:
    for name, kind in (("CPU", "cpu"), ("wall", "wall")):
        cost = _cost_per_chunk(measurement, kind)
        yield Figure(f"indexing, {name} per chunk", cost, "ms")
        if before is not None:
            growth = cost / _cost_per_chunk(before, kind)
            yield Figure(f"indexing, {name} per chunk over the smaller tree", growth, "x", GROWTH_TARGET)


def _cost_per_chunk(measurement: Measurement, kind: str) -> float:
    seconds: float = getattr(measurement.cost, kind)
    return seconds * 1e3 / measurement.status.chunks


def _make_query_figures(measurement: Measurement, target: Target | None) -> Iterator[Figure]:
    for name, times in measurement.queries.items():
        wall = [one.wall * 1e3 for one in times]
        yield Figure(f"question, {name}, p50", percentile(wall, 0.5), "ms")
        yield Figure(
            f"question, {name}, p95", percentile(wall, 0.95), "ms", target if name != COMPARED else None
        )
        yield Figure(f"question, {name}, CPU p50", percentile([one.cpu * 1e3 for one in times], 0.5), "ms")


def _make_cold_start_figures(cold_start: dict[str, Any], memory: Target | None) -> list[Figure]:
    return [
        Figure("fresh process, imports", cold_start["import_ms"], "ms"),
        Figure("fresh process, open and ready to search", cold_start["open_ms"], "ms", OPEN_TARGET),
        Figure("fresh process, first search", cold_start["first_search_ms"], "ms"),
        Figure(
            f"fresh process, peak memory after {COLD_START_QUERIES} searches",
            cold_start["memory_mb"],
            "MB",
            memory,
        ),
    ]
