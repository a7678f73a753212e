"""Measure wall time, CPU time and peak memory."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from benchmarks.competitors.serve import cpu_seconds


class Elapsed(NamedTuple):
    """Seconds of wall time and of CPU time (children included)."""

    wall: float
    cpu: float


def measure_time(work: Callable[[], object]) -> Elapsed:
    """Measure the time that a call takes."""
    wall, cpu = time.perf_counter(), cpu_seconds()
    work()
    return Elapsed(time.perf_counter() - wall, cpu_seconds() - cpu)


def read_peak_memory_mb() -> float:
    """Read the peak resident memory of this process in MB; 0 where the system does not say."""
    try:
        lines = Path("/proc/self/status").read_text(encoding="ascii", errors="replace").splitlines()
    except OSError:
        return 0.0
    return next((int(line.split()[1]) * 1024 / 1e6 for line in lines if line.startswith("VmHWM:")), 0.0)
