"""PCA dimensionality reduction as a prefilter for vector search: approximate scores choose the rows compared in full.

Rows are projected on the principal components of their segment. Three eighths of the numbers keep most of what tells
rows apart, so that a search reads fewer bytes; a few hundred rows that look nearest are then compared exactly. Recall:
of a million real rows, 0.99 of the 100 nearest; codes of one or two bits a number need thousands of rows for that
(``benchmarks/vectors.py``).
"""

from __future__ import annotations

import re
from array import array
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, NamedTuple

from dowse.stores.embedded.quantize import INT8_LEVELS, quantize_bytes, quantize_int8, quantize_rows
from dowse.stores.embedded.topk import COSINE_OFFSET, top_k_mask

if TYPE_CHECKING:
    import numpy as np

    Rows = np.ndarray[Any, np.dtype[np.int8]]
    Numbers = np.ndarray[Any, np.dtype[np.float32]]

SAMPLE_ROWS = 8192
"""Rows, spread over the segment, whose directions stand for those of all."""

MIN_KEPT_VARIANCE = 0.7
"""The share of the variance of the sampled rows that projected rows must keep: where they keep less, rows spread in all
directions alike, and too many of the nearest would be lost. With the built-in model they keep 0.8."""

BATCH_ROWS = 8192
"""Rows projected at once: eight times their bytes are needed meanwhile."""

BLOCK_ROWS = 16_384
"""Projected rows scored at once: what is made of them fits in the processor's cache, and its memory is reused."""

_ONES = array("f", [1.0]) * BLOCK_ROWS


class PcaPrefilter(NamedTuple):
    """The axes (float32, one a row), and the rows projected on them: int8, and the scale of each."""

    axes: Any
    scales: Any
    rows: Any


def reduced_dimensions(dimensions: int) -> int:
    """Return how many numbers a projected row has."""
    return max(1, dimensions * 3 // 8)


def build(rows: Rows, scales: Numbers) -> PcaPrefilter | None:
    """Build the prefilter of int8 rows and their scales; None if too much would be lost."""
    import numpy as np

    axes, kept = _find_principal_axes(rows[:: max(1, len(rows) // SAMPLE_ROWS)])
    if kept < MIN_KEPT_VARIANCE:
        return None
    lengths, short = np.empty(len(rows), np.float32), np.empty((len(rows), len(axes)), np.int8)
    for start in range(0, len(rows), BATCH_ROWS):
        batch = slice(start, start + BATCH_ROWS)
        short[batch], units = quantize_rows(rows[batch].astype(np.float32) @ axes.T)
        lengths[batch] = units * scales[batch]
    return PcaPrefilter(axes, lengths, short)


def _find_principal_axes(rows: Rows) -> tuple[Numbers, float]:
    """Find the directions in which rows of one length spread most, and the share of the variance along them."""
    import numpy as np

    whole = rows.astype(np.float32)
    whole /= np.maximum(1, np.linalg.norm(whole, axis=1, keepdims=True))
    squares, directions = np.linalg.eigh(whole.T @ whole)  # those that count least come first
    last = reduced_dimensions(rows.shape[1])
    axes = np.ascontiguousarray(directions[:, -last:].T, dtype=np.float32)
    return axes, float(squares[-last:].sum() / max(squares.sum(), 1e-9))


def find_nearest_runs(
    prefilter: PcaPrefilter, query: array[int], unit: float, limit: int, among: Iterable[range] | None
) -> list[tuple[int, int]]:
    """Find the rows that look nearest to an int8 query, and a few more: first and end of each run.

    ``unit`` is the value of one level of the query.
    """
    projected, unit = _project_query(prefilter.axes, query, unit)
    blocks = (slice(start, start + BLOCK_ROWS) for start in range(0, len(prefilter.scales), BLOCK_ROWS))
    found = b"".join(
        [_score_block(projected, unit, prefilter.rows[at], prefilter.scales[at]) for at in blocks]
    )
    return [
        run.span() for run in re.finditer(b"\1\1*", top_k_mask(found, limit, among))
    ]  # faster than b"\1+"


def _project_query(axes: Any, query: array[int], unit: float) -> tuple[Any, float]:
    """Project a query on the axes, and return it as int8 with the value of one level."""
    import simsimd

    whole: Any = memoryview(array("f", query)).cast("B").cast("f", [1, len(query)])
    found: Any = simsimd.cdist(whole, axes, "dot", dtype="float32", out_dtype="float32")
    along = memoryview(found).cast("B").cast("f").tolist()
    level = max(map(abs, along)) / INT8_LEVELS or 1.0
    return memoryview(quantize_int8(along, 1 / level)).cast("b", [1, len(along)]), unit * level


def _score_block(projected: Any, unit: float, rows: Any, scales: Any) -> bytes:
    """Score projected rows against the projected query, as quantized bytes."""
    import simsimd

    dots: Any = simsimd.cdist(projected, rows, "dot", dtype="int8", out_dtype="float32")
    flat: Any = memoryview(dots).cast("B").cast("f")
    ones: Any = memoryview(_ONES)[: len(scales)]
    near: Any = simsimd.fma(flat, scales, ones, alpha=unit, beta=COSINE_OFFSET)
    return quantize_bytes(memoryview(near).tobytes())
