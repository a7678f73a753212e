"""Garbage collector pause: disable Python's cyclic GC during work that allocates many objects and no cycles."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager

MIN_FROZEN_VALUES = 100_000
"""If the work leaves more values than this, they count as old afterwards; to collect fewer takes milliseconds. Doing so
resets the counters of the collector: after every small change, a long-lived process would never collect anything."""


@contextmanager
def gc_paused() -> Iterator[None]:
    """Pause the collector, which would visit all the small values that the work makes, again and again."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            if gc.get_count()[0] > MIN_FROZEN_VALUES and not gc.get_freeze_count():
                gc.freeze()  # freezing and unfreezing moves all values to the oldest generation, which is visited last
                gc.unfreeze()
            gc.enable()
