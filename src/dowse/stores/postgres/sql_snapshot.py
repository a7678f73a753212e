"""Snapshot reads on PostgreSQL: one generation of a view, read in one transaction (repeatable read).

Implements ``Snapshot``: BM25, nearest neighbours, name lookup, files and contents.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

from dowse.errors import IndexMissing
from dowse.filters import chunk_passes
from dowse.stores.postgres.dense_search import DenseSearch
from dowse.stores.postgres.files import FileReader
from dowse.stores.postgres.filter_cache import FilterCache
from dowse.stores.postgres.lexical_search import LexicalSearch
from dowse.stores.postgres.name_search import NameSearch
from dowse.stores.postgres.read_cache import ReadCache
from dowse.stores.postgres.state import ManifestRow
from dowse.stores.postgres.transaction import Transaction
from dowse.stores.protocol import StampRow
from dowse.types.discovered import ChunkVector, WatchedTimes
from dowse.types.queries import Term
from dowse.types.stored import (
    CHUNK_BITS,
    DEFAULT_BM25,
    Bm25,
    FileReferences,
    Filter,
    NameHit,
    NameTier,
    Scored,
    StoredFile,
    split_chunk_id,
)


class PostgresSnapshot:
    """One generation of a view on PostgreSQL, for reading (snapshot isolation)."""

    def __init__(self, transaction: Transaction, cache: ReadCache, *, is_current: bool) -> None:
        self.is_current = is_current
        self.generation = transaction.state.generation
        self.identity = transaction.state.identity
        self._transaction = transaction
        self._filters = FilterCache(transaction, cache)
        self._lexical = LexicalSearch(transaction, cache, self._filters)
        self._dense = DenseSearch(transaction, self._filters)
        self._names = NameSearch(transaction, cache)
        self._files = FileReader(transaction, cache, self._filters)

    def close(self) -> None:
        """Close the transaction of the snapshot."""
        self._transaction.close()

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

    def chunk_passes(self, chunk: int, filter: Filter) -> bool:
        """Whether a chunk passes by its definitions."""
        id, ordinal = split_chunk_id(chunk)
        file = self.file(id)
        return file is not None and chunk_passes(filter, file, ordinal)

    # --- files ---

    def find_files_named(self, name: str, filter: Filter, limit: int) -> list[int]:
        """Find files by name, stem or trailing path."""
        found = self._files.find_named(name, filter, limit)
        self._files.prefetch(found)
        return found

    def file(self, id: int) -> StoredFile | None:
        """Read a file by its id."""
        return self._files.file(id)

    def file_at(self, path: str) -> StoredFile | None:
        """Read a file by its path."""
        return self._files.find_by_path(path)

    def prefetch(self, ids: Sequence[int]) -> None:
        """Read the contents of some files at once."""
        self._files.prefetch_texts(ids)

    def content(self, id: int) -> bytes:
        """Read the content of a file."""
        return self._files.content(id)

    def contents(self, filter: Filter) -> Iterator[tuple[int, bytes]]:
        """Read id and content of every file that passes, in order of path."""
        return self._files.contents(filter)

    def references(self, paths: Collection[str] | None = None) -> Iterator[FileReferences]:
        """Read what files define and mention, in order of path."""
        return self._files.list_references(paths)

    def file_vectors(self, id: int) -> tuple[ChunkVector, ...]:
        """Read the vectors of a file's chunks, in order."""
        return self._files.load_vectors(id)

    def file_count(self) -> int:
        """Count the files."""
        return self._transaction.state.files

    def manifest(self) -> Mapping[str, ManifestRow]:
        """List every file by path."""
        return self._files.manifest()

    def list_stamps(self) -> Iterable[StampRow]:
        """List every file in order of path, with its stamp."""
        return ((path, *row.stamp) for path, row in sorted(self._files.manifest().items()))

    def list_watched(self) -> WatchedTimes:
        """List what is watched beside the files."""
        return self._files.list_watched()

    # --- what is indexed, for comparing indexes ---

    def indexed_chunks(self) -> dict[int, list[int]]:
        """List for each file the ordinals of the chunks that the lexical index has."""
        return _by_file(self._filters.find_chunks(Filter()).tolist())

    def list_embedded_chunks(self) -> dict[int, list[int]]:
        """List for each file the ordinals of the chunks that have a vector."""
        return _by_file(self._dense.list_chunks())


def missing_index_error(root: str) -> IndexMissing:
    """Make the error for a view that has nothing to read yet."""
    return IndexMissing(f"there is no index of {root}: run 'dowse index'")


def _by_file(chunks: Iterable[int]) -> dict[int, list[int]]:
    found: dict[int, list[int]] = {}
    for file, ordinal in map(split_chunk_id, sorted(chunks)):
        found.setdefault(file, []).append(ordinal)
    return found
