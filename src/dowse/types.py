"""Every value that crosses a stage. Values only: nothing here reads a file or decides anything.

Rows made by the thousand (entities, chunks, hits) and what every question makes (results, the question taken apart)
are named tuples, which cost a third of a frozen dataclass to build; everything else is a frozen, slotted dataclass.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from enum import StrEnum
from itertools import repeat
from operator import itemgetter
from typing import Any, NamedTuple, TypeVar

Row = TypeVar("Row", bound=NamedTuple)


def named(kind: type[Row], rows: Iterable[tuple[Any, ...]]) -> Iterator[Row]:
    """Plain tuples as named ones: their own constructor, a call of Python for each, takes up to three times as long."""
    return map(tuple.__new__, repeat(kind), rows)


# --- source text, understood -------------------------------------------------------------------


class Kind(StrEnum):
    """What an entity is. Languages map their own words onto these."""

    DIRECTORY = "directory"
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
    OVER_BUDGET = "over budget"  # taking it apart took too much time or memory: cut by lines


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


class Outline(NamedTuple):
    """What the graph knows of an entity."""

    qualified: str
    kind: Kind
    start_line: int
    end_line: int
    line: int


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
    """How one place mentions another, and what its own names stand for."""

    IMPORT = "import"
    CALL = "call"
    DECORATOR = "decorator"
    INHERIT = "inherit"
    BIND = "bind"
    FIELD = "field"
    PARAMETER = "parameter"
    RETURN = "return"
    YIELD = "yield"
    LINK = "link"


Reference = tuple[str, int, str]
"""A mention of something, as written: its name, its line, and details: the names that are imported, what a call goes
through (``self.pool``), what a name is bound to (``Pool()``, or ``:Pool`` for a type that is declared). A plain
tuple, because a tree has hundreds of thousands."""

References = Mapping[ReferenceKind, Sequence[Reference]]
"""What a file mentions, in order of position."""


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
    entities: Sequence[Entity]
    chunks: Sequence[Chunk]


Definitions = tuple[tuple[int, ...], ...]
"""For each chunk of a file, the places of the entities whose line of definition it holds."""


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
    WORK_TREE = "another work tree of a repository in the tree"
    EXCLUDED = "excluded by a setting"
    NOT_INCLUDED = "not matched by include"
    TOO_LARGE = "too large"
    BINARY = "binary"
    MINIFIED = "minified or generated bundle"
    SYMLINK = "symlink that leaves the tree or repeats a part of it"
    UNREADABLE = "unreadable"
    NOT_A_FILE = "not a regular file"
    MISSING = "not there"
    OUTSIDE = "outside the root"
    FAILED = "failed to index"


LEFT_OUT = "/"
"""Begins the path of a file that its content leaves out, where it stands among folders."""


OUTER_RULES = "//"
"""Begins the path of an ignore file that is no part of the tree, where it stands among folders; as ``LEFT_OUT`` begins
it too, what begins with neither is a folder."""


class FileStamp(NamedTuple):
    """What ``stat`` said when a file was read: equal stamps mean that nothing has to be read again.

    ``ctime_ns`` is when the system itself last noted a change, which nobody can set; 0 where it does not.
    """

    size: int
    mtime_ns: int
    ctime_ns: int = 0

    @property
    def changed_ns(self) -> int:
        """When anything of it was last changed, its permissions included where the system notes that."""
        return self.ctime_ns or self.mtime_ns


class Candidate(NamedTuple):
    """A file that discovery offers for indexing. ``path`` is POSIX-style and relative to the root."""

    path: str
    stamp: FileStamp


class Folder(NamedTuple):
    """A folder that discovery walked (the root is ``""``): a new time stamp means that a name came or went, or that it
    can be read by now.

    Also a file that its content leaves out (empty, too large, binary), behind ``LEFT_OUT``, and an ignore file that is
    not indexed (in a folder above, of the repository, of the user, or ignored itself) or ``.git`` of a work tree that
    is left out, behind ``OUTER_RULES``; -1 if it is not there. That they change shows nowhere else.
    """

    path: str
    changed_ns: int


class Skipped(NamedTuple):
    """A file or folder that is left out: why, and by which rule (``.gitignore:3 *.log``)."""

    path: str
    reason: SkipReason
    detail: str

    @property
    def is_folder(self) -> bool:
        """Whether it is a folder, with all that is in it."""
        return self.path.endswith("/")


class Role(StrEnum):
    """What part a file plays in its tree, judged by its path."""

    SOURCE = "source"
    TEST = "test"
    EXAMPLE = "example"
    GENERATED = "generated"
    VENDORED = "vendored"
    DOCS = "docs"
    CONFIG = "config"


KEY_BYTES = 16
"""What the key of a vector takes."""


class ChunkVector(NamedTuple):
    """A chunk's embedding (float32, little-endian, length one) under the hash of what was embedded."""

    key: bytes
    vector: bytes


