"""The protocols of an embedder, which turns text into vectors."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

if TYPE_CHECKING:
    import numpy as np

    from dowse.code.chunk_fields import Document

    Matrix = np.ndarray[Any, np.dtype[np.float32]]


class Embedder(Protocol):
    """Turns text into vectors of length one. ``name`` identifies model and dimension: other name, other vectors."""

    @property
    def name(self) -> str:
        """Goes into the index fingerprint."""
        ...

    def embed_documents(self, texts: Sequence[str]) -> Matrix:
        """Embed texts, one row for each."""
        ...

    def embed_query(self, text: str) -> Sequence[float]:
        """Embed a query."""
        ...


@runtime_checkable
class SupportsTimeout(Protocol):
    """An embedder that waits for somebody else, if need be for minutes: right for indexing, not for a search."""

    def with_deadline(self) -> Embedder:
        """Return this embedder with a short deadline: it gives up early."""
        ...


@runtime_checkable
class PretokenizingEmbedder(Protocol):
    """An embedder whose work on a document begins with its words: that part is done where the file is taken apart.

    It is sent to other processes to do so.
    """

    @property
    def name(self) -> str:
        """Identifies model and dimension, like ``Embedder.name``."""
        ...

    def pretokenize(self, document: Document) -> bytes:
        """Cut a document into what its vector depends on: equal results mean equal vectors."""
        ...

    def embed_pretokenized(self, documents: Sequence[bytes]) -> Matrix:
        """Embed documents that were prepared, one row for each."""
        ...
