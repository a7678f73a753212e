"""How long the command has been running, with the start of Python."""

from __future__ import annotations

import os
import time

_IMPORTED = time.monotonic()


def measure_elapsed(process: int | str = "self") -> float:
    """Measure the seconds since a process was started, by default this one; else since this was imported."""
    try:
        with open(f"/proc/{process}/stat", "rb") as file:
            started = int(file.read().rpartition(b")")[2].split()[19]) / os.sysconf("SC_CLK_TCK")
        return time.clock_gettime(time.CLOCK_BOOTTIME) - started
    except (OSError, AttributeError, ValueError, IndexError):
        return time.monotonic() - _IMPORTED
