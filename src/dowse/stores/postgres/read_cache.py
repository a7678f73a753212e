"""What a process keeps between questions, so that it need not ask the server again. All of it has a bound.

Contents never change under their hash; the rest belongs to one state of a view and goes with it.
"""

from __future__ import annotations

import threading
from bisect import bisect_left
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Generic, NamedTuple, TypeVar

import numpy as np

from dowse.stores.postgres.postings import Allowed, Array, Layout, Shares
from dowse.stores.postgres.state import Key, KnownFile
from dowse.types import Filter, ParsedFile, StoredFile

CONTENTS = 6000
"""Parsed files: about 30 MB."""

TEXT_BYTES = 16_000_000
"""Texts of files, compressed."""

SHARES_BYTES = 32_000_000
"""What words add to the scores of chunks: the most common hundred of 100,000 chunks."""

FILTERS = 20
"""Filters whose files are remembered: a session asks with few."""

OFTEN = 3
"""After so many questions of one state it pays to read the lists of all files and names."""

LISTED_FILES = 50_000
LISTED_NAMES = 200_000
"""Longer lists stay on the server."""

_BITS = np.unpackbits(np.arange(1 << 16, dtype=np.uint16).view(np.uint8).reshape(-1, 2), axis=1).sum(axis=1)
"""How many bits are set in each number of 16."""

K = TypeVar("K", bound=Hashable)
V = TypeVar("V")


class Bounded(Generic[K, V]):
    """Values by key; those not used for longest go when all are too large. Safe to use from several threads."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._size = 0
        self._values: dict[K, tuple[V, int]] = {}
        self._guard = threading.Lock()

    def get(self, key: K) -> V | None:
        """A value, if it is still there."""
        with self._guard:
            found = self._values.pop(key, None)
            if found is None:
                return None
            self._values[key] = found
            return found[0]

    def put(self, key: K, value: V, size: int = 1) -> None:
        """Keep a value."""
        with self._guard:
            _, before = self._values.pop(key, (None, 0))
            self._values[key] = value, size
            self._size += size - before
            while self._size > self._most:
                _, gone = self._values.pop(next(iter(self._values)))
                self._size -= gone


class Content(NamedTuple):
    """What was parsed of a content."""

    hash: bytes
    parsed: ParsedFile
    definitions: tuple[tuple[int, ...], ...]


class FileRow(NamedTuple):
    """A file as its table has it."""

    id: int
    path: str
    size: int
    mtime_ns: int
    ctime_ns: int
    role: str
    content: int


class Directory:
    """All files of a view."""

    def __init__(self, rows: list[FileRow]) -> None:
        self.rows = {row.id: row for row in rows}
        self.ids = {row.path: row.id for row in rows}
        self._named: dict[str, list[FileRow]] = {}
        for row in sorted(rows, key=lambda row: row.path):
            for key in dict.fromkeys(name_keys(row.path)):
                self._named.setdefault(key, []).append(row)

    def named(self, key: str) -> list[FileRow]:
        """The files of a name or stem, in order of path."""
        return self._named.get(key, [])


def name_keys(path: str) -> tuple[str, str]:
    """What a file is found by: its name and its stem, ignoring case."""
    name = path.rpartition("/")[2].lower()
    return name, name.lstrip(".").partition(".")[0]


class NameList:
    """All different names of definitions, each with its letters as bits (``conditions.letters``)."""

    def __init__(self, rows: Sequence[tuple[str, int]]) -> None:
        self.keys = [key for key, _ in rows]  # in order
        self._lengths = np.array([len(key) for key in self.keys], dtype=np.int64)
        self._letters = np.array([letters for _, letters in rows], dtype=np.int64)

    def has(self, key: str) -> bool:
        """Whether there is such a name."""
        return self._at(key) == [key]

    def begins(self, prefix: str) -> bool:
        """Whether a name begins so."""
        return any(key.startswith(prefix) for key in self._at(prefix))

    def _at(self, key: str) -> list[str]:
        place = bisect_left(self.keys, key)
        return self.keys[place : place + 1]

    def near(self, length: int, letters: int, edits: int) -> list[str]:
        """The names that so many edits could make of one of this length and these letters."""
        about = np.flatnonzero(np.abs(self._lengths - length) <= edits)
        differing = (self._letters[about] ^ letters).view(np.uint16).reshape(-1, 4)
        return [self.keys[i] for i in about[_BITS[differing].sum(axis=1) <= 2 * edits]]


@dataclass
class Remembered:
    """What was read so far."""

    key: Key | None = None
    often: int = OFTEN
    contents: Bounded[int, Content] = field(default_factory=lambda: Bounded(CONTENTS))
    texts: Bounded[bytes, bytes] = field(default_factory=lambda: Bounded(TEXT_BYTES))
    files: Bounded[int, StoredFile] = field(default_factory=lambda: Bounded(CONTENTS))
    shares: Bounded[tuple[str, tuple[float, ...]], Shares] = field(
        default_factory=lambda: Bounded(SHARES_BYTES)
    )
    allowed: Bounded[Filter, Allowed] = field(default_factory=lambda: Bounded(FILTERS))
    passes: Bounded[Filter, Array] = field(default_factory=lambda: Bounded(FILTERS))
    questions: int = 0
    layout: Layout | None = None
    directory: Directory | None = None
    names: NameList | None = None
    manifest: Mapping[str, KnownFile] | None = None
    folders: Mapping[str, int] | None = None

    def at(self, key: Key) -> Remembered:
        """What still holds at a key, for one more question."""
        held = self if self.key == key else Remembered(key, self.often, self.contents, self.texts)
        held.questions += 1
        return held

    @property
    def asked_often(self) -> bool:
        """Whether there were so many questions that there will be more."""
        return self.questions > self.often
