"""Shared reader state of an embedded index in one process: connections, open indexes, a cache between queries."""

from __future__ import annotations

import threading
from dataclasses import dataclass, field
from pathlib import Path

from dowse.stores.embedded.catalogue import Catalogue
from dowse.stores.embedded.catalogue_connection import CatalogueState
from dowse.stores.embedded.layout import LEXICAL, VECTORS
from dowse.stores.embedded.lexical_index import LexicalIndex, LexicalReader
from dowse.stores.embedded.snapshot_cache import SnapshotCache
from dowse.stores.embedded.vector_index import VectorIndex


@dataclass
class OpenIndex:
    """The open parts of an index, reused between queries as long as the catalogue is the same file."""

    identity: tuple[int, int]  # device and inode of the catalogue
    idle: list[Catalogue] = field(default_factory=list)
    _view: str = ""  # the identity of the view that the rest belongs to
    _lexical: LexicalIndex | None = None
    _reader: LexicalReader | None = None
    _vectors: VectorIndex | None = None
    _cache: SnapshotCache = field(default_factory=SnapshotCache)
    _guard: threading.Lock = field(default_factory=threading.Lock)

    def close(self) -> None:
        """Close the connections that nobody uses."""
        while self.idle:
            self.idle.pop().close()

    def forget_derived(self) -> None:
        """Let go of derived indexes that turned out to be corrupt: rebuilt, they have the same generation."""
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

    def refresh_cache(self, catalogue: Catalogue, key: tuple[int, int]) -> SnapshotCache:
        """Return what earlier queries have read, as far as it still holds at a key."""
        with self._guard:
            self._cache = self._cache.for_key(key, catalogue)
            return self._cache
