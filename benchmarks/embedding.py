"""Cost of the built-in embedding model: indexing with and without it, loading it, a query vector, the wheel.

- Indexing: CPU time of each of the 31 trees with and without vectors, in turn in two processes that have indexed
  another tree before; one worker. Median of ``--runs``.
- Loading: in a new process, from the first use of the model until a query has its vector; without Python's imports,
  which any search needs. Median over several processes.
- A query vector: in that process, each of the public queries once.
- The wheel: what ``pip wheel`` makes of this source tree.
"""

from __future__ import annotations

import argparse
import json
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from benchmarks import data
from benchmarks.bench_types import Figure, Outcome, Tree, at_most, below
from benchmarks.engine_process import EngineProcess
from benchmarks.metrics import median_ratio, percentile, ratio_of_sums
from benchmarks.sets import repositories
from benchmarks.speed import WARM_UP_TREE

INDEX_TARGET = at_most(1.3)
"""Indexing with vectors over indexing without."""

LOAD_TARGET, QUERY_TARGET = below(30), below(1)
"""Milliseconds."""

WHEEL_TARGET = below(25)
"""Megabytes."""

NO_VECTORS: Mapping[str, str] = {"embedder": "none"}
MODEL_PROCESSES = 9
ROOT = Path(__file__).parent.parent


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add no options: ``--runs`` and ``--tree`` of speed apply."""


def run(args: argparse.Namespace) -> Iterator[Outcome]:
    """Measure indexing, the model and the wheel."""
    trees = [tree for tree in repositories.trees() if not args.trees or tree.name in args.trees]
    costs = _measure_indexing(trees, args.runs)
    yield Outcome(
        name="embedding",
        title="What the built-in model costs",
        figures=[
            *_make_index_figures(costs),
            *_make_model_figures(data.load_bench_queries()),
            _measure_wheel(),
        ],
        notes=(f"{len(trees)} trees, with and without vectors in turn; x: with over without",),
        details={"index_cpu_ms": costs},
        official=not args.trees,
    )


# --- indexing ---


def _measure_indexing(trees: Sequence[Tree], runs: int) -> dict[str, dict[str, float]]:
    """Measure CPU milliseconds of indexing by tree, with and without vectors."""
    found: dict[str, dict[str, float]] = {}
    warm_up = next(tree.path for tree in repositories.trees() if tree.name == WARM_UP_TREE)
    with EngineProcess("dowse") as one, EngineProcess("dowse") as other:
        one.index(warm_up)
        other.index(warm_up, **NO_VECTORS)
        for tree in trees:
            print(f"embedding: {tree.name}", file=sys.stderr)
            pairs = [_index_both(one, other, tree.path, is_first=number % 2 > 0) for number in range(runs)]
            with_vectors, without = (statistics.median(column) for column in zip(*pairs, strict=True))
            found[tree.name] = {"with": round(with_vectors, 1), "without": round(without, 1)}
    return found


def _index_both(
    one: EngineProcess, other: EngineProcess, tree: Path, *, is_first: bool
) -> tuple[float, float]:
    """Index with and without vectors; which goes first alternates."""
    if is_first:
        return one.index(tree).cpu_ms, other.index(tree, **NO_VECTORS).cpu_ms
    without = other.index(tree, **NO_VECTORS).cpu_ms
    return one.index(tree).cpu_ms, without


def _make_index_figures(costs: Mapping[str, Mapping[str, float]]) -> list[Figure]:
    with_vectors, without = ([cost[way] for cost in costs.values()] for way in ("with", "without"))
    return [
        Figure("indexing CPU, ratio of sums", ratio_of_sums(with_vectors, without), "x", INDEX_TARGET),
        Figure("indexing CPU, median ratio", median_ratio(with_vectors, without), "x", INDEX_TARGET),
        Figure("indexing CPU, mean of a tree", statistics.mean(with_vectors), "ms"),
        Figure("indexing CPU without vectors, mean of a tree", statistics.mean(without), "ms"),
    ]


# --- the model ---


def _make_model_figures(queries: Sequence[str]) -> list[Figure]:
    load_times, query_times = zip(*(_time_cold_model(queries) for _ in range(MODEL_PROCESSES)), strict=True)
    times = [statistics.median(column) for column in zip(*query_times, strict=True)]
    return [
        Figure("loading the model, wall", statistics.median(load_times), "ms", LOAD_TARGET),
        Figure("the vector of a question, p50", percentile(times, 0.5), "ms", QUERY_TARGET),
        Figure("the vector of a question, p95", percentile(times, 0.95), "ms", QUERY_TARGET),
    ]


def _time_cold_model(queries: Sequence[str]) -> tuple[float, list[float]]:
    """Time the first query vector of a new process, and each later one, in milliseconds."""
    ran = subprocess.run(
        [sys.executable, "-m", "benchmarks.embedding"],
        input=json.dumps(list(queries)),
        stdout=subprocess.PIPE,
        encoding="utf-8",
        cwd=ROOT,
        check=True,
    )
    first, *others = json.loads(ran.stdout)
    return first, others


def main() -> None:
    """Print the milliseconds of each query vector; queries are a JSON list on standard input."""
    queries = json.load(sys.stdin)
    from dowse.embedders.static import load_built_in

    times = []
    for query in queries:
        started = time.perf_counter()
        load_built_in().embed_query(query)
        times.append((time.perf_counter() - started) * 1e3)
    print(json.dumps(times))


# --- the wheel ---


def _measure_wheel() -> Figure:
    with tempfile.TemporaryDirectory(prefix="dowse-benchmark-", ignore_cleanup_errors=True) as folder:
        command = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "-w", folder, str(ROOT)]
        subprocess.run(command, check=True)
        (wheel,) = Path(folder).glob("*.whl")
        return Figure("the wheel", wheel.stat().st_size / 1e6, "MB", WHEEL_TARGET)


if __name__ == "__main__":
    main()
