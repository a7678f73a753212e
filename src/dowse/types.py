"""Every value that crosses a stage. Values only: nothing here reads a file or decides anything.

Rows made by the thousand (entities, chunks, hits) are named tuples, which cost a third of a frozen
dataclass to build; everything else is a frozen, slotted dataclass.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import NamedTuple

# --- source text, understood -------------------------------------------------------------------


class Kind(StrEnum):
    """What an entity is. Languages map their own words onto these."""

    FILE = "file"
    MODULE = "module"
    CLASS = "class"
    INTERFACE = "interface"
    TRAIT = "trait"
    STRUCT = "struct"
    ENUM = "enum"
    IMPL = "impl"
    TYPE = "type"
    FUNCTION = "function"
    METHOD = "method"
    CONSTANT = "constant"
    VARIABLE = "variable"
    MACRO = "macro"
    BLOCK = "block"
    SECTION = "section"


class ParseHealth(StrEnum):
    """How well a file's text was understood."""

    OK = "ok"
    PARTIAL = "partial"
    FAILED = "failed"
    NO_GRAMMAR = "no grammar"


class Entity(NamedTuple):
    """A named place in a file: what a user is pointed at. Lines are 1-based and inclusive."""

    name: str
    qualified: str
    kind: Kind
    start_line: int
    end_line: int
    line: int
    parent: int | None
    signature: str
    doc: str


class Chunk(NamedTuple):
    """A run of lines that is retrieved as one; ``entity`` is the innermost entity around all of it.

    ``start`` and ``end`` are byte offsets into the content: more precise than lines where one line is
    longer than a chunk.
    """

    start_line: int
    end_line: int
    start: int
    end: int
    entity: int | None


class ReferenceKind(StrEnum):
    """How one place mentions another."""

    IMPORT = "import"
    CALL = "call"
    INHERIT = "inherit"


class Reference(NamedTuple):
    """A mention of something defined elsewhere, as written."""

    kind: ReferenceKind
    target: str
    line: int


class ChunkTerms(NamedTuple):
    """The tokens of one chunk by field, each a string of tokens separated by single spaces."""

    name: str
    path: str
    signature: str
    doc: str
    body: str


@dataclass(frozen=True, slots=True)
class ParsedFile:
    """What is known of a file's content, whatever its path and checkout."""

    language: str
    health: ParseHealth
    entities: tuple[Entity, ...]
    chunks: tuple[Chunk, ...]


class MaskedSecret(NamedTuple):
    """A secret that was blanked out before indexing: where, and by which rule. Never its value."""

    path: str
    line: int
    rule: str


# --- discovery and change ----------------------------------------------------------------------


class SkipReason(StrEnum):
    """Why a file on disk is not in the index."""

    IGNORED = "ignored by an ignore file"
    DEFAULT_EXCLUDED = "excluded by default"
    EXCLUDED = "excluded by a setting"
    NOT_INCLUDED = "not matched by include"
    TOO_LARGE = "too large"
    BINARY = "binary"
    EMPTY = "empty"
    MINIFIED = "minified or generated bundle"
    SYMLINK = "symlink that leaves the tree or repeats a part of it"
    UNREADABLE = "unreadable"
    NOT_A_FILE = "not a regular file"
    MISSING = "not there"
    OUTSIDE = "outside the root"
    FAILED = "failed to index"


class FileStamp(NamedTuple):
    """What ``stat`` said when a file was read: equal stamps mean that nothing has to be read again."""

    size: int
    mtime_ns: int


class Candidate(NamedTuple):
    """A file that discovery offers for indexing. ``path`` is POSIX-style and relative to the root."""

    path: str
    stamp: FileStamp


class Folder(NamedTuple):
    """A folder that discovery walked (the root is ``""``): a new time stamp means a name came or went."""

    path: str
    mtime_ns: int


class Skipped(NamedTuple):
    """A file or folder that is left out: why, and by which rule (``.gitignore:3 *.log``)."""

    path: str
    reason: SkipReason
    detail: str


class Role(StrEnum):
    """What part a file plays in its tree, judged by its path."""

    SOURCE = "source"
    TEST = "test"
    EXAMPLE = "example"
    GENERATED = "generated"
    VENDORED = "vendored"
    DOCS = "docs"
    CONFIG = "config"


class ChunkVector(NamedTuple):
    """A chunk's embedding (float32, little-endian, length one) under the hash of what was embedded."""

    key: bytes
    vector: bytes


@dataclass(frozen=True, slots=True)
class SourceFile:
    """A file ready to be stored: where it is, what it says (UTF-8), what was understood."""

    path: str
    stamp: FileStamp
    content_hash: bytes
    role: Role
    content: bytes
    parsed: ParsedFile
    terms: tuple[ChunkTerms, ...]
    secrets: tuple[MaskedSecret, ...] = ()
    vectors: tuple[ChunkVector, ...] = ()


@dataclass(frozen=True, slots=True)
class IndexReport:
    """What one complete indexing run saw and did; kept with the index for ``dowse status``."""

    seen: int
    indexed: int
    added: int
    changed: int
    removed: int
    unchanged: int
    skipped: Mapping[str, int]
    failures: tuple[Skipped, ...]
    seconds: float