class PreparedChunk(NamedTuple):
    """What an embedder is to know of a chunk, under the key of its vector."""

    key: bytes
    document: bytes


class SourceFile(NamedTuple):
    """A file ready to be stored: where it is, what it says (UTF-8), what was understood."""

    path: str
    stamp: FileStamp
    content_hash: bytes
    role: Role
    content: bytes
    parsed: ParsedFile
    definitions: Definitions
    terms: tuple[ChunkTerms, ...]
    secrets: tuple[MaskedSecret, ...] = ()
    vectors: tuple[ChunkVector, ...] = ()
    references: bytes = b""  # packed by code/references.py; empty if the content is known to the store
    prepared: tuple[PreparedChunk, ...] = ()  # of embedders that prepare; not stored
    awaits_vectors: bool = False  # the embedder failed: to a writer, the file is not known yet


@dataclass(frozen=True, slots=True)
class IndexReport:
    """What one complete indexing run saw and did; kept with the index for ``dowse status``."""

    seen: int
    indexed: int
    added: int
    changed: int
    removed: int
    unchanged: int
    skipped: Mapping[str, int]  # files by reason: with those that are indexed, they are all that were seen
    failures: tuple[Skipped, ...]
    seconds: float
    without_vectors: int = 0  # files that wait for vectors because the embedder failed
    why_without: str = ""
    skipped_folders: Mapping[str, int] = field(default_factory=dict)  # left out whole, nobody knows with what
    repaired: tuple[str, ...] = ()  # parts of the index that were damaged or lost, and were made anew


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
    return list(named(Scored, found))


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
    kind: Kind


CHUNK_BITS = 20
"""A chunk's global id is the file's id and the chunk's place in the file: a million chunks per file."""


def chunk_id(file: int, ordinal: int) -> int:
    """The global id of a file's n-th chunk."""
    return file << CHUNK_BITS | ordinal


def split_chunk_id(chunk: int) -> tuple[int, int]:
    """The file's id and the place in it that a chunk's global id stands for."""
    return chunk >> CHUNK_BITS, chunk & ((1 << CHUNK_BITS) - 1)


class FileFacts(NamedTuple):
    """What a filter may ask of a file. ``changed_ns`` is when it was last modified."""

    path: str
    language: str
    role: str
    changed_ns: int


@dataclass(frozen=True, slots=True)
class Filter:
    """What a hit must be, and must not be. Empty means anything; several values of one field are alternatives."""

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


@dataclass(frozen=True, slots=True)
class ViewStatus:
    """One checkout in a store that many share."""

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


@dataclass(frozen=True, slots=True)
class ServerStatus:
    """A store that many share, at a glance."""

    location: str
    schema: str
    version: str
    extensions: Mapping[str, str]
    size_bytes: int
    views: tuple[ViewStatus, ...]
    notes: tuple[str, ...] = ()


class Collected(NamedTuple):
    """What was taken out of a store that many share."""

    views: int
    contents: int
    vectors: int
    tables: int


# --- the graph -----------------------------------------------------------------------------------


class Relation(StrEnum):
    """How one node of the graph depends on another."""

    CONTAINS = "contains"
    IMPORTS = "imports"
    INVOKES = "invokes"
    INHERITS = "inherits"
    REFERENCES = "references"
    DECLARES = "declares"


