"""Progress bar on standard error: share done, throughput and estimated time left.

A thread of its own draws it, late and seldom: work that is done soon shows nothing.
"""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import click

DELAY_SECONDS = 0.3
"""Work that takes less time than this shows no bar."""

REDRAW_SECONDS = 0.1

BAR_WIDTH = 24

_STAGE_NAMES = {
    "discover": "looking for files",
    "index": "indexing",
    "embed": "embedding",
    "evaluate": "asking",
    "copy": "copying",
    "wait": "waiting for another process to index",
}

_COUNTED_NOUNS = {"evaluate": "queries", "copy": "files"}
"""Stages whose work is counted in items, not in bytes."""


@contextmanager
def progress_line() -> Iterator[Callable[[str, int, int], None] | None]:
    """Give the engine a callback while the work lasts; None if standard error is no terminal."""
    if not sys.stderr.isatty():
        yield None
        return
    line = _ProgressLine()
    drawing = threading.Thread(target=line.draw, name="dowse-progress", daemon=True)
    drawing.start()
    try:
        yield line.update
    finally:
        line.finished.set()
        drawing.join()


class _ProgressLine:
    """The state of the work, and the drawing of it."""

    def __init__(self) -> None:
        self.finished = threading.Event()
        self._now = ("discover", 0, 0)
        self._since = {"discover": time.monotonic()}  # when each stage began; some alternate

    def update(self, stage: str, done: int, total: int) -> None:
        """Show how far a stage is."""
        self._since.setdefault(stage, time.monotonic())
        self._now = (stage, done, total)

    def draw(self) -> None:
        """Draw until the work is finished, then clear the line."""
        if self.finished.wait(DELAY_SECONDS):
            return
        from shutil import get_terminal_size

        width = 0
        while not self.finished.is_set():
            now = self._now
            text = describe_progress(*now, time.monotonic() - self._since[now[0]])[
                : get_terminal_size().columns - 1
            ]
            click.echo("\r" + text.ljust(width), err=True, nl=False)
            width = len(text)
            self.finished.wait(REDRAW_SECONDS)
        click.echo("\r" + " " * width + "\r", err=True, nl=False)


def describe_progress(stage: str, done: int, total: int, seconds: float) -> str:
    """Describe progress on one line: ``indexing [#####-----] 50%  12.0 of 24.0 MB  6.0 MB/s  0:02 left``."""
    name = _STAGE_NAMES.get(stage, stage)
    if not total:
        return f"{name} ... {_format_duration(seconds)}"
    share = min(1.0, done / total)
    bar = ("#" * round(share * BAR_WIDTH)).ljust(BAR_WIDTH, "-")
    rate = done / seconds if seconds > 0 else 0.0
    left = f"{_format_duration((total - done) / rate)} left" if rate else ""
    amount = f"{done / 1e6:.1f} of {total / 1e6:.1f} MB  {rate / 1e6:.1f} MB/s"
    if stage in _COUNTED_NOUNS:
        amount = f"{done} of {total} {_COUNTED_NOUNS[stage]}  {rate:.0f}/s"
    return f"{name} [{bar}] {share:4.0%}  {amount}  {left}".rstrip()


def _format_duration(seconds: float) -> str:
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes}:{rest:02}"