# --- what a store keeps and returns ------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class StoredFile:
    """A file as the index has it. A changed file gets a new ``id``; none is ever used again."""

    id: int
    path: str
    stamp: FileStamp
    content_hash: bytes
    role: Role
    parsed: ParsedFile
    definitions: tuple[tuple[int, ...], ...]  # for each chunk, the entities whose line of definition it holds


class Scored(NamedTuple):
    """A chunk that a channel returns, best first. ``chunk`` is a global id: see ``chunk_id``."""

    chunk: int
    score: float


class NameTier(StrEnum):
    """How a name matched, best first."""

    EXACT = "exact"
    CASE = "case-insensitive"
    PREFIX = "prefix"
    GLOB = "glob"
    FUZZY = "fuzzy"


class NameHit(NamedTuple):
    """An entity found by its name; ``chunk`` is the chunk that holds the line with the name."""

    file: int
    entity: int
    chunk: int
    tier: NameTier


CHUNK_BITS = 20
"""A chunk's global id is the file's id and the chunk's place in the file: a million chunks per file."""


def chunk_id(file: int, ordinal: int) -> int:
    """The global id of a file's n-th chunk."""
    return file << CHUNK_BITS | ordinal


def split_chunk_id(chunk: int) -> tuple[int, int]:
    """The file's id and the place in it that a chunk's global id stands for."""
    return chunk >> CHUNK_BITS, chunk & ((1 << CHUNK_BITS) - 1)


@dataclass(frozen=True, slots=True)
class Filter:
    """What a hit must be. Empty means anything; several values of one field are alternatives."""

    languages: frozenset[str] = frozenset()
    paths: tuple[str, ...] = ()
    not_paths: tuple[str, ...] = ()
    kinds: frozenset[Kind] = frozenset()
    names: tuple[str, ...] = ()
    tests: bool | None = None

    @property
    def about_files(self) -> bool:
        """Whether some files are ruled out as a whole."""
        return bool(self.languages or self.paths or self.not_paths or self.tests is not None)

    @property
    def about_chunks(self) -> bool:
        """Whether some chunks of a file may be ruled out."""
        return bool(self.kinds or self.names)


class IndexState(StrEnum):
    """What there is to search, by name."""

    MISSING = "missing"
    OTHER_VERSION = "other version"
    OTHER_SETTINGS = "other settings"
    CURRENT = "current"


@dataclass(frozen=True, slots=True)
class IndexStatus:
    """An index at a glance."""

    state: IndexState
    location: str
    generation: int = 0
    files: int = 0
    chunks: int = 0
    entities: int = 0
    size_bytes: int = 0
    languages: Mapping[str, int] = field(default_factory=dict)
    health: Mapping[str, int] = field(default_factory=dict)
    secrets: tuple[MaskedSecret, ...] = ()
    report: IndexReport | None = None
    parts: Mapping[str, int] = field(default_factory=dict)  # the generation that each part of it has


# --- a question and its answer -----------------------------------------------------------------


class Term(NamedTuple):
    """A token to look for and how much it counts."""

    text: str
    weight: float


@dataclass(frozen=True, slots=True)
class AnalysedQuery:
    """How a question was read."""

    text: str
    terms: tuple[Term, ...]
    names: tuple[str, ...]
    files: tuple[str, ...]
    words: tuple[str, ...]
    dropped: tuple[str, ...]
    reading: str


class Match(StrEnum):
    """Which kind of evidence found a hit."""

    KEYWORD = "keyword"
    SEMANTIC = "semantic"
    BOTH = "both"
    NAME = "name"


@dataclass(frozen=True, slots=True)
class Reason:
    """One named contribution to a hit's score: what it multiplies or adds, and why."""

    name: str
    value: float
    detail: str = ""


@dataclass(frozen=True, slots=True)
class ChannelReport:
    """Whether a channel ran, what it brought, how long it took, and why it did not run."""

    name: str
    ran: bool
    hits: int = 0
    milliseconds: float = 0.0
    why_not: str = ""


@dataclass(frozen=True, slots=True)
class SearchResult:
    """A place in the answer. ``text`` is what the lines say; ``fresh`` whether they still say it on disk."""

    path: str
    start_line: int
    end_line: int
    entity: str
    kind: Kind
    language: str
    relevance: float
    score: float
    match: Match
    reasons: tuple[Reason, ...]
    text: str
    signature: str = ""
    fresh: bool = True


@dataclass(frozen=True, slots=True)
class SearchResponse:
    """The answer to a question, with the trace of how it was found."""

    query: AnalysedQuery
    root: str
    channels: tuple[ChannelReport, ...]
    results: tuple[SearchResult, ...]
    generation: int
    milliseconds: float
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class SearchOptions:
    """What a caller may ask of one search."""

    limit: int = 10
    filter: Filter = Filter()
    before: int | None = None
    after: int | None = None
    text: bool = True


Vector = Sequence[float]
"""A query's or a chunk's place in the space of the embedder."""
