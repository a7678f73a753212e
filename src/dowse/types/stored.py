"""Stored index types: files, scored chunks and their ids, filters, name match tiers, index status."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from enum import StrEnum
from itertools import repeat
from operator import itemgetter
from typing import Any, NamedTuple, TypeVar

from dowse.frozen import frozen
from dowse.types.discovered import NO_COUNTS, FileStamp, IndexReport
from dowse.types.source import Definitions, Kind, MaskedSecret, ParsedFile, Role

Row = TypeVar("Row", bound=NamedTuple)


def make_rows(kind: type[Row], rows: Iterable[Iterable[Any]]) -> Iterator[Row]:
    """Plain tuples as named ones: their own constructor, a call of Python for each, takes up to three times as long."""
    return map(tuple.__new__, repeat(kind), rows)


@frozen
class StoredFile:
    """A file as the index has it. A changed file gets a new ``id``; none is ever used again."""

    id: int
    path: str
    stamp: FileStamp
    content_hash: bytes
    role: Role
    parsed: ParsedFile
    definitions: Definitions


class FileReferences(NamedTuple):
    """What a file of the index defines and mentions, packed by ``code/references.py``."""

    path: str
    content_hash: bytes
    language: str
    role: Role
    packed: bytes


class Scored(NamedTuple):
    """A chunk that a channel returns, best first. ``chunk`` is a global id: see ``chunk_id``."""

    chunk: int
    score: float


_CHUNK, _SCORE = itemgetter(0), itemgetter(1)


def best_first(chunks: Iterable[int], scores: Iterable[float]) -> list[Scored]:
    """Chunks by their scores, of equals the first; both sorts are stable, and nothing here calls back."""
    found = sorted(zip(chunks, scores, strict=True), key=_CHUNK)
    found.sort(key=_SCORE, reverse=True)
    return list(make_rows(Scored, found))


def shortest_first(tokens: Iterable[str], limit: int) -> list[str]:
    """Return the shortest of some tokens, of equal length in order."""
    return sorted(tokens, key=lambda token: (len(token), token))[:limit]


class Bm25(NamedTuple):
    """BM25's constants: how soon more of a word counts no more, and how much the length of a chunk counts."""

    k1: float = 1.2
    b: float = 0.75


DEFAULT_BM25 = Bm25()
"""What the lexical engine of the embedded store has, which can do no other."""


class NameTier(StrEnum):
    """How a name matched, best first."""

    EXACT = "exact"
    CASE = "case-insensitive"
    PREFIX = "prefix"
    GLOB = "glob"
    FUZZY = "fuzzy"


TIER_SCORES = {
    NameTier.EXACT: 1.0,
    NameTier.CASE: 0.9,
    NameTier.GLOB: 0.7,
    NameTier.PREFIX: 0.5,
    NameTier.FUZZY: 0.4,
}
"""How sure a match is, from 0 to 1."""


class NameHit(NamedTuple):
    """An entity found by its name; ``chunk`` is the chunk that holds the line with the name."""

    file: int
    entity: int
    chunk: int
    tier: NameTier
    kind: Kind


CHUNK_BITS = 20
"""A chunk's global id is the file's id and the chunk's place in the file: a million chunks per file."""


def chunk_id(file: int, ordinal: int) -> int:
    """Return the global id of a file's n-th chunk."""
    return file << CHUNK_BITS | ordinal


def split_chunk_id(chunk: int) -> tuple[int, int]:
    """Split a chunk's global id into the file's id and its ordinal in the file."""
    return chunk >> CHUNK_BITS, chunk & ((1 << CHUNK_BITS) - 1)


class FileFacts(NamedTuple):
    """What a filter may ask of a file. ``changed_ns`` is when it was last modified."""

    path: str
    language: str
    role: str
    changed_ns: int


@frozen
class Filter:
    """Filter of hits by language, path, role, kind, name and time. Empty means anything; values of a field are
    alternatives.
    """

    languages: frozenset[str] = frozenset()
    not_languages: frozenset[str] = frozenset()
    paths: tuple[str, ...] = ()
    not_paths: tuple[str, ...] = ()
    roles: frozenset[Role] = frozenset()
    not_roles: frozenset[Role] = frozenset()
    changed_since_ns: int | None = None
    kinds: frozenset[Kind] = frozenset()
    not_kinds: frozenset[Kind] = frozenset()
    names: tuple[str, ...] = ()

    @property
    def about_files(self) -> bool:
        """Whether some files are ruled out as a whole."""
        lists = (self.languages, self.not_languages, self.paths, self.not_paths, self.roles, self.not_roles)
        return any(lists) or self.changed_since_ns is not None

    @property
    def about_chunks(self) -> bool:
        """Whether some chunks of a file may be ruled out."""
        return bool(self.kinds or self.not_kinds or self.names)


NO_FILTER = Filter()


class IndexState(StrEnum):
    """Whether there is an index to search, and whether it is current."""

    MISSING = "missing"
    OTHER_VERSION = "other version"
    OTHER_SETTINGS = "other settings"
    CURRENT = "current"


@frozen
class IndexStatus:
    """The statistics and state of an index, for ``dowse status``."""

    state: IndexState
    location: str
    generation: int = 0
    files: int = 0
    chunks: int = 0
    entities: int = 0
    size_bytes: int = 0
    languages: Mapping[str, int] = NO_COUNTS
    health: Mapping[str, int] = NO_COUNTS
    secrets: tuple[MaskedSecret, ...] = ()
    report: IndexReport | None = None
    parts: Mapping[str, int] = NO_COUNTS  # the generation that each part of it has


@frozen
class ViewStatus:
    """The state of one checkout (view) in a shared store."""

    repository: str
    view: str
    generation: int
    complete: bool  # a run over all of it has finished
    files: int
    chunks: int
    dimensions: tuple[int, ...]  # lengths of its vectors
    graphs: int  # how many of these have a graph
    segments: int
    written: str  # when, in UTC
    being_written: bool


@frozen
class ServerStatus:
    """The state of a shared store: server, sizes, views."""

    location: str
    schema: str
    version: str
    extensions: Mapping[str, str]
    size_bytes: int
    views: tuple[ViewStatus, ...]
    notes: tuple[str, ...] = ()
    product: str = "PostgreSQL"


class Collected(NamedTuple):
    """What garbage collection removed from a shared store."""

    views: int
    contents: int
    vectors: int
    tables: int


Vector = Sequence[float]
"""A query's or a chunk's place in the space of the embedder."""
