"""Crash safety: indexing is killed at random moments, and the index must stay intact.

Each round starts indexing a real tree in a process of its own, with small batches so that there is a commit
every few milliseconds, and kills it (SIGKILL) after a random time. Then: the index opens and can be
searched, the next run finishes, and what is in the index equals a clean build (``Store.dump``). Some rounds
kill the next run too before it may finish. Rounds take turns with one and with two workers.
"""

from __future__ import annotations

import argparse
import hashlib
import random
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from benchmarks.bench_types import Figure, Outcome, Tree, at_least
from benchmarks.sets import repositories
from dowse import Engine
from dowse.errors import DowseError, IndexMissing
from dowse.indexing import pipeline, workers
from dowse.types.queries import Term
from dowse.types.stored import Filter

KILLS = 50
TREE = "zod"
BATCH_BYTES = 50_000
"""Source bytes per commit in the killed process: about forty commits a run."""

LIMIT = 10

SEED = 7
QUERY = "how are errors of nested objects reported"
SECOND_KILL_EVERY = 5
"""In every fifth round the run after the kill is killed as well."""


class Round(NamedTuple):
    """Result of one kill."""

    after_ms: float
    killed: bool  # False: the run had already finished
    partial: bool  # some but not all files were in the index
    problem: str


def add_arguments(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("kills")
    group.add_argument("--kills", type=int, default=KILLS, help="how many [default: 50]")


def run(args: argparse.Namespace) -> Iterator[Outcome]:
    """Run rounds until so many kills have hit a run that was under way."""
    tree = next(tree for tree in repositories.trees() if tree.name == TREE)
    rounds = _run_rounds(tree, args.kills)
    killed = [one for one in rounds if one.killed]
    survived = [one for one in killed if not one.problem]
    problems = sorted({one.problem for one in rounds if one.problem})
    yield Outcome(
        name="kills",
        title="Kills in the middle of indexing",
        figures=[
            Figure("kills that did no harm", len(survived), f"of {len(killed)}", at_least(len(killed))),
            Figure("kills in mid-way", sum(one.partial for one in killed), f"of {len(killed)}"),
        ],
        notes=(f"tree: {tree.name}; commits of {BATCH_BYTES:,} bytes", *problems),
        details={"rounds": [one._asdict() for one in rounds]},
        official=args.kills == KILLS,
    )


def _run_rounds(tree: Tree, kills: int) -> list[Round]:
    chance = random.Random(SEED)
    rounds: list[Round] = []
    with tempfile.TemporaryDirectory(prefix="dowse-benchmark-", ignore_cleanup_errors=True) as folder:
        started = time.perf_counter()
        _start_child(tree.path, Path(folder) / "clean", 1).wait()
        duration = time.perf_counter() - started
        clean = _hash_contents(tree.path, Path(folder) / "clean")
        while sum(one.killed for one in rounds) < kills:
            number = len(rounds)
            index = Path(folder) / str(number)
            one = _run_round(tree.path, index, chance, duration, clean, number)
            print(f"kills: {number}: {one}", file=sys.stderr)
            rounds.append(one)
    return rounds


def _run_round(
    root: Path, index: Path, chance: random.Random, duration: float, clean: dict[str, str], number: int
) -> Round:
    """Kill one run, and check the index."""
    processes = 1 + number % 2
    delay = chance.uniform(0, duration)
    killed = _kill_run(root, index, processes, delay)
    problem, files = _check_index(root, index)
    if not problem and number % SECOND_KILL_EVERY == 0:
        _kill_run(root, index, processes, chance.uniform(0, duration))
        problem, _ = _check_index(root, index)
    if not problem and _start_child(root, index, processes).wait():
        problem = "the next run failed"
    if not problem:
        problem = _describe_difference(clean, _hash_contents(root, index))
    return Round(delay * 1e3, killed, 0 < files < _count_files(root, index), problem)


def _kill_run(root: Path, index: Path, processes: int, delay: float) -> bool:
    """Kill a run after a delay; return whether it was still under way."""
    child = _start_child(root, index, processes)
    time.sleep(delay)
    under_way = child.poll() is None
    child.kill()
    child.wait()
    return under_way


def _start_child(root: Path, index: Path, processes: int) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        [sys.executable, "-m", "benchmarks.kills", str(root), str(index), str(processes)],
        cwd=Path(__file__).parent.parent,
    )


def _check_index(root: Path, index: Path) -> tuple[str, int]:
    """Check the index after a kill; return the problem ("" if none) and the number of files."""
    with Engine.open(root, index_dir=str(index), refresh=False) as engine:
        try:
            with engine.store.snapshot() as snapshot:
                files = [snapshot.file_at(path) for path in snapshot.manifest()]
                snapshot.lexical([Term("request", 1.0)], {"body": 1.0}, Filter(), LIMIT)
        except IndexMissing:
            return "", 0  # nothing had been committed yet
        except DowseError as error:
            return f"the index cannot be read: {type(error).__name__}", 0
    return ("a file of the manifest is not in the index" if None in files else ""), len(files)


def _count_files(root: Path, index: Path) -> int:
    with Engine.open(root, index_dir=str(index)) as engine:
        return engine.status().files


def _hash_contents(root: Path, index: Path) -> dict[str, str]:
    """Hash everything that is searchable, by path."""
    with Engine.open(root, index_dir=str(index), refresh=False) as engine:
        rows = {str(row[0]): hashlib.sha256(repr(row).encode()).hexdigest() for row in engine.store.dump()}
        assert engine.search(QUERY).results
    return rows


def _describe_difference(clean: dict[str, str], found: dict[str, str]) -> str:
    """Describe how an index differs from a clean one ("" if it does not)."""
    lost, extra = len(clean.keys() - found.keys()), len(found.keys() - clean.keys())
    other = sum(clean[path] != found[path] for path in clean.keys() & found.keys())
    if not (lost or extra or other):
        return ""
    return f"{lost} files are lost, {extra} should not be there, {other} differ from a clean build"


def index_in_small_batches(root: str, index: str, processes: str) -> None:
    """Index with small batches: the work of the process that is killed."""
    pipeline.BATCH_BYTES = BATCH_BYTES
    workers.PARALLEL_BYTES = 0  # so that two workers are used however small the tree is
    with Engine.open(root, index_dir=index, workers=int(processes)) as engine:
        engine.index()


if __name__ == "__main__":
    index_in_small_batches(*sys.argv[1:])
