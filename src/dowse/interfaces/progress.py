"""A line on standard error that says how far long work has come, how fast it goes and how long it will take.

It is drawn by a thread of its own, late and seldom: work that is done soon shows nothing.
"""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import click

LATE_SECONDS = 0.3
"""Work that takes less is not worth a line."""

REDRAW_SECONDS = 0.1

BAR_WIDTH = 24

_STAGES = {
    "discover": "looking for files",
    "index": "indexing",
    "embed": "embedding",
    "evaluate": "asking",
    "copy": "copying",
    "wait": "waiting for another process to index",
}

_COUNTED = {"evaluate": "questions", "copy": "files"}
"""Stages whose work is counted, not weighed."""


@contextmanager
def progress_line() -> Iterator[Callable[[str, int, int], None] | None]:
    """A callback for the engine while the work lasts; None where nobody watches."""
    if not sys.stderr.isatty():
        yield None
        return
    line = _Line()
    drawing = threading.Thread(target=line.draw, name="dowse-progress", daemon=True)
    drawing.start()
    try:
        yield line.note
    finally:
        line.finished.set()
        drawing.join()


class _Line:
    """What is known of the work, and the drawing of it."""

    def __init__(self) -> None:
        self.finished = threading.Event()
        self._now = ("discover", 0, 0)
        self._since = {"discover": time.monotonic()}  # when each stage began; some alternate

    def note(self, stage: str, done: int, total: int) -> None:
        """Where the work is."""
        self._since.setdefault(stage, time.monotonic())
        self._now = (stage, done, total)

    def draw(self) -> None:
        """Draw until the work is finished, then leave the line as it was."""
        if self.finished.wait(LATE_SECONDS):
            return
        from shutil import get_terminal_size

        width = 0
        while not self.finished.is_set():
            now = self._now
            text = described(*now, time.monotonic() - self._since[now[0]])[: get_terminal_size().columns - 1]
            click.echo("\r" + text.ljust(width), err=True, nl=False)
            width = len(text)
            self.finished.wait(REDRAW_SECONDS)
        click.echo("\r" + " " * width + "\r", err=True, nl=False)


def described(stage: str, done: int, total: int, seconds: float) -> str:
    """``indexing [#####-----] 50%  12.0 of 24.0 MB  6.0 MB/s  0:02 left``."""
    name = _STAGES.get(stage, stage)
    if not total:
        return f"{name} ... {_clock(seconds)}"
    share = min(1.0, done / total)
    bar = ("#" * round(share * BAR_WIDTH)).ljust(BAR_WIDTH, "-")
    rate = done / seconds if seconds > 0 else 0.0
    left = f"{_clock((total - done) / rate)} left" if rate else ""
    amount = f"{done / 1e6:.1f} of {total / 1e6:.1f} MB  {rate / 1e6:.1f} MB/s"
    if stage in _COUNTED:
        amount = f"{done} of {total} {_COUNTED[stage]}  {rate:.0f}/s"
    return f"{name} [{bar}] {share:4.0%}  {amount}  {left}".rstrip()


def _clock(seconds: float) -> str:
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes}:{rest:02}"
