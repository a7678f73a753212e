"""Read cache of the embedded store: files, contents, filter results and names between queries, bounded (LRU).

Belongs to one generation; what still holds is carried over to the next.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from dowse.lru import LruCache
from dowse.stores.embedded.catalogue import Catalogue, CatalogueFile
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


@dataclass
class SnapshotCache:
    """What was read of the catalogue at one generation (and number of stamp changes)."""

    key: tuple[int, int] | None = None
    files: dict[int, StoredFile] = field(default_factory=dict)
    ids: dict[str, int] = field(default_factory=dict)  # of these files, by path
    contents: LruCache[int, bytes] = field(default_factory=lambda: LruCache(MAX_CACHED_CONTENT_BYTES))
    file_count: int | None = None
    manifest: Mapping[str, CatalogueFile] | None = None
    watched: WatchedTimes | None = None
    files_by_filter: LruCache[Filter, frozenset[int]] = field(
        default_factory=lambda: LruCache(MAX_CACHED_FILTERS)
    )
    has_many_stale_rows: bool = False  # rows of files that are gone have crowded out others
    files_by_name: LruCache[str, list[tuple[int, FileFacts]]] = field(
        default_factory=lambda: LruCache(MAX_CACHED_NAMES)
    )

    def for_key(self, key: tuple[int, int], catalogue: Catalogue) -> SnapshotCache:
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
