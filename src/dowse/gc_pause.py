"""Work during which looking for garbage would only take time."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager

MANY = 100_000
"""Values left by the work from which on they are passed off as old: to look at fewer takes milliseconds. To do so
starts the collector's count anew: done after every small change, a long-lived process would never collect anything."""


@contextmanager
def uncollected() -> Iterator[None]:
    """Without the collector, for work that makes many small values and no cycles: it would look at all of them."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            if gc.get_count()[0] > MANY and not gc.get_freeze_count():
                gc.freeze()  # and at once unfrozen, all that was made counts as old, which is looked at last
                gc.unfreeze()
            gc.enable()
