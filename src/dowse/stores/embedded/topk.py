"""Top-k selection (partial sort) over packed float32 scores without numpy, whose import takes longer than a search.

Scores from 2 up to 8 share their first byte, and their second byte, a level, orders them roughly. The levels are one
byte string, and what Python does with byte strings (delete, translate, find) runs in C.
"""

from __future__ import annotations

import re
import struct
import sys
from bisect import bisect_left
from collections.abc import Iterable, Sequence
from itertools import chain

MIN_FAST_VALUE, COSINE_OFFSET = 2.0, 3.0
"""Numbers from 2 up to 8 are those that this is fast for; a cosine plus the offset is one of them."""

SAMPLE_STEP, MAX_SAMPLE = 64, 4096
"""One number in so many is sampled to guess the threshold of the top k, and about so many at most."""

ROUNDING_ERROR = 0.001
"""Numbers that differ by less may be in either order: they were rounded."""

FIRST_BYTE_INDEX, SECOND_BYTE_INDEX = (3, 2) if sys.byteorder == "little" else (0, 1)
"""Where in a float32 its sign and exponent are, and where the rest of its exponent and its first digits."""

_FIRST_BYTE = 0x40
"""The first byte of every float32 from 2 up to 8."""

_ALL_BYTES = bytes(range(256))
_BYTES_BELOW = [_ALL_BYTES[:level] for level in range(256)]
_MASK_FROM = [bytes(level) + b"\1" * (256 - level) for level in range(256)]


def top_k_indices(
    numbers: bytes, limit: int, among: Iterable[range] | None = None, floor: float = MIN_FAST_VALUE
) -> Sequence[int]:
    """Find the indexes of the k largest numbers (float32, packed), ascending, with a few more that come close.

    ``among`` limits it to some ranges of indexes, ``floor`` to numbers that are as large or close to it. If not all
    numbers are between 2 and 8, every index is returned.
    """
    count = len(numbers) // 4
    among = None if among is None else list(among)
    if numbers[FIRST_BYTE_INDEX::4].count(_FIRST_BYTE) < count:
        return range(count) if among is None else sorted(chain.from_iterable(among))
    levels = numbers[SECOND_BYTE_INDEX::4]
    if among is not None:
        levels = _zero_others(levels, among)
    lowest = struct.pack("f", max(MIN_FAST_VALUE, floor - ROUNDING_ERROR))[SECOND_BYTE_INDEX]
    if threshold := _find_threshold(levels, limit, lowest):
        flags = levels.translate(_MASK_FROM[threshold])
    else:
        flags = b"\1" * count if among is None else _zero_others(b"\1" * count, among)
    return [found.start() for found in re.finditer(b"\1", flags)]


def _zero_others(levels: bytes, among: Iterable[range]) -> bytes:
    """Set all bytes outside some ranges to 0, the lowest level."""
    found = bytearray(len(levels))
    for indexes in among:
        found[indexes.start : indexes.stop] = levels[indexes.start : indexes.stop]
    return bytes(found)


def _find_threshold(levels: bytes, limit: int, lowest: int) -> int:
    """Find the highest level that enough bytes reach; the lowest one if too few do."""
    step = max(SAMPLE_STEP, len(levels) // MAX_SAMPLE)
    sample, enough = levels[::step], 2 * limit // step + 4
    guess = bisect_left(_BYTES_BELOW, True, key=lambda below: len(sample.translate(None, below)) < enough) - 1
    for level in range(max(guess, lowest), lowest - 1, -1):
        high = levels.translate(None, _BYTES_BELOW[level])
        if len(high) >= limit:
            return sorted(high)[-limit]
    return lowest
