"""Speed of indexing, queries and the command line, in one run with semble, tree by tree in turn.

- Indexing: CPU time (user and system, children included) of indexing one tree in a process that has
  indexed another one before; dowse with one worker and its index on disk, semble in memory. Median of
  ``--runs``. Dowse once more without vectors, which is keywords, names and the graph alone, beside all of semble.
- Queries: wall time in that process, of the public bench's queries about the tree, ten results with their
  text; without a result cache, and dowse checks the tree on disk before every query ("in a burst": only when
  it finds that due). Median of three for each query. CPU time beside it,
  which other work on the machine disturbs less.
- Command line: CPU time from start to exit of a search in an existing index, ten results. Median of
  five.

``--tree`` takes any folders too: then with queries that suit most programs, and without semble where it cannot be had.

The two take turns, run by run and query by query, since the speed of a shared machine changes from one second to
the next. Which goes first alternates from tree to tree, so that neither always finds the files in memory.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import NamedTuple

import dowse
from benchmarks.bench_types import Figure, Outcome, Query, Tree, at_most
from benchmarks.competitors import COMPETITORS, SEMBLE_CACHE, get_semble_model
from benchmarks.data import MissingDataError
from benchmarks.engine_process import Answer, Cost, EngineProcess
from benchmarks.metrics import median_ratio, percentile, ratio_of_sums
from benchmarks.sets import repositories

ENGINES = ("dowse", "semble")
WARM_UP_TREE = "flask"
"""The tree that both engines index before anything is measured: imports and models are loaded then."""

RESULT_LIMIT = 10
QUERY_RUNS = 3
COMMAND_RUNS = 5
COMMAND_TREES = ("flask", "gin", "aiohttp", "zod", "commons-lang")
"""From small to large, in four languages."""

COMMAND_QUERY = "how are requests handled"

GENERAL_QUERIES = (
    COMMAND_QUERY,
    "where is the configuration read",
    "parse command line arguments",
    "write a file to disk",
    "what happens when a connection fails",
    "check the type of an argument",
    "convert a date to text",
    "main entry point",
)
"""Queries about a folder that nobody has written queries for."""

_MEASURED_COMMAND = """
import json, os, subprocess, sys
subprocess.run(sys.argv[1:], capture_output=True, check=True)
spent = os.times()
print(json.dumps(spent.children_user + spent.children_system))
"""
"""Runs a command and prints its CPU seconds; in a process of its own, so that no other child counts."""


class Timing(NamedTuple):
    """Times of one tree with one engine."""

    index_cpu_ms: float
    index_wall_ms: float
    query_ms: list[float]
    query_cpu_ms: list[float]
    burst_ms: list[float]  # of dowse only
    without_cpu_ms: float  # of indexing without vectors; of dowse only


def add_arguments(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("speed")
    group.add_argument("--runs", type=int, default=3, help="times that each tree is indexed [default: 3]")
    group.add_argument(
        "--tree",
        nargs="+",
        action="extend",
        dest="speed_trees",
        metavar="NAME|PATH",
        help="only these of the 31 trees, or any folders of source",
    )


def run(args: argparse.Namespace) -> Iterator[Outcome]:
    """Measure both engines on all trees; dowse alone on any folders where semble cannot be had."""
    named = args.speed_trees or []
    folders = [Path(name) for name in named if Path(name).is_dir()]
    trees = [_describe_folder(folder) for folder in folders] or [
        tree for tree in repositories.trees() if not named or tree.name in named
    ]
    if not trees:
        raise MissingDataError(f"neither a folder nor one of the 31 trees: {' '.join(named)}")
    warm_up = Path(dowse.__file__).parent if folders else _find_tree(WARM_UP_TREE)
    engines = _find_engines(warm_up, optional=bool(folders))
    timings = _measure_trees(engines, warm_up, trees, args.runs)
    commands = {
        tree.name: _time_commands(engines, tree.path)
        for tree in trees
        if folders or tree.name in COMMAND_TREES
    }
    if len(engines) < len(ENGINES):
        yield from _describe_alone(timings, commands)
        return
    yield Outcome(
        name="speed",
        title="Speed beside semble 0.7",
        figures=[
            *_make_index_figures(timings),
            *_make_query_figures(timings),
            *_make_command_figures(commands),
            *(_make_tree_figures(timings) if folders else ()),
        ],
        notes=(
            f"{len(trees)} trees, in turn in one run; x: dowse over semble, less is better",
            f"semble's model: {get_semble_model()}; a smaller model than its default favours semble",
        ),
        details={"trees": _make_details(timings), "command_cpu_ms": commands},
        official=not named,
    )


def _describe_folder(folder: Path) -> Tree:
    """Describe any folder as a tree, with queries that suit most programs."""
    queries = tuple(Query(str(number), text) for number, text in enumerate(GENERAL_QUERIES))
    return Tree(folder.resolve().name, folder.resolve(), queries)


def _find_tree(name: str) -> Path:
    return next(tree.path for tree in repositories.trees() if tree.name == name)


def _find_engines(warm_up: Path, *, optional: bool) -> tuple[str, ...]:
    """Find the engines that run here; without semble, a line says so if it is optional."""
    try:
        with EngineProcess("semble") as process:
            process.index(warm_up)
    except (MissingDataError, RuntimeError) as error:
        if not optional:
            raise
        print(f"speed: dowse alone, without semble: {error}", file=sys.stderr)
        return ENGINES[:1]
    return ENGINES


# --- measuring ---


def _measure_trees(
    engines: Sequence[str], warm_up: Path, trees: Sequence[Tree], runs: int
) -> dict[str, dict[str, Timing]]:
    """Measure all trees; return times by tree and engine."""
    found: dict[str, dict[str, Timing]] = {}
    with ExitStack() as running:
        processes = [running.enter_context(EngineProcess(name)) for name in engines]
        for process in processes:
            process.index(warm_up)
            process.search([COMMAND_QUERY], RESULT_LIMIT)
        for position, tree in enumerate(trees):
            print(f"speed: {tree.name}", file=sys.stderr)
            found[tree.name] = _measure_tree(processes if position % 2 else processes[::-1], tree, runs)
    return found


def _measure_tree(order: Sequence[EngineProcess], tree: Tree, runs: int) -> dict[str, Timing]:
    """Measure one tree; the engines alternate run by run and query by query."""
    queries = [query.text for query in tree.queries]
    without: list[float] = []  # of dowse
    costs: dict[str, list[Cost]] = {process.name: [] for process in order}
    answers: dict[str, list[Answer]] = {process.name: [] for process in order}
    for _ in range(runs):
        for process in order:
            if process.name == "dowse":
                without.append(process.index(tree.path, embedder="none").cpu_ms)
            costs[process.name].append(process.index(tree.path))
    for query in queries:
        for process in order:
            answers[process.name] += process.search([query], RESULT_LIMIT, QUERY_RUNS)
    return {
        process.name: Timing(
            statistics.median(cost.cpu_ms for cost in costs[process.name]),
            statistics.median(cost.wall_ms for cost in costs[process.name]),
            [answer.cost.wall_ms for answer in answers[process.name]],
            [answer.cost.cpu_ms for answer in answers[process.name]],
            _time_burst(process, tree, queries) if process.name == "dowse" else [],
            statistics.median(without) if process.name == "dowse" else 0.0,
        )
        for process in order
    }


def _time_burst(process: EngineProcess, tree: Tree, queries: Sequence[str]) -> list[float]:
    process.index(tree.path, burst=True)
    return [answer.cost.wall_ms for answer in process.search(queries, RESULT_LIMIT, QUERY_RUNS)]


def _time_commands(engines: Sequence[str], tree: Path) -> dict[str, float]:
    """Measure CPU milliseconds of one search on the command line, by engine."""
    with tempfile.TemporaryDirectory(prefix="dowse-benchmark-", ignore_cleanup_errors=True) as folder:
        commands: dict[str, Callable[[], float]] = {
            "dowse": lambda: _measure_command_cpu("dowse", _make_dowse_command(tree, folder), {}),
            "semble": lambda: _measure_command_cpu(
                "semble", _make_semble_command(tree), {SEMBLE_CACHE: folder}
            ),
        }
        for name in engines:
            commands[name]()  # makes the index
        rounds = [{name: commands[name]() for name in engines} for _ in range(COMMAND_RUNS)]
    return {name: statistics.median(one[name] for one in rounds) for name in engines}


def _make_dowse_command(tree: Path, index: str) -> list[str]:
    program = shutil.which("dowse", path=str(Path(sys.executable).parent))
    start = [program] if program else [sys.executable, "-m", "dowse"]
    return [
        *start,
        "search",
        COMMAND_QUERY,
        "--root",
        str(tree),
        "--index-dir",
        index,
        "--limit",
        str(RESULT_LIMIT),
        "--all",  # no failure where nothing is good
    ]


def _make_semble_command(tree: Path) -> list[str]:
    """Make a search command without snippets: the cheapest that semble has."""
    program = Path(COMPETITORS["semble"].launch().python).with_name("semble")
    return [
        str(program),
        "search",
        COMMAND_QUERY,
        str(tree),
        "--top-k",
        str(RESULT_LIMIT),
        "--max-snippet-lines",
        "0",
    ]


def _measure_command_cpu(engine: str, command: Sequence[str], environment: Mapping[str, str]) -> float:
    ran = subprocess.run(
        [sys.executable, "-c", _MEASURED_COMMAND, *command],
        stdout=subprocess.PIPE,
        env={**os.environ, **COMPETITORS[engine].launch().environment, **environment},
        check=True,
    )
    return float(json.loads(ran.stdout)) * 1e3


# --- figures ---


def _make_index_figures(timings: Mapping[str, Mapping[str, Timing]]) -> list[Figure]:
    ours, theirs = ([by_engine[name].index_cpu_ms for by_engine in timings.values()] for name in ENGINES)
    without = [by_engine["dowse"].without_cpu_ms for by_engine in timings.values()]
    return [
        Figure("indexing CPU, ratio of sums", ratio_of_sums(ours, theirs), "x", at_most(0.7)),
        Figure("indexing CPU, median ratio", median_ratio(ours, theirs), "x", at_most(0.7)),
        Figure(
            "indexing CPU without vectors, ratio of sums", ratio_of_sums(without, theirs), "x", at_most(0.7)
        ),
        _make_comparison("indexing CPU, mean of a tree", statistics.mean(ours), statistics.mean(theirs)),
    ]


def _make_query_figures(timings: Mapping[str, Mapping[str, Timing]]) -> list[Figure]:
    ours, theirs = (
        [ms for by_engine in timings.values() for ms in by_engine[name].query_ms] for name in ENGINES
    )
    our_cpu, their_cpu = (
        statistics.median(ms for by_engine in timings.values() for ms in by_engine[name].query_cpu_ms)
        for name in ENGINES
    )
    burst = statistics.median(ms for by_engine in timings.values() for ms in by_engine["dowse"].burst_ms)
    middle = statistics.median(theirs)
    return [
        Figure("warm question, ratio of p50", statistics.median(ours) / middle, "x", at_most(1.0)),
        Figure("warm question in a burst, ratio of p50", burst / middle, "x"),
        Figure("warm question, ratio of CPU p50", our_cpu / their_cpu, "x"),
        _make_comparison("warm question, CPU p50", our_cpu, their_cpu),
        *(
            _make_comparison(
                f"warm question, p{share}", percentile(ours, share / 100), percentile(theirs, share / 100)
            )
            for share in (50, 95, 99)
        ),
    ]


def _make_command_figures(commands: Mapping[str, Mapping[str, float]]) -> list[Figure]:
    if not commands:
        return []
    ours, theirs = ([times[name] for times in commands.values()] for name in ENGINES)
    return [
        Figure("warm command line CPU, ratio of sums", ratio_of_sums(ours, theirs), "x", at_most(0.3)),
        _make_comparison("warm command line CPU, mean", statistics.mean(ours), statistics.mean(theirs)),
    ]


def _make_tree_figures(timings: Mapping[str, Mapping[str, Timing]]) -> Iterator[Figure]:
    """Compare the engines tree by tree."""
    for tree, by_engine in timings.items():
        ours, theirs = (by_engine[name] for name in ENGINES)
        query, their_query = statistics.median(ours.query_ms), statistics.median(theirs.query_ms)
        yield Figure(f"{tree}: indexing CPU", ours.index_cpu_ms / theirs.index_cpu_ms, "x")
        yield Figure(f"{tree}: indexing wall", ours.index_wall_ms / theirs.index_wall_ms, "x")
        yield Figure(f"{tree}: warm query p50", query / their_query, "x")


def _describe_alone(
    timings: Mapping[str, Mapping[str, Timing]], commands: Mapping[str, Mapping[str, float]]
) -> Iterator[Outcome]:
    """Give the times of dowse on any folders, where there is nothing to compare them with."""
    figures = []
    for tree, by_engine in timings.items():
        timing = by_engine["dowse"]
        figures += [
            Figure(f"{tree}: indexing CPU", timing.index_cpu_ms, "ms"),
            Figure(f"{tree}: indexing wall", timing.index_wall_ms, "ms"),
            Figure(f"{tree}: warm query p50", statistics.median(timing.query_ms), "ms"),
            Figure(f"{tree}: warm command CPU", commands[tree]["dowse"], "ms"),
        ]
    yield Outcome(name="speed", title="Speed of dowse alone", figures=figures, notes=(), official=False)


def _make_comparison(name: str, ours: float, theirs: float) -> Figure:
    return Figure(name, ours, "ms", beside=f"semble: {theirs:.1f} ms")


def _make_details(timings: Mapping[str, Mapping[str, Timing]]) -> dict[str, dict[str, dict[str, float]]]:
    return {
        tree: {
            engine: {
                "index_cpu_ms": round(timing.index_cpu_ms, 1),
                "index_wall_ms": round(timing.index_wall_ms, 1),
                "query_p50_ms": round(statistics.median(timing.query_ms), 3),
                "query_cpu_p50_ms": round(statistics.median(timing.query_cpu_ms), 3),
            }
            for engine, timing in by_engine.items()
        }
        for tree, by_engine in timings.items()
    }
