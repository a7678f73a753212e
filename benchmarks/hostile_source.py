"""CPU time and memory of hostile source files: each shape of ``hostile_shapes`` in every grammar.

A file is analyzed in a process of its own as the indexer does it: secrets are masked, then it is parsed with a short
time limit; if that is not enough, within the limits of a worker; beyond these it is cut by lines. CPU time and memory
are those of that process, minus those of a process that does nothing.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any, NamedTuple

from benchmarks import hostile_shapes
from benchmarks.bench_types import Figure, Outcome, at_most
from dowse.code import languages, parsing, secrets
from dowse.code.languages.spec import Language
from dowse.indexing import guard
from dowse.indexing.analyze_file import ParserConfig, PendingFile, analyze_by_lines, analyze_quickly
from dowse.indexing.workers import attempt

SIZES = (1_000, 10_000, 100_000, 1_000_000)
CPU_SECONDS = 10.0
MEMORY_MB = 300.0
WORST_ROWS = 25
"""Rows in the details of the result."""

PARSER_CONFIG = ParserConfig(languages.load_builtin(), 1000, 0)


class Case(NamedTuple):
    """Time and memory of one file."""

    language: str
    shape: str
    size: int
    seconds: float
    megabytes: float
    is_guarded: bool  # not done in a moment: a worker of the indexer does it
    is_over: bool  # beyond the limits of a worker: cut by lines


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Let the sizes and languages be chosen."""
    group = parser.add_argument_group("hostile_source")
    group.add_argument("--hostile-sizes", type=int, nargs="+", default=list(SIZES), help="bytes of the files")
    group.add_argument("--hostile-languages", nargs="+", default=[], help="[default: all with a grammar]")


def run(args: argparse.Namespace) -> Iterator[Outcome]:
    """Measure all shapes of all grammars, two at a time."""
    names = args.hostile_languages or [
        one.name for one in PARSER_CONFIG.languages.by_name.values() if one.grammar
    ]
    with ThreadPoolExecutor(2) as pool:
        found = pool.map(lambda name: _measure_apart(name, args.hostile_sizes), names)
        cases = [case for rows in found for case in rows]
    yield _make_outcome(cases, args.hostile_sizes, len(names))


def _make_outcome(cases: Sequence[Case], sizes: Sequence[int], grammars: int) -> Outcome:
    slow = [case for case in cases if case.seconds > CPU_SECONDS]
    large = [case for case in cases if case.megabytes > MEMORY_MB]
    by_time = sorted(cases, key=lambda case: -case.seconds)[:WORST_ROWS]
    by_memory = sorted(cases, key=lambda case: -case.megabytes)[:WORST_ROWS]
    return Outcome(
        name="hostile-source",
        title="Files that were made to take all time and memory",
        figures=[
            Figure("most CPU time of a file", by_time[0].seconds, "s", at_most(CPU_SECONDS)),
            Figure("most memory of a file", by_memory[0].megabytes, "MB", at_most(MEMORY_MB)),
            Figure("files above that time", len(slow), f"of {len(cases)}", at_most(0)),
            Figure("files above that memory", len(large), f"of {len(cases)}", at_most(0)),
            *_make_size_figures(cases, sizes),
            Figure("files that a worker is for", sum(case.is_guarded for case in cases), f"of {len(cases)}"),
            Figure("files cut by lines", sum(case.is_over for case in cases), f"of {len(cases)}"),
        ],
        notes=(f"{grammars} grammars; files of {', '.join(f'{size:,}' for size in sizes)} bytes",),
        details={
            "slowest": [case._asdict() for case in by_time],
            "largest": [case._asdict() for case in by_memory],
            "by_shape": _find_worst_by_shape(cases),
        },
    )


def _make_size_figures(cases: Sequence[Case], sizes: Sequence[int]) -> Iterator[Figure]:
    """Say what the worst file of each size takes: more by a constant and by its size, not by its square."""
    for size in sizes:
        same = [case for case in cases if case.size == size]
        seconds, megabytes = max(case.seconds for case in same), max(case.megabytes for case in same)
        yield Figure(f"most CPU time of a file of {size:,} bytes", seconds, "s")
        yield Figure(f"most memory of a file of {size:,} bytes", megabytes, "MB")


