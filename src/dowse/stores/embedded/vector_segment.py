"""One segment of the vector index: brute-force (exact) nearest neighbours over memory-mapped int8 rows, with SIMD.

Every row is compared: no filter can make a search miss anything, as it does with a graph index (HNSW). Where a filter
leaves few rows, these alone are compared.

All of it is done without numpy, whose import takes longer than a search. A query is quantized by the bit pattern of
floats: a small number that is added to a large one is rounded, and its last byte is the whole number that it becomes.
Top-k selection (partial sort) is over packed float32 scores: those from 2 up to 8 share their first byte, and their
second byte, a level, orders them roughly. The levels are one byte string, and what Python does with byte strings
(delete, translate, find) runs in C.
"""

from __future__ import annotations

import math
import mmap
import re
import struct
import sys
from array import array
from bisect import bisect_left
from collections.abc import Iterable, Sequence
from functools import cached_property, lru_cache
from itertools import accumulate, chain, islice
from operator import mul
from typing import Any, Literal, NamedTuple

import simsimd

from dowse.stores.embedded.quantize import SCALE_BYTES
from dowse.types.stored import CHUNK_BITS

MAX_COPIED_SHARE = 1 / 32
"""If a filter leaves at most this share of the rows, they are copied together and compared."""

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

ROUNDING_TERM = 1.5 * 2**23
"""Added to a float32, this leaves no room for a fraction, nor changes the last byte of what is left."""

_LAST_BYTE_INDEX = 0 if sys.byteorder == "little" else 3


class SegmentColumn(NamedTuple):
    """Numbers that lie one after the other in a segment's file."""

    format: Literal["q", "f", "b"]
    shape: tuple[int, ...]

    @property
    def size(self) -> int:
        """Size of the column in bytes."""
        return math.prod(self.shape) * struct.calcsize(self.format)


class SegmentShape(NamedTuple):
    """How a segment's file is to be read."""

    name: str
    rows: int
    dimensions: int
    checksum: int = 0  # of the file; only checked when the index is verified

    @property
    def columns(self) -> dict[str, SegmentColumn]:
        """Columns of the file, in order."""
        return {
            "ids": SegmentColumn("q", (self.rows,)),
            "scales": SegmentColumn("f", (self.rows,)),
            "rows": SegmentColumn("b", (self.rows, self.dimensions)),
        }

    @property
    def size(self) -> int:
        """Size of the file in bytes."""
        return sum(column.size for column in self.columns.values())


