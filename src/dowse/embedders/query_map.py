"""Query projection: a learned linear map from the embedding of a query to that of the code that answers it.

The word vectors of the built-in model were learned from documentation and code. Questions are worded in another way;
the map, learned from written questions, moves the vector of a query towards what answers such queries. Documents are
not mapped, so an index does not depend on it. ``docs/model.md`` says how it is learned.
"""

from __future__ import annotations

import math
from array import array
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import simsimd

from dowse.errors import SettingsError

BUILT_IN = Path(__file__).parent / "data" / "query_map.bin"
MAGIC = b"dowse query map 1\n"

LEVELS = 127
"""The largest component of a query becomes this when it is quantized to int8."""


class QueryMap(NamedTuple):
    """What is added to a query: a row of int8 for each component of the result, each row with a scale of its own."""

    rows: bytes
    scales: array[float]

    def apply(self, vector: Sequence[float]) -> Sequence[float]:
        """Map a vector of length one; the result has length one.

        Products are of whole numbers and sums are exact, so that every platform gives the same result.
        """
        size = len(self.scales)
        largest = max(map(abs, vector), default=0.0)
        if not largest:
            return vector
        unit = largest / LEVELS
        query = array("b", [round(component / unit) for component in vector])
        dots: Any = simsimd.cdist(
            memoryview(query).cast("B").cast("b", [1, size]),
            memoryview(self.rows).cast("b", [size, size]),
            "dot",
            dtype="int8",
            out_dtype="float32",
        )
        added = memoryview(dots).cast("B").cast("f")
        mapped = [
            component + dot * scale * unit
            for component, dot, scale in zip(vector, added, self.scales, strict=True)
        ]
        length = math.sqrt(math.fsum([component * component for component in mapped]))
        return [component / length for component in mapped] if length else vector


def load_query_map(path: Path = BUILT_IN) -> QueryMap:
    """Read a map from its file."""
    try:
        data = path.read_bytes()
    except OSError as error:
        raise SettingsError(f"the query map '{path}' cannot be read: {error.strerror}") from error
    numbers = len(data) - len(MAGIC)
    size = math.isqrt(max(numbers, 0) + 4) - 2  # size x size rows, and size scales of four bytes
    if not data.startswith(MAGIC) or not size or size * (size + 4) != numbers:
        raise SettingsError(f"'{path}' is not a query map")
    end = len(MAGIC) + 4 * size
    return QueryMap(data[end:], array("f", data[len(MAGIC) : end]))


def write_query_map(path: Path, matrix: Any) -> None:
    """Write a map, given what it adds: a square matrix of numpy, to be multiplied by a query from the right."""
    import numpy as np

    scales = np.maximum(np.abs(matrix).max(axis=1) / LEVELS, 1e-12).astype("<f4")
    rows = np.rint(matrix / scales[:, None]).astype("i1")
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(MAGIC + scales.tobytes() + rows.tobytes())
