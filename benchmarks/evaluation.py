"""Compare ``dowse eval`` with the public bench: the same results, scored by its own score.py.

Every repository is evaluated by the real command, with the annotations as ground truth. NDCG@10 of every query is
compared with the score that score.py gives to the results the command reports. Then a run of 1,000 queries on a warm
index is timed.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from itertools import cycle, islice
from pathlib import Path
from typing import Any

from benchmarks import data
from benchmarks.bench_types import Figure, Outcome, at_most
from benchmarks.metrics import mean

TIMED_QUERIES = 1000
"""Queries of the timed run."""

METRIC = "ndcg@10"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add no options."""


def run(args: argparse.Namespace) -> Iterator[Outcome]:
    """Compare the scores of every query, then time a large run."""
    bench = data.load_scorer().load_bench()
    by_repository: dict[str, tuple[float, float]] = {}
    query_count, worst = 0, 0.0
    for name in bench.repos():
        print(f"evaluation: {name}", file=sys.stderr)
        ours = _run_eval(
            bench.bench_dir(name), data.find_folder("BENCH_HOME") / "annotations" / f"{name}.json"
        )
        theirs = _score_results(bench, name, ours)
        differences = [abs(a["values"][METRIC] - b["ndcg10"]) for a, b in zip(ours, theirs, strict=True)]
        query_count, worst = query_count + len(ours), max(worst, *differences)
        by_repository[name] = (mean(o["values"][METRIC] for o in ours), mean(t["ndcg10"] for t in theirs))
    seconds = _time_eval(bench)
    yield Outcome(
        name="evaluation",
        title="dowse eval beside the bench's own scorer on 31 repositories",
        figures=[
            Figure(
                "NDCG@10 by dowse eval, mean over repositories", mean(a for a, _ in by_repository.values())
            ),
            Figure("NDCG@10 by score.py of the same results", mean(b for _, b in by_repository.values())),
            Figure("largest difference of a question", worst, target=at_most(1e-9)),
            Figure(f"dowse eval of {TIMED_QUERIES} questions, warm index, start to exit", seconds, "s"),
        ],
        notes=(f"{query_count} questions of {len(by_repository)} repositories",),
        details={"by repository": {name: list(pair) for name, pair in by_repository.items()}},
    )


def _run_eval(root: Path, truth: Path) -> list[dict[str, Any]]:
    """Run the real command; return its outcome for each query."""
    with tempfile.TemporaryDirectory(prefix="dowse-benchmark-", ignore_cleanup_errors=True) as folder:
        report = _run_command("eval", str(truth), "--root", str(root), "--index-dir", folder, "--json")
    outcomes: list[dict[str, Any]] = report["runs"][0]["queries"]
    return outcomes


def _score_results(bench: Any, name: str, outcomes: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Score the first ten results that the command reports with score.py."""
    runs = {(name, qid): [_parse_location(found) for found in o["found"]] for qid, o in enumerate(outcomes)}
    rows: list[dict[str, Any]] = data.load_scorer().score_results(bench, runs)
    return rows


def _parse_location(found: str) -> tuple[str, int, int]:
    path, _, lines = found.rpartition(":")
    first, _, last = lines.partition("-")
    return path, int(first), int(last)


def _time_eval(bench: Any) -> float:
    """Time, in seconds, a run of many queries on one tree that is already indexed."""
    name = bench.repos()[0]
    root = bench.bench_dir(name)
    tasks = [task for task in bench.tasks if task.repo == name]
    repeated_tasks = islice(cycle(tasks), TIMED_QUERIES)
    lines = [
        json.dumps({"query": task.query, "relevant": [t.path for t in task.targets]})
        for task in repeated_tasks
    ]
    with tempfile.TemporaryDirectory(prefix="dowse-benchmark-", ignore_cleanup_errors=True) as folder:
        truth = Path(folder) / "truth.jsonl"
        truth.write_text("\n".join(lines), encoding="utf-8")
        location = ("--root", str(root), "--index-dir", str(Path(folder) / "index"))
        _run_command("index", str(root), "--index-dir", str(Path(folder) / "index"), "--json")
        started = time.perf_counter()
        _run_command("eval", str(truth), *location, "--json")
        return time.perf_counter() - started


def _run_command(*arguments: str) -> Any:
    done = subprocess.run(
        [sys.executable, "-m", "dowse", *arguments], capture_output=True, check=True, encoding="utf-8"
    )
    return json.loads(done.stdout)
