"""Snapshot reads on PostgreSQL: one generation of a view, read in one transaction (repeatable read).

Implements ``Snapshot``: BM25, nearest neighbours, name lookup, files and contents.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from dowse.stores.postgres.catalogue_snapshot import PostgresCatalogueSnapshot
from dowse.stores.postgres.dense_search import DenseSearch
from dowse.stores.postgres.lexical_search import LexicalSearch
from dowse.stores.postgres.name_search import NameSearch
from dowse.stores.postgres.read_cache import ReadCache
from dowse.stores.postgres.transaction import Transaction
from dowse.types.queries import Term
from dowse.types.stored import (
    CHUNK_BITS,
    DEFAULT_BM25,
    Bm25,
    Filter,
    NameHit,
    NameTier,
    Scored,
    split_chunk_id,
)


class PostgresSnapshot(PostgresCatalogueSnapshot):
    """One generation of a view on PostgreSQL, for reading (snapshot isolation)."""

    def __init__(self, transaction: Transaction, cache: ReadCache, *, is_current: bool) -> None:
        super().__init__(transaction, cache, is_current=is_current)
        self._lexical = LexicalSearch(transaction, cache, self._filters)
        self._dense = DenseSearch(transaction, self._filters)
        self._names = NameSearch(transaction, cache)

    # --- the channels ---

    def lexical(
        self,
        terms: Sequence[Term],
        fields: Mapping[str, float],
        filter: Filter,
        limit: int,
        bm25: Bm25 = DEFAULT_BM25,
    ) -> list[Scored]:
        """Rank chunks by BM25."""
        return self._prefetch_files(self._lexical.search(terms, fields, filter, limit, bm25))

    def dense(self, vector: Sequence[float], filter: Filter, limit: int) -> list[Scored]:
        """Rank chunks by cosine."""
        return self._prefetch_files(self._dense.search(vector, filter, limit))

    def file_cosines(self, vector: Sequence[float], files: Sequence[int]) -> dict[int, list[float]]:
        """Compare the vector with all chunks of some files."""
        return self._dense.score_files(vector, files)

    def _prefetch_files(self, hits: list[Scored]) -> list[Scored]:
        self._files.prefetch(hit.chunk >> CHUNK_BITS for hit in hits)
        return hits

    def names(self, pattern: str, tier: NameTier, filter: Filter, limit: int) -> list[NameHit]:
        """Find entities by name."""
        if limit < 1:
            return []
        hits = self._names.search(pattern, tier, filter, limit)
        self._files.prefetch(hit.file for hit in hits)
        return hits

    def document_frequency(self, token: str) -> int:
        """Count the chunks that have a token in their body."""
        return self._lexical.document_frequency(token)

    def find_tokens(self, part: str, limit: int) -> list[str]:
        """Find tokens of bodies that contain a text, shortest first."""
        return self._lexical.find_tokens(part, limit)

    def chunk_count(self) -> int:
        """Count the chunks."""
        return self._transaction.state.chunks

    # --- what is indexed, for comparing indexes ---

    def indexed_chunks(self) -> dict[int, list[int]]:
        """List for each file the ordinals of the chunks that the lexical index has."""
        return _by_file(self._filters.find_chunks(Filter()).tolist())

    def list_embedded_chunks(self) -> dict[int, list[int]]:
        """List for each file the ordinals of the chunks that have a vector."""
        return _by_file(self._dense.list_chunks())


def _by_file(chunks: Iterable[int]) -> dict[int, list[int]]:
    found: dict[int, list[int]] = {}
    for file, ordinal in map(split_chunk_id, sorted(chunks)):
        found.setdefault(file, []).append(ordinal)
    return found
