"""Work without the collector does not keep a long-lived process from collecting."""

from __future__ import annotations

import gc
import weakref

from dowse import gc_pause
from dowse.gc_pause import gc_paused


class Knot:
    """Something that only the collector can free."""

    def __init__(self) -> None:
        self.itself = self


def test_small_work_done_often_leaves_the_collector_its_count() -> None:
    per_round = gc.get_threshold()[0] // 3
    knots: list[weakref.ref[Knot]] = []
    for _ in range(60):
        knots += [weakref.ref(Knot()) for _ in range(per_round)]
        with gc_paused():
            pass
    alive = sum(knot() is not None for knot in knots)
    assert alive < len(knots) / 2
    assert gc.isenabled()


def test_what_large_work_made_is_not_looked_at_soon() -> None:
    with gc_paused():
        assert not gc.isenabled()
        made: list[list[int]] = [[] for _ in range(gc_pause.MIN_FROZEN_VALUES + 1)]
    assert gc.get_count()[0] < gc_pause.MIN_FROZEN_VALUES
    assert gc.isenabled()
    assert len(made) > gc_pause.MIN_FROZEN_VALUES


def test_it_stays_off_where_it_was_off() -> None:
    gc.disable()
    try:
        with gc_paused():
            pass
        assert not gc.isenabled()
    finally:
        gc.enable()
