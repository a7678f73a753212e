"""Embedder interface (protocol): embed documents and queries into unit vectors for dense retrieval."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

if TYPE_CHECKING:
    import numpy as np

    from dowse.code.chunk_fields import Document

    Matrix = np.ndarray[Any, np.dtype[np.float32]]


class Embedder(Protocol):
    """Embeds text as vectors of length one. ``name`` identifies model and dimension: another name, other vectors."""

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
    """An embedder behind a service: it may wait for minutes while indexing, and has a short deadline in a search."""

    def with_deadline(self) -> Embedder:
        """Return this embedder with a short deadline: it gives up early."""
        ...


@runtime_checkable
class PretokenizingEmbedder(Protocol):
    """An embedder that tokenizes documents ahead, in the worker process that parsed the file; it must be picklable.

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


@runtime_checkable
class MatchesWords(Protocol):
    """An embedder that has vectors of single words, and can compare them."""

    def match_words(self, words: Sequence[str], texts: Sequence[bytes]) -> Mapping[str, Sequence[float]]:
        """Match words with texts: how near the nearest word of each text is, from 0 to 1; unknown words are missing."""
        ...
