"""Stage timing: how many milliseconds each stage of a search took (profiling)."""

from __future__ import annotations

import time

from dowse.types.answers import Stage


class StageTimer:
    """A stopwatch that is read at the end of each stage."""

    def __init__(self) -> None:
        self._started = self._last = time.perf_counter()
        self._stages: list[Stage] = []

    def finish(self, name: str) -> None:
        """End a stage; the next one begins."""
        now = time.perf_counter()
        self._stages.append(Stage(name, (now - self._last) * 1e3))
        self._last = now

    @property
    def stages(self) -> tuple[Stage, ...]:
        """The stages so far."""
        return tuple(self._stages)

    @property
    def milliseconds(self) -> float:
        """The time up to the end of the last stage."""
        return (self._last - self._started) * 1e3