class VectorSegment:
    """Chunk ids, ascending, and their vectors: int8 components, and the scale of each row."""

    def __init__(self, shape: SegmentShape, data: Any) -> None:
        self.shape = shape
        if memoryview(data).nbytes != shape.size:
            raise ValueError(f"segment {shape.name} is not of the size it should be")
        columns = shape.columns
        ends = accumulate(column.size for column in columns.values())
        self._bytes = {
            name: memoryview(data)[end - column.size : end]
            for (name, column), end in zip(columns.items(), ends, strict=True)
        }
        views: dict[str, Any] = {
            name: self._bytes[name].cast(column.format, column.shape) for name, column in columns.items()
        }
        self.ids, self.scales, self.rows = views["ids"], views["scales"], views["rows"]
        self._data = data
        self._last_file_rows: tuple[frozenset[int], list[range]] | None = None

    def release_pages(self) -> None:
        """Let go of the memory that holds what was read of the file; it is read again where it is needed."""
        if isinstance(self._data, mmap.mmap) and hasattr(mmap, "MADV_DONTNEED"):
            self._data.madvise(mmap.MADV_DONTNEED)

    def find_nearest(
        self, query: array[int], unit: float, limit: int, files: frozenset[int] | None, floor: float
    ) -> tuple[list[int], list[float]]:
        """Find the rows nearest to an int8 query, and a few more: their ids and cosines, in no order.

        ``unit`` is the value of one level of the query; ``files`` limits it to some; rows below ``floor`` may lack.
        """
        among = None if files is None else self._find_file_rows(files)
        if among is None or sum(map(len, among)) > self.shape.rows * MAX_COPIED_SHARE:
            found, cosines = self._score_rows(query, unit, self.rows, self.scales, limit, among, floor)
        elif among:
            scales, rows = self._copy_runs(among)
            indexes = list(chain.from_iterable(among))
            best, cosines = self._score_rows(query, unit, rows, scales, limit, None, floor)
            found = [indexes[index] for index in best]
        else:
            return [], []
        return [self.ids[row] for row in found], cosines

    def score_files(self, query: array[int], unit: float, files: Sequence[int]) -> dict[int, list[float]]:
        """Compare an int8 query with all rows of some files: the cosines of each that has rows, in order."""
        ids = self.ids
        runs = {
            file: range(first, end)
            for file in files
            if (first := bisect_left(ids, file << CHUNK_BITS))
            < (end := bisect_left(ids, (file + 1) << CHUNK_BITS, first))
        }
        if not runs:
            return {}
        scales, rows = self._copy_runs([*runs.values()])
        cosines = map(mul, _compute_dots(query, rows), [scale * unit for scale in scales])
        return {file: list(islice(cosines, len(run))) for file, run in runs.items()}

    def _copy_runs(self, runs: Sequence[range]) -> tuple[Any, Any]:
        """Copy the scales and rows of some runs."""
        scales, rows, size = self._bytes["scales"], self._bytes["rows"], self.shape.dimensions
        cut_scales = b"".join([scales[run.start * SCALE_BYTES : run.stop * SCALE_BYTES] for run in runs])
        cut_rows = b"".join([rows[run.start * size : run.stop * size] for run in runs])
        return memoryview(cut_scales).cast("f"), memoryview(cut_rows).cast("b", [len(cut_rows) // size, size])

    def _score_rows(
        self,
        query: array[int],
        unit: float,
        rows: Any,
        scales: Any,
        limit: int,
        among: list[range] | None,
        floor: float,
    ) -> tuple[Sequence[int], list[float]]:
        """Score rows; return the indexes and cosines of the best, and of a few more."""
        flat = _compute_dots(query, rows)
        ones: Any = self._ones if rows is self.rows else array("f", [1.0]) * len(scales)
        scaled: Any = simsimd.fma(flat, scales, ones, alpha=unit, beta=COSINE_OFFSET)
        found = top_k_indices(memoryview(scaled).tobytes(), limit, among, floor + COSINE_OFFSET)
        return found, [flat[row] * scales[row] * unit for row in found]

    def _find_file_rows(self, files: frozenset[int]) -> list[range]:
        """Find the rows of some files; cached, since one query after another is about the same files."""
        known = self._last_file_rows
        if known is None or known[0] is not files:
            found: list[range] = []
            for file, rows in self._rows_by_file.items():
                if file not in files:
                    continue
                if found and found[-1].stop == rows.start:
                    found[-1] = range(found[-1].start, rows.stop)
                else:
                    found.append(rows)
            known = self._last_file_rows = files, found
        return known[1]

    @cached_property
    def _ones(self) -> Any:
        return array("f", [1.0]) * self.shape.rows

    @cached_property
    def _rows_by_file(self) -> dict[int, range]:
        """Where the rows of each file are: they lie together, since ids ascend."""
        starts: dict[int, int] = {}
        for row, id in enumerate(self.ids):
            starts.setdefault(id >> CHUNK_BITS, row)
        ends = [*starts.values(), self.shape.rows][1:]
        return {file: range(start, end) for (file, start), end in zip(starts.items(), ends, strict=True)}


def _compute_dots(query: array[int], rows: Any) -> Any:
    """Compute the dot product of an int8 query with each row."""
    quantized = memoryview(query).cast("B").cast("b", [1, len(query)])
    dots: Any = simsimd.cdist(quantized, rows, "dot", dtype="int8", out_dtype="float32")
    return memoryview(dots).cast("B").cast("f")


def quantize_int8(numbers: Sequence[float], factor: float) -> bytes:
    """Multiply numbers by a factor that brings them between -127 and 127, and round them to int8."""
    ones, rounding = _make_constants(len(numbers))
    given: Any = array("f", numbers)
    made: Any = simsimd.fma(given, ones, rounding, alpha=factor, beta=1.0)
    return memoryview(made).tobytes()[_LAST_BYTE_INDEX::4]


@lru_cache(maxsize=8)
def _make_constants(count: int) -> tuple[Any, Any]:
    return array("f", [1.0]) * count, array("f", [ROUNDING_TERM]) * count


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
