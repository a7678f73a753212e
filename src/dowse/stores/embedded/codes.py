"""Codes of two bits a number, by which the rows of a large segment are told apart before they are compared.

The bits say whether a number is clearly above zero, and whether it is clearly below: so the count of bits that differ
is the difference between two vectors of -1, 0 and 1. A quarter of the bytes of an int8 row are read, and a few
thousand rows are then compared in full. Of a million real rows these have 0.997 of the 100 nearest; codes of one bit
need several times as many rows for that, and a rotation before changes little (``benchmarks/vectors.py``).
"""

from __future__ import annotations

import math
import re
from array import array
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from dowse.stores.embedded.best import LIMIT, LOWEST, highest, levels

if TYPE_CHECKING:
    import numpy as np

    Rows = np.ndarray[Any, np.dtype[np.int8]]
    Codes = np.ndarray[Any, np.dtype[np.uint8]]

CLEAR = 0.4
"""What is clearly not zero, as a share of a vector's root mean square: about a third of its numbers are not."""

EQUAL = LIMIT - 0.25
"""What stands for a code that is the same: a number that ``best`` is fast for, as is that of the opposite one."""

BATCH = 8192
"""Rows coded at once: four times their bytes are needed meanwhile."""


BLOCK = 16_384
"""Codes compared at once: what is made of them meanwhile stays in the cache, and is not asked of the system anew."""

_ONES = array("f", [1.0]) * BLOCK


def width(dimensions: int) -> int:
    """Bytes of a code."""
    return 2 * ((dimensions + 7) // 8)


def coded(rows: Rows) -> Codes:
    """The codes of int8 rows."""
    import numpy as np

    parts = [_coded(rows[start : start + BATCH]) for start in range(0, len(rows), BATCH)]
    return np.concatenate(parts) if parts else np.empty((0, width(rows.shape[1])), np.uint8)


def _coded(rows: Rows) -> Codes:
    import numpy as np

    whole = rows.astype(np.int32)
    squares = np.einsum("ij,ij->i", whole, whole)
    clear = np.floor(CLEAR * np.sqrt(squares / rows.shape[1])).astype(np.int8)[:, None]
    return np.concatenate([np.packbits(rows > clear, axis=1), np.packbits(rows >= -clear, axis=1)], axis=1)


def code(vector: array[int]) -> bytes:
    """The code of one int8 vector, without numpy."""
    clear = math.floor(CLEAR * math.sqrt(sum([number * number for number in vector]) / len(vector)))
    return _bits([number > clear for number in vector]) + _bits([number >= -clear for number in vector])


def _bits(flags: Sequence[bool]) -> bytes:
    """Flags packed, the first one highest, with zeros to the end of the last byte."""
    size = (len(flags) + 7) // 8
    return int("".join(map("01".__getitem__, flags)).ljust(8 * size, "0"), 2).to_bytes(size, "big")


def nearest(
    codes: Any, vector: array[int], limit: int, among: Iterable[range] | None
) -> list[tuple[int, int]]:
    """Where the rows are whose codes differ least from that of a vector, and a few more: first and end of each run."""
    asked = memoryview(code(vector)).cast("B", [1, width(len(vector))])
    slope = (EQUAL - LOWEST) / (2 * len(vector))
    blocks = [_alike(asked, codes[start : start + BLOCK], slope) for start in range(0, len(codes), BLOCK)]
    flags = highest(b"".join(blocks), limit, among)
    return [found.span() for found in re.finditer(b"\1\1*", flags)]  # faster than b"\1+", which is no literal


def _alike(asked: Any, codes: Any, slope: float) -> bytes:
    """How much codes are like the one that is asked for, as levels."""
    import simsimd

    apart: Any = simsimd.cdist(asked, codes, "hamming", dtype="bin8", out_dtype="float32")
    bits: Any = memoryview(apart).cast("B").cast("f")
    ones: Any = memoryview(_ONES)[: len(codes)]
    alike: Any = simsimd.wsum(bits, ones, alpha=-slope, beta=EQUAL)
    return levels(memoryview(alike).tobytes())
