"""Work during which looking for garbage would only take time."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def uncollected() -> Iterator[None]:
    """Without the collector, for work that makes many small values and no cycles: it would look at all of them."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            if not gc.get_freeze_count():
                gc.freeze()  # and at once unfrozen, all that was made counts as old, which is looked at last
                gc.unfreeze()
            gc.enable()
