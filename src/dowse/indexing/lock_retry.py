"""Retry while another process writes the index: how long, how often, and what is reported as progress meanwhile."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TYPE_CHECKING, TypeVar

from dowse.errors import IndexLocked

if TYPE_CHECKING:
    from dowse.indexing.pipeline import Progress

LOCKED_SECONDS = 120.0
LOCKED_PAUSE_SECONDS = 0.2
"""How long, and how often, work is tried again while another process writes the index."""

WAIT_STAGE = "wait"
"""The stage that is reported as progress meanwhile."""

Result = TypeVar("Result")


def retry_while_locked(work: Callable[[], Result], progress: Progress | None) -> Result:
    """Do work, again and again for a while if another process is writing the index; return its result."""
    until = time.monotonic() + LOCKED_SECONDS
    while True:
        try:
            return work()
        except IndexLocked:
            if time.monotonic() > until:
                raise
        if progress:
            progress(WAIT_STAGE, 0, 0)
        time.sleep(LOCKED_PAUSE_SECONDS)
