"""Input and output of embedding models: truncate text and add a prefix; L2-normalize vectors and check their shape."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from dowse.errors import EmbedderError

if TYPE_CHECKING:
    from dowse.embedders.embedder import Matrix

BLANK_TEXT = "."
"""Stands for a text without anything in it, which some services refuse and others answer with nothing."""


def to_model_text(text: str, prefix: str, limit: int) -> str:
    """Cut a text to a limit and put a prefix before it; never empty, and always valid UTF-8."""
    cut = text[:limit].encode("utf-8", "replace").decode("utf-8")
    return prefix + (cut if cut.strip() else BLANK_TEXT)


def normalize_rows(matrix: Any) -> Matrix:
    """Bring rows to length one; a row of zeros stays what it is."""
    import numpy as np

    lengths = np.linalg.norm(matrix, axis=1, keepdims=True)
    unit: Matrix = np.divide(matrix, lengths, out=np.zeros_like(matrix), where=lengths > 0).astype(np.float32)
    return unit


def validate_rows(rows: Sequence[object], count: int, dimensions: int, source: str) -> Matrix:
    """Check that the vectors of somebody else's model are as requested (dimensions 0: any), and normalize them."""
    import numpy as np

    if len(rows) != count:
        raise EmbedderError(
            f"{source} returned {len(rows)} vectors for {count} texts: is it the right service?"
        )
    try:
        matrix = np.array(rows, dtype=np.float64)
    except (TypeError, ValueError, OverflowError) as error:
        raise EmbedderError(f"{source} returned something other than a list of vectors: {error}") from error
    if matrix.ndim != 2 or not matrix.shape[1]:
        raise EmbedderError(f"{source} returned something other than a list of vectors")
    if dimensions and matrix.shape[1] != dimensions:
        raise EmbedderError(
            f"{source} returned vectors of {matrix.shape[1]} dimensions, not {dimensions}: "
            f"check the model, or set embedder_dimensions = {matrix.shape[1]} if that is right"
        )
    if not np.isfinite(matrix).all():
        raise EmbedderError(
            f"{source} returned a vector with a value that is not a number: restart it or update the model"
        )
    if not matrix.any(axis=1).all():
        raise EmbedderError(f"{source} returned a vector of zeros: restart it or update the model")
    return normalize_rows(
        matrix / abs(matrix).max(axis=1, keepdims=True)
    )  # squares of large numbers are too large