class Certainty(StrEnum):
    """What is known of the other end of an edge."""

    RESOLVED = "resolved"
    AMBIGUOUS = "ambiguous"
    EXTERNAL = "external"


class Node(NamedTuple):
    """A directory, a file or an entity. The id is ``path`` or ``path:Class.method``; lines are 0 for directories."""

    id: str
    kind: Kind
    start_line: int = 0
    end_line: int = 0
    line: int = 0


class Edge(NamedTuple):
    """One node mentions another. Of an ambiguous edge the target is a name, and ``candidates`` what it may mean."""

    source: str
    target: str
    relation: Relation
    certainty: Certainty
    line: int
    candidates: tuple[str, ...] = ()


class Direction(StrEnum):
    """Which way edges are followed."""

    USES = "uses"
    USED_BY = "used-by"
    BOTH = "both"


class Step(NamedTuple):
    """How a walk came to a node: from which one, by which edge, and whether against its direction."""

    depth: int
    parent: str
    node: str
    edge: Edge
    backward: bool


@dataclass(frozen=True, slots=True)
class Walk:
    """What can be asked of a walk over the graph."""

    direction: Direction = Direction.USES
    depth: int = 2  # -1: as far as it goes
    relations: frozenset[Relation] = frozenset()  # none: all of them
    kinds: frozenset[Kind] = frozenset()  # none: all of them
    ambiguous: bool = False  # follow what is known by name only
    external: bool = False  # name what lies outside of the tree
    limit: int = 1000  # nodes


@dataclass(frozen=True, slots=True)
class GraphAnswer:
    """A part of the graph: where it starts, and how each other node is reached, in the order of a tree."""

    question: str
    start: tuple[str, ...]
    nodes: Mapping[str, Node]
    steps: tuple[Step, ...]
    notes: tuple[str, ...] = ()


class EntityHit(NamedTuple):
    """An entity that a query names or describes; ``tier`` is id, file, a ``NameTier`` or content."""

    id: str
    kind: Kind
    path: str
    start_line: int
    end_line: int
    signature: str
    tier: str


class EntityCode(NamedTuple):
    """The code of an entity. Of a directory, what it holds."""

    id: str
    kind: Kind
    path: str
    start_line: int
    end_line: int
    text: str


class Hub(NamedTuple):
    """A node and how many others depend on it."""

    node: Node
    dependents: int
    rank: float


@dataclass(frozen=True, slots=True)
class Affected:
    """What a change reaches: entities changed, their dependents, tests to run, files that usually change with them."""

    changed: tuple[Node, ...]
    removed: tuple[str, ...]
    dependents: GraphAnswer
    tests: tuple[tuple[str, str], ...]  # path and why
    companions: tuple[tuple[str, float, int], ...]  # path, share of commits, commits
    notes: tuple[str, ...] = ()


# --- a question and its answer -----------------------------------------------------------------


class QueryRegex(NamedTuple):
    """A regular expression in a question (Python's syntax, known to compile)."""

    pattern: str
    ignore_case: bool = False

    @property
    def compilable(self) -> tuple[bytes, int]:
        """Pattern and flags as ``re`` takes them: bytes are searched, ``^`` and ``$`` are at the ends of lines."""
        flags = re.MULTILINE | (re.IGNORECASE if self.ignore_case else 0)
        return self.pattern.encode("utf-8", "surrogatepass"), int(flags)


class AddedTerm(NamedTuple):
    """A term that the term graph added to a question: of which entry, and what in the question asked for it."""

    term: str
    canonical: str
    matched: str


class RewriteTrace(NamedTuple):
    """What became of the text of a query before it was searched for: the trace of rewriting and enriching."""

    original: str = ""
    rewritten: str = ""  # the same as the original if nothing rewrote it
    enriched: str = ""  # the same as the rewritten if no term matched
    added: tuple[AddedTerm, ...] = ()
    rewriter: str = ""  # what rewrote it, or should have
    why_not: str = ""  # why that did not happen


