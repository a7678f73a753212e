"""Feature definition: the group a ranking feature belongs to, the sign its weight may have, and its prior."""

from __future__ import annotations

from typing import NamedTuple


class Feature(NamedTuple):
    """How the weight of a feature is learned.

    ``sign`` 1 means that it may only help, -1 that it may only hurt, 0 either. ``prior`` is the weight of a feature
    that the training queries say nothing about; the more they say, the less it counts. ``least`` is the least weight
    of what a query names in so many words, whatever the few training queries say that name such a thing.
    """

    group: str
    sign: int
    prior: float = 0.0
    least: float = 0.0


Values = tuple[float, ...]
"""The values of some features of a file or a place, in the order of their table."""