def _find_worst_by_shape(cases: Sequence[Case]) -> dict[str, dict[str, Any]]:
    """Find the slowest and the largest file of each shape, the slowest first; keywords count as one shape."""
    shapes: dict[str, list[Case]] = {}
    for case in cases:
        shapes.setdefault("keyword" if case.shape.startswith("keyword ") else case.shape, []).append(case)
    worst = {
        shape: {
            "slowest": max(rows, key=lambda case: case.seconds)._asdict(),
            "largest": max(rows, key=lambda case: case.megabytes)._asdict(),
        }
        for shape, rows in shapes.items()
    }
    return dict(sorted(worst.items(), key=lambda row: -row[1]["slowest"]["seconds"]))


def _measure_apart(language: str, sizes: Sequence[int]) -> list[Case]:
    """Measure the shapes of a language in a process that has no threads, and may fork."""
    command = [sys.executable, "-m", "benchmarks.hostile_source", language, *map(str, sizes)]
    out = subprocess.run(command, stdout=subprocess.PIPE, check=True)
    cases = [Case(*row) for row in json.loads(out.stdout)]
    slowest, largest = max(case.seconds for case in cases), max(case.megabytes for case in cases)
    print(f"{language}: {len(cases)} files, {slowest:.1f} s, {largest:.0f} MB", file=sys.stderr, flush=True)
    return cases


def _measure(language: Language, sizes: Sequence[int]) -> list[Case]:
    parsing.find_problem(language)  # loads the grammar
    path = f"a{language.extensions[0]}" if language.extensions else language.filenames[0]
    idle = _fork(PendingFile(path, b"\n", None))
    cases = []
    for size in sizes:
        for shape, content in hostile_shapes.texts(language, size).items():
            used = _fork(PendingFile(path, content, None))
            seconds, megabytes = max(0.0, used[0] - idle[0]), max(0.0, used[1] - idle[1])
            cases.append(Case(language.name, shape, size, round(seconds, 2), round(megabytes, 1), *used[2:]))
    return cases


def _fork(task: PendingFile) -> tuple[float, float, bool, bool]:
    """Analyze a file; return seconds, megabytes, whether it needs a worker, whether it exceeds one."""
    code, seconds, megabytes = _wait(lambda: _try_quickly(task))
    if code == 0:
        return seconds, megabytes, False, False
    code, more, most = _wait(lambda: _try_guarded(task))
    if code == 0:
        return seconds + more, max(megabytes, most), True, False
    _, last, _ = _wait(lambda: _cut(task))
    return seconds + more + last, max(megabytes, most), True, True


def _try_quickly(task: PendingFile) -> bool:
    content, _ = secrets.mask(task.content, task.path)
    return analyze_quickly(PARSER_CONFIG, [task._replace(content=content)])[0] is not None


def _try_guarded(task: PendingFile) -> bool:
    guard.limit([task])
    return not attempt(PARSER_CONFIG, [task])[0].error


def _cut(task: PendingFile) -> bool:
    return bool(analyze_by_lines(PARSER_CONFIG, task).terms)


def _wait(work: Any) -> tuple[int, float, float]:
    """Do something in a child: 0 if that succeeds, its CPU seconds and its megabytes."""
    pid = os.fork()
    if pid == 0:
        try:
            os._exit(0 if work() else 1)
        except BaseException:  # the outermost edge of the child
            os._exit(2)
    _, status, used = os.wait4(pid, 0)
    return status, used.ru_utime + used.ru_stime, used.ru_maxrss / 1024


if __name__ == "__main__":
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    chosen = PARSER_CONFIG.languages.by_name[sys.argv[1]]
    print(json.dumps(_measure(chosen, [int(size) for size in sys.argv[2:]])))