class ParsedQuery(NamedTuple):
    """A question in the query language, taken apart. Values of fields are as written, except ``is:``.

    Several values of one field are alternatives. ``changed`` is a time back from now, or a moment (local time).
    """

    text: str = ""
    languages: tuple[str, ...] = ()
    not_languages: tuple[str, ...] = ()
    paths: tuple[str, ...] = ()
    not_paths: tuple[str, ...] = ()
    kinds: tuple[str, ...] = ()
    not_kinds: tuple[str, ...] = ()
    names: tuple[str, ...] = ()
    roles: tuple[Role, ...] = ()
    not_roles: tuple[Role, ...] = ()
    changed: timedelta | datetime | None = None
    phrases: tuple[str, ...] = ()
    regexes: tuple[QueryRegex, ...] = ()
    notes: tuple[str, ...] = ()
    rewrite: RewriteTrace = RewriteTrace()  # how ``text`` became what it is, and what is to be added to it

    @property
    def has_filters(self) -> bool:
        """Whether it says what a hit must be, beside what it is about."""
        wanted = self.languages or self.paths or self.kinds or self.names or self.roles
        unwanted = self.not_languages or self.not_paths or self.not_kinds or self.not_roles
        return bool(wanted or unwanted) or self.changed is not None


class Term(NamedTuple):
    """A token to look for and how much it counts."""

    text: str
    weight: float


class Frame(NamedTuple):
    """A place that a stack trace, a compiler or a test run names; line 0 and function "" where it names none.

    ``path`` has forward slashes and may be absolute, relative to any folder, or only the end of a path.
    """

    path: str
    line: int
    function: str = ""


class LanguageVersion(NamedTuple):
    """A version of a language that a question names."""

    word: str  # for the language, in lower case
    major: int
    minor: int | None  # none if the question has only one number


@dataclass(frozen=True, slots=True)
class Query:
    """A query as it is searched for: its terms and names, what kind it is (``reading``), what a hit must pass."""

    text: str
    terms: tuple[Term, ...]
    names: tuple[str, ...]
    files: tuple[str, ...]
    words: tuple[str, ...]
    dropped: tuple[str, ...]
    reading: str
    frames: tuple[Frame, ...] = ()
    versions: tuple[LanguageVersion, ...] = ()
    filter: Filter = Filter()
    phrases: tuple[str, ...] = ()
    regexes: tuple[QueryRegex, ...] = ()
    rewrite: RewriteTrace = field(default_factory=RewriteTrace)
    depends_on_time: bool = False  # whether the same query means something else later (``changed:2d``)

    @property
    def is_exact(self) -> bool:
        """Whether a hit must have phrases or patterns."""
        return bool(self.phrases or self.regexes)


class Match(StrEnum):
    """Which kind of evidence found a hit."""

    EXACT = "exact"
    KEYWORD = "keyword"
    SEMANTIC = "semantic"
    BOTH = "both"
    NAME = "name"


class Reason(NamedTuple):
    """One named contribution to a hit's score: what it multiplies or adds, and why."""

    name: str
    value: float
    detail: str = ""


@dataclass(frozen=True, slots=True)
class ChannelReport:
    """Whether a channel ran, what it brought, how long it took, and why it did not run.

    ``failed`` if it should have: the next time it may.
    """

    name: str
    ran: bool
    hits: int = 0
    milliseconds: float = 0.0
    why_not: str = ""
    failed: bool = False
    best: float = 0.0  # its best score, before anything is weighed


class Stage(NamedTuple):
    """A step of an answer, and how long it took."""

    name: str
    milliseconds: float


class SearchResult(NamedTuple):
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
    repository: str = ""  # its name, where several were asked
    uses: tuple[str, ...] = ()
    used_by: tuple[str, ...] = ()
    tests: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class RepositoryReport:
    """A repository that was asked along with others: where it is, what it brought, or why nothing."""

    name: str
    root: str
    generation: int = 0
    hits: int = 0
    problem: str = ""


