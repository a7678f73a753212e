"""Finds the largest of many numbers, and rounds some, without numpy, which takes longer to import and more memory than
a search.

A float between 2 and 8 has the same first byte whatever it is, and the second one, its level, says where in between it
lies. These bytes are one string, and what Python does with strings (delete, translate, find) is done in C. In the same
way, a small number that is added to a large one is rounded, and its last byte is the whole number that it becomes.
"""

from __future__ import annotations

import re
import struct
import sys
from array import array
from bisect import bisect_left
from collections.abc import Iterable, Sequence
from functools import lru_cache
from itertools import chain
from typing import Any

LOWEST, MIDDLE, LIMIT = 2.0, 3.0, 8.0
"""Numbers from the lowest up to the limit are those that this is fast for; a cosine, added to the middle, is one."""

SAMPLED, MOST_SAMPLED = 64, 4096
"""One in so many is looked at to guess which are the largest, and about so many at most."""

CLOSE = 0.001
"""Numbers that differ by less may be in either order: they were rounded."""

LEVELS = 127
"""The largest number of a vector becomes this when it is rounded to int8."""

ROUNDING = 1.5 * 2**23
"""Added to a float32, this leaves no room for a fraction, nor changes the last byte of what is left."""

_FIRST, _SECOND = (3, 2) if sys.byteorder == "little" else (0, 1)
_LAST = 3 - _FIRST
_FIRST_BYTE = 0x40
_EVERY = bytes(range(256))
_BELOW = [_EVERY[:level] for level in range(256)]
_FROM = [bytes(level) + b"\1" * (256 - level) for level in range(256)]


def largest(
    numbers: bytes, limit: int, among: Iterable[range] | None = None, floor: float = LOWEST
) -> Sequence[int]:
    """Places of the largest of some numbers (float32, packed) in ascending order, with a few more that come close.

    ``among`` limits it to some places, ``floor`` to those that are as large or close to it. Where numbers are not
    all between 2 and 8, every place is one.
    """
    if numbers[_FIRST::4].count(_FIRST_BYTE) < len(numbers) // 4:
        return _all(len(numbers) // 4, among)
    lowest = struct.pack("f", max(LOWEST, floor - CLOSE))[_SECOND]
    flags = highest(levels(numbers), limit, among, lowest)
    return [found.start() for found in re.finditer(b"\1", flags)]


def levels(numbers: bytes) -> bytes:
    """The levels of numbers from 2 up to 8 (float32, packed)."""
    return numbers[_SECOND::4]


def highest(found: bytes, limit: int, among: Iterable[range] | None = None, lowest: int = 0) -> bytes:
    """A one at the place of each of the highest levels, and of those that equal the last of them; else a zero."""
    if among is not None:
        among = list(among)
        found = _only(found, among)
    if level := _level(found, limit, lowest):
        return found.translate(_FROM[level])
    every = b"\1" * len(found)
    return every if among is None else _only(every, among)


def rounded(numbers: Sequence[float], factor: float) -> bytes:
    """Numbers from -127 to 127, when they are multiplied by a factor, as int8."""
    import simsimd

    ones, rounding = _constants(len(numbers))
    given: Any = array("f", numbers)
    made: Any = simsimd.fma(given, ones, rounding, alpha=factor, beta=1.0)
    return memoryview(made).tobytes()[_LAST::4]


def rounded_rows(matrix: Any) -> tuple[Any, Any]:
    """Rows of numbers as int8, and for each row what to multiply it by; with numpy, since there are many."""
    import numpy as np

    scales = np.abs(matrix).max(axis=1) / np.float32(LEVELS)
    return np.rint(matrix / np.where(scales > 0, scales, 1)[:, None]).astype(np.int8), scales


@lru_cache(maxsize=8)
def _constants(count: int) -> tuple[Any, Any]:
    return array("f", [1.0]) * count, array("f", [ROUNDING]) * count


def _all(count: int, among: Iterable[range] | None) -> Sequence[int]:
    return range(count) if among is None else sorted(chain.from_iterable(among))


def _only(levels: bytes, among: Iterable[range]) -> bytes:
    """The same, but for what lies elsewhere, which is of the lowest level."""
    found = bytearray(len(levels))
    for places in among:
        found[places.start : places.stop] = levels[places.start : places.stop]
    return bytes(found)


def _level(levels: bytes, limit: int, lowest: int) -> int:
    """The highest level from which on there are enough; the lowest if there are not."""
    step = max(SAMPLED, len(levels) // MOST_SAMPLED)
    sample, enough = levels[::step], 2 * limit // step + 4
    guess = bisect_left(_BELOW, True, key=lambda below: len(sample.translate(None, below)) < enough) - 1
    for level in range(max(guess, lowest), lowest - 1, -1):
        high = levels.translate(None, _BELOW[level])
        if len(high) >= limit:
            return sorted(high)[-limit]
    return lowest
