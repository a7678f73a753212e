"""The seam between text and vectors."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

if TYPE_CHECKING:
    import numpy as np

    Matrix = np.ndarray[Any, np.dtype[np.float32]]


class Embedder(Protocol):
    """Turns text into vectors of length one. ``name`` identifies model and dimension: other name, other vectors."""

    @property
    def name(self) -> str:
        """Goes into the index fingerprint."""
        ...

    def embed_documents(self, texts: Sequence[str]) -> Matrix:
        """One row per text."""
        ...

    def embed_query(self, text: str) -> Sequence[float]:
        """The vector of a question."""
        ...


@runtime_checkable
class Patient(Protocol):
    """An embedder that waits for somebody else, if need be for minutes: right for indexing, not for a search."""

    def hurried(self) -> Embedder:
        """The same embedder, but one that gives up early."""
        ...


@runtime_checkable
class Calibrated(Protocol):
    """An embedder that knows from which cosine on two texts have anything to do with each other."""

    @property
    def floor(self) -> float:
        """What is below is chance."""
        ...
