"""Cost of incremental indexing: a copy of a tree of about 7,000 files is indexed, changed, and searched again.

A change is followed by a search, as it is for a user; what is reported is what that search takes more than
one before which nothing has changed. Then a search checks what the change added or removed.

Changed files are made some seconds old first: one that was written only moments ago is read again by the
next search too, by design, which is not what is measured here.
"""

from __future__ import annotations

import argparse
import os
import random
import shutil
import statistics
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from benchmarks import data
from benchmarks.bench_types import Figure, Outcome, Target, at_least, below
from benchmarks.stage_clock import measure_time
from dowse import Engine

QUERY = "where is the query set evaluated"
RUNS = 5
SWITCHED_FILES = 200
"""Files that differ between the two branches."""

AGE_SECONDS = 10
"""Seconds that a changed file is made older by."""

ADDED_CODE = "\ndef {name}():\n    return 'put here by a benchmark'\n"
"""Code that a change adds to a file."""


class Trace(NamedTuple):
    """Evidence of a change in the index: a name, where it must be found, and where it must not."""

    name: str
    there: Path | None = None
    gone: Path | None = None


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add no options."""


def run(args: argparse.Namespace) -> Iterator[Outcome]:
    """Measure all kinds of change, one after the other, on one copy."""
    source = data.find_folder("BENCH_BIG_TREE")
    with tempfile.TemporaryDirectory(prefix="dowse-benchmark-", ignore_cleanup_errors=True) as folder:
        root = Path(folder) / "tree"
        shutil.copytree(source, root, symlinks=True, ignore=shutil.ignore_patterns(".git", ".dowse"))
        with Engine.open(root) as engine:
            figures = Changes(engine).measure()
            status = engine.status()
    yield Outcome(
        name="incremental",
        title="What changes cost",
        figures=figures,
        notes=(
            f"{status.files} files and {status.chunks} chunks in the index, {status.size_bytes / 1e6:.0f} MB",
            "extra: of the next search, over one before which nothing has changed; "
            f"median of {RUNS} for changes of one file",
        ),
    )


class Changes:
    """One tree and its engine, changed again and again."""

    def __init__(self, engine: Engine) -> None:
        self.engine = engine
        self.plain_ms = 0.0
        self.right: list[bool] = []

    def measure(self) -> list[Figure]:
        """Measure every kind of change, in order."""
        full = measure_time(self.engine.index)
        again = statistics.median(measure_time(self.engine.index).wall for _ in range(RUNS))
        self._time_search()
        self.plain_ms = statistics.median(self._time_search() for _ in range(RUNS))
        files = self._list_python_files()
        figures = [
            Figure("full index, wall", full.wall, "s"),
            Figure("full index, CPU", full.cpu, "s"),
            Figure("index again, nothing changed", again, "s", below(1.0)),
            Figure("search, nothing changed", self.plain_ms, "ms"),
            self._measure_extra("one file changed", files, _change, below(200)),
            self._measure_extra("one file added", files[RUNS:], _add),
            self._measure_extra("one file renamed", files[2 * RUNS :], _rename),
            self._measure_extra("one file deleted", files[3 * RUNS :], _delete),
            *self._measure_switch(files[4 * RUNS :][:SWITCHED_FILES]),
        ]
        share = statistics.mean(self.right)
        return [*figures, Figure("changes that the next answers knew of", share, target=at_least(1))]

    def _list_python_files(self) -> list[Path]:
        """List the indexed Python files that are not empty, in random order."""
        with self.engine.store.snapshot() as snapshot:
            known = snapshot.manifest().items()
            paths = sorted(path for path, file in known if path.endswith(".py") and file.stamp.size)
        random.Random(0).shuffle(paths)
        return [self.engine.root / path for path in paths]

    def _measure_extra(
        self, name: str, files: Sequence[Path], change: Callable[[Path], Trace], target: Target | None = None
    ) -> Figure:
        times = []
        for path in files[:RUNS]:
            trace = change(path)
            times.append(self._time_search())
            self._check(trace)
        return Figure(f"{name}, extra", statistics.median(times) - self.plain_ms, "ms", target)

    def _measure_switch(self, files: Sequence[Path]) -> Iterator[Figure]:
        """Change many files at once, then change them back to contents that are already indexed."""
        before = {path: path.read_bytes() for path in files}
        traces = [_change(path) for path in files]
        there = self._time_search()
        self._check(traces[-1])
        for path, content in before.items():
            path.write_bytes(content)
            _make_older(path, AGE_SECONDS // 2)
        back = self._time_search()
        self._check(Trace(traces[-1].name, gone=traces[-1].there))
        yield Figure(f"{len(files)} files changed at once, extra", there - self.plain_ms, "ms")
        yield Figure(f"the same {len(files)} files changed back, extra", back - self.plain_ms, "ms")

    def _time_search(self) -> float:
        """Time a search as after a pause: within a burst, dowse does not check the disk every time."""
        self.engine.force_check()
        return measure_time(lambda: self.engine.search(QUERY)).wall * 1e3

    def _check(self, trace: Trace) -> None:
        found = {self.engine.root / hit.path for hit in self.engine.search(trace.name).results}
        self.right.append((trace.there is None or trace.there in found) and trace.gone not in found)


def _change(path: Path) -> Trace:
    name = _make_unique_name(path)
    path.write_bytes(path.read_bytes() + ADDED_CODE.format(name=name).encode())
    _make_older(path)
    return Trace(name, there=path)


def _add(path: Path) -> Trace:
    name = _make_unique_name(path)
    new = path.with_name(f"{name}.py")
    new.write_text(ADDED_CODE.format(name=name), encoding="utf-8")
    _make_older(new)
    return Trace(name, there=new)


def _rename(path: Path) -> Trace:
    target = path.with_name(f"{_make_unique_name(path)}.py")
    path.rename(target)
    return Trace(target.name, there=target, gone=path)


def _delete(path: Path) -> Trace:
    path.unlink()
    return Trace(path.name, gone=path)


def _make_unique_name(path: Path) -> str:
    """Make a name that is nowhere in the tree."""
    return "dowsed_" + path.resolve().as_posix().encode().hex()[-40:]


def _make_older(path: Path, seconds: int = AGE_SECONDS) -> None:
    then = time.time() - seconds
    os.utime(path, (then, then))
