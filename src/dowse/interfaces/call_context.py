"""Progress notifications and cancellation of one call to a server (MCP, HTTP)."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable

from dowse.interfaces.progress import describe_progress

NOTIFY_SECONDS = 0.2
"""Pause between two notifications of progress."""

Notify = Callable[[float, float, str], None]
"""Tells the client how much is done, of how much, and in words."""


class Cancelled(Exception):
    """Raised in a call that the client has cancelled."""


class Call:
    """Sends progress to the client, and stops the work when the client cancels: at its next report of progress."""

    def __init__(self, notify: Notify | None = None) -> None:
        self.cancelled = threading.Event()
        self._notify = notify
        self._since: dict[str, float] = {}
        self._last = 0.0
        self._percent: float | None = None

    def cancel(self) -> None:
        """Stop the work at its next step."""
        self.cancelled.set()

    def check(self) -> None:
        """Raise if the call was cancelled."""
        if self.cancelled.is_set():
            raise Cancelled

    def progress(self, stage: str, done: int, total: int) -> None:
        """Report progress; the engine calls this."""
        self.check()
        now = time.monotonic()
        since = self._since.setdefault(stage, now)
        percent = 100.0 * done / total if total else 0.0
        grows = self._percent is None or percent > self._percent
        if not self._notify or not grows or now - self._last < NOTIFY_SECONDS:
            return
        self._last, self._percent = now, percent  # the protocol wants it to grow
        self._notify(percent, 100.0, describe_progress(stage, done, total, now - since))
