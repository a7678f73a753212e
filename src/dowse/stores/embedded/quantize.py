"""Scalar quantization of float32 vectors to int8 as they are stored, with a scale for each; with numpy."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from dowse.types.discovered import ChunkVector

INT8_LEVELS = 127
"""The largest component of a vector becomes this when it is quantized to int8."""

SCALE_BYTES = 4
"""A packed vector begins with its scale."""


def quantize_rows(matrix: Any) -> tuple[Any, Any]:
    """Quantize each row to int8 and return the rows with their scales; with numpy, since there are many."""
    import numpy as np

    scales = np.abs(matrix).max(axis=1) / np.float32(INT8_LEVELS)
    return np.rint(matrix / np.where(scales > 0, scales, 1)[:, None]).astype(np.int8), scales


def pack_vectors(vectors: Sequence[ChunkVector]) -> list[ChunkVector]:
    """Pack vectors of one length in a quarter of the space, each with the scale that suits it."""
    if not vectors:
        return []
    import numpy as np

    matrix = np.frombuffer(b"".join(v.vector for v in vectors), dtype="<f4").reshape(len(vectors), -1)
    rows, scales = quantize_rows(matrix)
    data = np.concatenate(
        [scales.astype("<f4").view(np.int8).reshape(-1, SCALE_BYTES), rows], axis=1
    ).tobytes()
    size = len(data) // len(vectors)
    return [ChunkVector(v.key, data[i * size : (i + 1) * size]) for i, v in enumerate(vectors)]


def unpack_vectors(rows: Sequence[bytes]) -> list[bytes]:
    """Unpack vectors to float32."""
    if not rows:
        return []
    if len(set(map(len, rows))) > 1:  # of models that differ under one name
        return [vector for row in rows for vector in unpack_vectors([row])]
    import numpy as np

    table = np.frombuffer(b"".join(rows), dtype=np.int8).reshape(len(rows), -1)
    scales = np.ascontiguousarray(table[:, :SCALE_BYTES]).view("<f4")
    matrix = (table[:, SCALE_BYTES:] * scales).astype("<f4")
    return [row.tobytes() for row in matrix]
