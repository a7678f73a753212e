"""Vector storage format: int8 scalar quantization with one float32 scale per vector, a quarter of the space."""

from __future__ import annotations

from collections.abc import Sequence

from dowse.stores.embedded.quantize import quantize_rows
from dowse.types.discovered import ChunkVector

SCALE_BYTES = 4


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