@dataclass(frozen=True, slots=True)
class SearchResponse:
    """The answer to a question, with the trace of how it was found."""

    query: Query
    root: str
    channels: tuple[ChannelReport, ...]
    results: tuple[SearchResult, ...]
    generation: int
    milliseconds: float
    notes: tuple[str, ...] = ()
    stages: tuple[Stage, ...] = ()
    cached: str = ""  # "exact" or "semantic" if the answer was given before
    weak: bool = False  # nothing good was found: the few results are guesses
    repositories: tuple[RepositoryReport, ...] = ()  # where several were asked


class Verdict(StrEnum):
    """What became of a place in the answer to a question."""

    SHOWN = "shown"
    RANKED = "ranked below what is shown"
    TOO_WEAK = "too weak to be shown"
    NOT_CONSIDERED = "not among the candidates"
    FILTERED = "filtered out"
    NOT_INDEXED = "not in the index"
    LEFT_OUT = "left out of the index"


class TermStanding(NamedTuple):
    """A term of the question at a place: the fields that have it (none: it is missing), and how many chunks do."""

    text: str
    weight: float
    fields: tuple[str, ...]
    chunks: int


@dataclass(frozen=True, slots=True)
class ChannelStanding:
    """Where a channel ranks a place, of how many; scores of the place, of the first and of the last considered.

    Rank 0: the channel does not have it. A rank beyond ``considered`` was looked up for the explanation.
    """

    name: str
    rank: int
    score: float
    considered: int
    best: float
    last: float
    why_not: str = ""


@dataclass(frozen=True, slots=True)
class Rival:
    """A hit that ranks above a place, and the terms of the question it has and the place has not."""

    rank: int
    path: str
    start_line: int
    end_line: int
    entity: str
    score: float
    reasons: tuple[Reason, ...]
    terms: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Explanation:
    """Why a place ranks where it does, or why it is not there. Line 0: the best place of the file.

    ``detail`` is the rule, the filter or the phrase that decided; ``rank`` is 0 where there is none.
    """

    query: Query
    root: str
    path: str
    line: int
    verdict: Verdict
    detail: str = ""
    rank: int = 0
    candidates: int = 0
    result: SearchResult | None = None
    terms: tuple[TermStanding, ...] = ()
    channels: tuple[ChannelStanding, ...] = ()
    above: tuple[Rival, ...] = ()
    generation: int = 0
    stages: tuple[Stage, ...] = ()
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class SearchOptions:
    """What a caller may ask of one search. None: as the settings say."""

    limit: int = 10
    filter: Filter = Filter()
    before: int | None = None
    after: int | None = None
    text: bool = True
    min_score: float | None = None  # hits of less relevance are left out
    show_weak: bool | None = None  # all hits are shown even if none is good
    near: tuple[
        tuple[str, float], ...
    ] = ()  # files around the caller's cursor, and how near each is (0 to 1)
    neighbours: bool = False  # say of each hit what it uses, what uses it, and its tests


@dataclass(frozen=True, slots=True)
class Revision:
    """The commit that a tree is at, and those of the files asked about that differ from what git has."""

    commit: str
    branch: str
    dirty: tuple[str, ...] = ()


class Detail(StrEnum):
    """How much of a hit is shown, least first."""

    IDS = "ids"
    SIGNATURE = "signature"
    PREVIEW = "preview"
    FULL = "full"


@dataclass(frozen=True, slots=True)
class PackedHit:
    """A hit as it is shown: its lines, header first, the ranges of its lines in the file that are not, its tokens."""

    result: SearchResult
    detail: Detail
    lines: tuple[str, ...]
    cut: tuple[tuple[int, int], ...] = ()
    tokens: int = 0


@dataclass(frozen=True, slots=True)
class Packed:
    """An answer that fits a budget, and what was left out: ``path:start-end`` of hits and of parts of hits."""

    hits: tuple[PackedHit, ...]
    omitted: tuple[str, ...]
    cut: tuple[str, ...]
    text: str
    tokens: int
    budget: int


Vector = Sequence[float]
"""A query's or a chunk's place in the space of the embedder."""
