"""Catalogue reads on PostgreSQL: the files of one generation of a view, in one transaction (repeatable read)."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

from dowse.errors import IndexMissing
from dowse.filters import chunk_passes
from dowse.stores.catalogue_protocol import StampRow
from dowse.stores.channels_protocol import VisibleGeneration
from dowse.stores.postgres import planned
from dowse.stores.postgres.files import FileReader
from dowse.stores.postgres.filter_cache import FilterCache
from dowse.stores.postgres.read_cache import ReadCache
from dowse.stores.postgres.state import ManifestRow
from dowse.stores.postgres.transaction import Transaction
from dowse.types.discovered import ChunkVector, WatchedTimes
from dowse.types.stored import FileReferences, Filter, StoredFile, split_chunk_id


class PostgresCatalogueSnapshot:
    """The files of one generation of a view on PostgreSQL."""

    def __init__(self, transaction: Transaction, cache: ReadCache, *, is_current: bool) -> None:
        self.is_current = is_current
        self.generation = transaction.state.generation
        self.identity = transaction.state.identity
        self._transaction = transaction
        self._filters = FilterCache(transaction, cache)
        self._files = FileReader(transaction, cache, self._filters)

    def close(self) -> None:
        """Close the transaction of the snapshot."""
        self._transaction.close()

    @property
    def visible(self) -> VisibleGeneration:
        """What of the channels belongs to this generation, if they are elsewhere."""
        transaction = self._transaction
        abandoned = transaction.fetch_rows(planned.SELECT_ABANDONED, [transaction.view, self.generation])
        return planned.make_visible(transaction.state, transaction.names[0], abandoned)

    def find_changed(self, since_ns: int) -> list[int]:
        """Find the files that were modified at a time or later."""
        return self._files.find_changed(since_ns)

    def prefetch_rows(self, ids: Sequence[int]) -> None:
        """Note files that are likely to be needed: all are read when the first one is."""
        self._files.prefetch(ids)

    def chunk_passes(self, chunk: int, filter: Filter) -> bool:
        """Whether a chunk passes by its definitions."""
        id, ordinal = split_chunk_id(chunk)
        file = self.file(id)
        return file is not None and chunk_passes(filter, file, ordinal)

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


def missing_index_error(root: str) -> IndexMissing:
    """Make the error for a view that has nothing to read yet."""
    return IndexMissing(f"there is no index of {root}: run 'dowse index'")
