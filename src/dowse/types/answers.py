"""Search response types: hits with score, relevance and reasons, search options, channel reports, packed answers."""

from __future__ import annotations

from enum import StrEnum
from typing import NamedTuple

from dowse.frozen import frozen
from dowse.types.queries import Query
from dowse.types.source import Kind
from dowse.types.stored import NO_FILTER, Filter

NO_GOOD_HITS_NOTE = "nothing good was found; what is shown is a guess"
"""The note on an answer of low confidence."""


class Match(StrEnum):
    """Which kind of evidence found a hit."""

    EXACT = "exact"  # a phrase, a pattern, a line that the query names, or filters alone
    NAME = "name"  # a definition by its name
    FILE = "file"  # a file by its name
    KEYWORD = "keyword"
    SEMANTIC = "semantic"
    BOTH = "both"  # keyword and semantic
    PARTNER = "partner"  # the test or the source of a file that was found
    NEAR = "near"  # nothing but being near the position

    @property
    def words(self) -> str:
        """The evidence in plain English, in a few words."""
        return _MATCH_WORDS[self]


_MATCH_WORDS = {
    Match.EXACT: "exactly what is asked for",
    Match.NAME: "its name",
    Match.FILE: "the name of the file",
    Match.KEYWORD: "its words",
    Match.SEMANTIC: "its meaning",
    Match.BOTH: "words and meaning",
    Match.PARTNER: "test or source of a hit",
    Match.NEAR: "near your position",
}


class Strength(StrEnum):
    """How likely a hit is right, in words: what people are shown in place of a number."""

    STRONG = "strong"
    LIKELY = "likely"
    WEAK = "weak"


STRONG_RELEVANCE, LIKELY_RELEVANCE = 0.6, 0.3
"""Relevance from which on a hit is probably right, or possibly."""


class ChannelScore(NamedTuple):
    """What a channel scored a hit before fusion: BM25 of ``lexical``, the cosine of ``dense``."""

    channel: str
    score: float


class Reason(NamedTuple):
    """One named contribution to a hit's score: what it adds, and why."""

    name: str
    value: float
    detail: str = ""


@frozen
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
    note: str = ""  # what the user should know of how its hits were found


class Stage(NamedTuple):
    """A step of an answer, and how long it took."""

    name: str
    milliseconds: float


class SearchResult(NamedTuple):
    """A hit. ``text`` is what the lines say; ``fresh`` whether they still say it on disk."""

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
    channel_scores: tuple[ChannelScore, ...] = ()

    @property
    def strength(self) -> Strength:
        """How likely the hit is right, in words."""
        if self.relevance >= STRONG_RELEVANCE:
            return Strength.STRONG
        return Strength.LIKELY if self.relevance >= LIKELY_RELEVANCE else Strength.WEAK


@frozen
class RepositoryReport:
    """A repository that was asked along with others: where it is, what it brought, or why nothing."""

    name: str
    root: str
    generation: int = 0
    hits: int = 0
    problem: str = ""


@frozen
class SearchResponse:
    """The answer to a query, with the trace of how it was found."""

    query: Query
    root: str
    channels: tuple[ChannelReport, ...]
    results: tuple[SearchResult, ...]
    generation: int
    milliseconds: float
    notes: tuple[str, ...] = ()
    stages: tuple[Stage, ...] = ()
    cached: str = ""  # "exact" or "semantic" if the answer was given before
    low_confidence: bool = False  # nothing good was found: the few results are guesses
    has_more: bool = False  # a higher limit would bring more
    repositories: tuple[RepositoryReport, ...] = ()  # where several were asked
    relaxed: bool = False  # nothing meets what the query requires: the results do not either


@frozen
class SearchOptions:
    """The options of one search. None: as the settings say."""

    limit: int | None = None
    filter: Filter = NO_FILTER
    before: int | None = None
    after: int | None = None
    text: bool = True
    min_relevance: float | None = None  # hits of less relevance are skipped
    show_low_confidence: bool | None = None  # all hits are shown even if none is good
    near: tuple[
        tuple[str, float], ...
    ] = ()  # files around the caller's cursor, and how near each is (0 to 1)
    neighbours: bool = False  # say of each hit what it uses, what uses it, and its tests
    pasted: bool = False  # the query is output or a report: nothing in it is a filter, a phrase or a pattern


@frozen(kw_only=True)
class ResolvedOptions(SearchOptions):
    """Options in which everything that the settings decide is decided: what the stages of a search work with."""

    limit: int
    min_relevance: float
    show_low_confidence: bool


class Detail(StrEnum):
    """How much of a hit is shown, least first."""

    IDS = "ids"
    SIGNATURE = "signature"
    PREVIEW = "preview"
    FULL = "full"


@frozen
class PackedHit:
    """A hit as it is shown: its lines, header first, the ranges of its lines in the file that are not, its tokens."""

    result: SearchResult
    detail: Detail
    lines: tuple[str, ...]
    cut: tuple[tuple[int, int], ...] = ()
    tokens: int = 0


@frozen
class Packed:
    """An answer that fits a budget, and what was skipped: ``path:start-end`` of hits and of parts of hits."""

    hits: tuple[PackedHit, ...]
    omitted: tuple[str, ...]
    cut: tuple[str, ...]
    text: str
    tokens: int
    budget: int
