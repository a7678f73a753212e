"""Read cache of the PostgreSQL store: contents, term scores, filters and name lists between queries, bounded (LRU).

Contents never change under their hash; the rest belongs to one state of a view and is invalidated with it.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from dowse.lru import LruCache
from dowse.stores.postgres.postings import AllowedIds, Array, ChunkLayout, TermScores
from dowse.stores.postgres.state import Key, ManifestRow
from dowse.types.discovered import WatchedTimes
from dowse.types.source import ParsedFile
from dowse.types.stored import Bm25, Filter, StoredFile

MAX_CONTENTS = 6000
"""Parsed files: about 30 MB."""

MAX_TEXT_BYTES = 16_000_000
"""Texts of files, compressed."""

MAX_SCORE_BYTES = 32_000_000
"""What words add to the scores of chunks: the most common hundred of 100,000 chunks."""

MAX_FILTERS = 20
"""Filters whose files are cached: a process uses few."""

HOT_AFTER_QUERIES = 3
"""After so many queries of one state it pays to read the lists of all files and names."""

MAX_LISTED_FILES = 50_000
MAX_LISTED_NAMES = 200_000
"""Longer lists stay on the server."""

_BIT_COUNTS = np.unpackbits(np.arange(1 << 16, dtype=np.uint16).view(np.uint8).reshape(-1, 2), axis=1).sum(
    axis=1
)
"""How many bits are set in each number of 16."""


class Content(NamedTuple):
    """What was parsed of a content."""

    hash: bytes
    parsed: ParsedFile
    definitions: tuple[tuple[int, ...], ...]


class FileRow(NamedTuple):
    """A row of the files table."""

    id: int
    path: str
    size: int
    mtime_ns: int
    ctime_ns: int
    is_trusted: bool
    role: str
    content: int


class Directory:
    """The list of all files of a view, by path, name and stem."""

    def __init__(self, rows: list[FileRow]) -> None:
        self.rows = {row.id: row for row in rows}
        self.ids = {row.path: row.id for row in rows}
        self._named: dict[str, list[FileRow]] = {}
        for row in sorted(rows, key=lambda row: row.path):
            for key in dict.fromkeys(name_keys(row.path)):
                self._named.setdefault(key, []).append(row)

    def find_named(self, key: str) -> list[FileRow]:
        """Find the files of a name or stem, in order of path."""
        return self._named.get(key, [])


def name_keys(path: str) -> tuple[str, str]:
    """Return what a file is found by: its name and its stem, ignoring case."""
    name = path.rpartition("/")[2].lower()
    return name, name.lstrip(".").partition(".")[0]


class NameList:
    """All different names of definitions, each with its letters as bits (``filter_sql.letter_bits``)."""

    def __init__(self, rows: Sequence[tuple[str, int]]) -> None:
        self.keys = [key for key, _ in rows]  # in order
        self._lengths = np.array([len(key) for key in self.keys], dtype=np.int64)
        self._letters = np.array([letters for _, letters in rows], dtype=np.int64)

    def has(self, key: str) -> bool:
        """Whether there is such a name."""
        return self._find_first_from(key) == [key]

    def has_prefix(self, prefix: str) -> bool:
        """Return whether a name begins so."""
        return any(key.startswith(prefix) for key in self._find_first_from(prefix))

    def _find_first_from(self, key: str) -> list[str]:
        index = bisect_left(self.keys, key)
        return self.keys[index : index + 1]

    def find_near(self, length: int, letters: int, edits: int) -> list[str]:
        """Find the names that so many edits could make of one of this length and these letters."""
        about = np.flatnonzero(np.abs(self._lengths - length) <= edits)
        differing = (self._letters[about] ^ letters).view(np.uint16).reshape(-1, 4)
        return [self.keys[i] for i in about[_BIT_COUNTS[differing].sum(axis=1) <= 2 * edits]]


@dataclass
class ReadCache:
    """What a process has read of a view so far, kept between queries."""

    key: Key | None = None
    hot_after: int = HOT_AFTER_QUERIES
    contents: LruCache[int, Content] = field(default_factory=lambda: LruCache(MAX_CONTENTS))
    texts: LruCache[bytes, bytes] = field(default_factory=lambda: LruCache(MAX_TEXT_BYTES))
    files: LruCache[int, StoredFile] = field(default_factory=lambda: LruCache(MAX_CONTENTS))
    term_scores: LruCache[tuple[str, tuple[float, ...], Bm25], TermScores] = field(
        default_factory=lambda: LruCache(MAX_SCORE_BYTES)
    )
    allowed: LruCache[Filter, AllowedIds] = field(default_factory=lambda: LruCache(MAX_FILTERS))
    chunk_masks: LruCache[Filter, Array] = field(default_factory=lambda: LruCache(MAX_FILTERS))
    queries: int = 0
    layout: ChunkLayout | None = None
    directory: Directory | None = None
    names: NameList | None = None
    manifest: Mapping[str, ManifestRow] | None = None
    watched: WatchedTimes | None = None

    def for_state(self, key: Key) -> ReadCache:
        """Return a cache with what still holds at a key, for one more query."""
        held = self if self.key == key else ReadCache(key, self.hot_after, self.contents, self.texts)
        held.queries += 1
        return held

    @property
    def is_hot(self) -> bool:
        """Whether more queries are likely, after the number that there were."""
        return self.queries > self.hot_after
