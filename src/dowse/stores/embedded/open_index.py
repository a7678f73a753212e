"""Shared reader state of an embedded index in one process: connections, open indexes, and an LRU cache of reads.

The cache belongs to one generation; what still holds is carried over to the next.
"""

from __future__ import annotations

import threading
from collections.abc import Mapping
from pathlib import Path

from dowse.lru import LruCache
from dowse.stores.embedded.catalogue import CatalogueFile, SqliteCatalogue
from dowse.stores.embedded.catalogue_connection import CatalogueState
from dowse.stores.embedded.layout import LEXICAL, VECTORS
from dowse.stores.embedded.lexical_index import LexicalIndex, LexicalReader
from dowse.stores.embedded.vector_index import VectorIndex
from dowse.types.discovered import WatchedTimes
from dowse.types.stored import FileFacts, Filter, StoredFile

MAX_CACHED_FILES = 1500
"""Files whose rows are cached between queries: about 8 MB."""

MAX_CACHED_CONTENT_BYTES = 16_000_000
"""Bytes of contents that are cached between queries: unpacking takes most of the time of showing a hit."""

MAX_CACHED_FILTERS = 16
"""Filters for which the files that pass are cached between queries: a reader uses few."""

MAX_CACHED_NAMES = 5_000
"""File names that were looked up and are cached between queries: the same files lead many answers, and their tests are
looked for by name."""


class SnapshotCache:
    """What was read of the catalogue at one generation (and number of stamp changes)."""

    def __init__(
        self, key: tuple[int, int] | None = None, contents: LruCache[int, bytes] | None = None
    ) -> None:
        self.key = key
        self.files: dict[int, StoredFile] = {}
        self.ids: dict[str, int] = {}  # of these files, by path
        self.contents = LruCache(MAX_CACHED_CONTENT_BYTES) if contents is None else contents
        self.file_count: int | None = None
        self.manifest: Mapping[str, CatalogueFile] | None = None
        self.watched: WatchedTimes | None = None
        self.files_by_filter: LruCache[Filter, frozenset[int]] = LruCache(MAX_CACHED_FILTERS)
        self.has_many_stale_rows = False  # rows of files that are gone have crowded out others
        self.files_by_name: LruCache[str, list[tuple[int, FileFacts]]] = LruCache(MAX_CACHED_NAMES)

    def for_key(self, key: tuple[int, int], catalogue: SqliteCatalogue) -> SnapshotCache:
        """Return a cache with what still holds at a key: this one, or a new one.

        A content never changes under its file's id; of a file's row only the stamp changes, and it goes with a
        generation.
        """
        if len(self.files) >= MAX_CACHED_FILES:
            self._evict_files(MAX_CACHED_FILES // 4)
        if self.key == key:
            return self
        new = SnapshotCache(key, contents=self.contents)
        if self.key and self.key[0] <= key[0]:
            new.files = {
                id: file
                for id, file in list(self.files.items())
                if catalogue.has_stamp(id, file.stamp, key[0])
            }
            new.ids = {file.path: id for id, file in new.files.items()}
        return new

    def _evict_files(self, count: int) -> None:
        """Evict the files that were read first: a plain dictionary, for a query looks up hundreds of them."""
        for id in list(self.files)[:count]:
            file = self.files.pop(id, None)
            if file is not None:
                self.ids.pop(file.path, None)


class OpenIndex:
    """The open parts of an index, reused between queries as long as the catalogue is the same file."""

    def __init__(self, identity: tuple[int, int]) -> None:
        self.identity = identity  # device and inode of the catalogue
        self.idle: list[SqliteCatalogue] = []
        self._view = ""  # the identity of the view that the rest belongs to
        self._lexical: LexicalIndex | None = None
        self._reader: LexicalReader | None = None
        self._vectors: VectorIndex | None = None
        self._cache = SnapshotCache()
        self._guard = threading.Lock()

    def close(self) -> None:
        """Close the connections that nobody uses."""
        while self.idle:
            self.idle.pop().close()

    def forget_derived(self) -> None:
        """Close derived indexes that turned out to be corrupt: after a rebuild, they have the same generation."""
        with self._guard:
            self._lexical = self._reader = self._vectors = None

    def open_derived(self, folder: Path, state: CatalogueState) -> tuple[LexicalReader, VectorIndex]:
        """Open the lexical index and the vectors of a view, again if the catalogue has gone on."""
        newest = state.generation
        with self._guard:
            if self._view != state.identity:  # a view that was rebuilt may have as many generations
                self._view, self._cache = state.identity, SnapshotCache()
                self._lexical = self._reader = self._vectors = None
            if self._reader is None or self._reader.generation != newest:
                index = self._lexical or LexicalIndex(folder / LEXICAL, create=False)
                self._lexical = None  # unless it can be read
                self._reader = index.reader()
                self._lexical = index
            reader = self._reader
            if self._vectors is None or not reader.generation <= self._vectors.generation <= newest:
                self._vectors = VectorIndex(folder / VECTORS)
            return reader, self._vectors

    def refresh_cache(self, catalogue: SqliteCatalogue, key: tuple[int, int]) -> SnapshotCache:
        """Return what earlier queries have read, as far as it still holds at a key."""
        with self._guard:
            self._cache = self._cache.for_key(key, catalogue)
            return self._cache
