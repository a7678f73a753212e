"""Fuzz one target or all: ``python -m fuzz [TARGET...] [--runs N] [--seconds N]``.

Every target runs in a process of its own, with a limit of time for each input and one of memory. New inputs that
reach new code are saved in ``.fuzz/corpus`` and tried first by the next run; one that fails, in ``.fuzz/failures``.
"""

from __future__ import annotations

import argparse
import os
import re
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from benchmarks import results
from benchmarks.bench_types import Figure, Outcome, at_least, at_most

from fuzz.targets import TARGETS, Target

ROOT = Path(__file__).parent.parent
CORPUS = Path(__file__).with_name("corpus")
SCRATCH = ROOT / ".fuzz"

TOTAL_RUNS = 1_200_000
"""Runs of all targets together: half an hour on two cores."""

INPUT_SECONDS = 10
"""Limit for one input; a reader takes a millisecond, and a machine may be busy."""

MEMORY_MB = 1024
"""Limit for one process: Python with numpy and the grammars takes a fifth of it."""

OFFICIAL_RUNS = 1_000_000
"""A result is written only after so many runs."""

CRASH_STATUS, TIMEOUT_STATUS, MEMORY_STATUS = 77, 70, 71
FAILURES = {TIMEOUT_STATUS: "time-out", MEMORY_STATUS: "too much memory"}
"""Exit statuses of libFuzzer; any other status is a crash."""

_EXECUTED = re.compile(r"stat::number_of_executed_units: (\d+)|^Done (\d+) runs|^#(\d+)\t", re.MULTILINE)
_COVERAGE = re.compile(r"cov: (\d+)")


@dataclass(frozen=True, slots=True)
class Run:
    """Result of one target; ``failure`` is empty if there was none."""

    target: str
    runs: int
    seconds: float
    coverage: int
    failure: str
    output: str = ""


def main() -> int:
    """Fuzz the chosen targets, print a table, write the result; return 1 if anything failed."""
    args = _parse_arguments()
    chosen = [TARGETS[name] for name in args.targets] or list(TARGETS.values())
    total = sum(target.share for target in chosen)
    finished = []
    print(_ROW.format("target", "runs", "seconds", "branches", "crashes"))
    for target in chosen:
        one = fuzz(target, -(-args.runs * target.share // total), args.seconds)
        finished.append(one)
        row = (target.name, f"{one.runs:,}", f"{one.seconds:.0f}", one.coverage, one.failure or "0")
        print(_ROW.format(*row), flush=True)
    failed = [one for one in finished if one.failure]
    print(
        _ROW.format(
            "all",
            f"{sum(one.runs for one in finished):,}",
            f"{sum(one.seconds for one in finished):.0f}",
            "",
            len(failed),
        )
    )
    for one in failed:
        print(
            f"\n{one.target}: {one.failure}; inputs are in {SCRATCH / 'failures' / one.target}\n{one.output}"
        )
    if len(chosen) == len(TARGETS) and sum(one.runs for one in finished) >= OFFICIAL_RUNS:
        results.write(summarize(finished))
    return 1 if failed else 0


_ROW = "{:<16} {:>10} {:>8} {:>9} {:>8}"


def _parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m fuzz", description="Fuzz every reader of foreign bytes.")
    parser.add_argument("targets", nargs="*", metavar="TARGET", help=f"of {', '.join(TARGETS)}; default: all")
    parser.add_argument("--runs", type=int, default=TOTAL_RUNS, help="inputs in all, shared by the targets")
    parser.add_argument("--seconds", type=int, default=0, help="most seconds for each target (0: no limit)")
    args = parser.parse_args()
    if unknown := set(args.targets) - set(TARGETS):
        parser.error(f"unknown target {', '.join(sorted(unknown))}: known are {', '.join(TARGETS)}")
    return args


def fuzz(target: Target, runs: int, seconds: int) -> Run:
    """Fuzz one target in a process of its own."""
    grown, failures = SCRATCH / "corpus" / target.name, SCRATCH / "failures" / target.name
    for folder in (grown, failures):
        folder.mkdir(parents=True, exist_ok=True)
    options = [
        f"-runs={runs}",
        f"-max_len={target.max_bytes}",
        f"-timeout={INPUT_SECONDS}",
        f"-rss_limit_mb={MEMORY_MB}",
        f"-max_total_time={seconds}",
        f"-artifact_prefix={failures}{os.sep}",
        "-print_final_stats=1",
        "-verbosity=1",
    ]
    folders = [str(folder) for folder in (grown, CORPUS / target.name) if folder.is_dir()]
    start = time.monotonic()
    done = subprocess.run(
        [sys.executable, "-m", "fuzz.drive", target.name, *options, *folders],
        cwd=ROOT,
        capture_output=True,
        encoding="utf-8",
        errors="replace",
        check=False,
    )
    text = done.stdout + done.stderr
    counts = [int(next(filter(None, groups))) for groups in _EXECUTED.findall(text)]
    branches = [int(count) for count in _COVERAGE.findall(text)]
    failure = FAILURES.get(done.returncode, f"crash ({done.returncode})") if done.returncode else ""
    return Run(
        target.name,
        max(counts, default=0),
        time.monotonic() - start,
        max(branches, default=0),
        failure,
        text[-4000:],
    )


def summarize(finished: Sequence[Run]) -> Outcome:
    """Make a result of how the targets went."""
    failed = [one for one in finished if one.failure]
    details = [asdict(one) | {"seconds": round(one.seconds, 1)} for one in finished]
    for row in details:
        del row["output"]
    return Outcome(
        "fuzz",
        "Fuzzing of every reader of foreign bytes",
        (
            Figure("targets", len(finished)),
            Figure("runs", sum(one.runs for one in finished), "runs", at_least(OFFICIAL_RUNS)),
            Figure("crashes, time-outs, too much memory", len(failed), "targets", at_most(0)),
            Figure("time", sum(one.seconds for one in finished), "s"),
        ),
        notes=(
            f"coverage-guided (atheris); at most {INPUT_SECONDS} s and {MEMORY_MB} MB for an input; runs of each "
            "target are in the JSON file",
        ),
        details={"targets": details},
    )


if __name__ == "__main__":
    sys.exit(main())
