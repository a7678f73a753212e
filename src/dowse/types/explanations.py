"""Explanation types: why a place ranks where it does, or why it is not in an answer."""

from __future__ import annotations

from enum import StrEnum
from typing import NamedTuple

from dowse.frozen import frozen
from dowse.types.answers import Reason, SearchResult, Stage
from dowse.types.queries import Query


class Verdict(StrEnum):
    """What became of a place in the answer to a query."""

    SHOWN = "shown"
    RANKED = "ranked below what is shown"
    TOO_WEAK = "too weak to be shown"
    NOT_CONSIDERED = "not among the candidates"
    FILTERED = "filtered out"
    NOT_INDEXED = "not in the index"
    SKIPPED = "skipped"


class TermMatch(NamedTuple):
    """A term of the query at a place: the fields that have it (none: it is missing), and how many chunks do."""

    text: str
    weight: float
    fields: tuple[str, ...]
    chunks: int


@frozen
class ChannelRank:
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


@frozen
class HigherHit:
    """A hit that ranks above a place, and the terms of the query it has and the place has not."""

    rank: int
    path: str
    start_line: int
    end_line: int
    entity: str
    score: float
    reasons: tuple[Reason, ...]
    terms: tuple[str, ...]


@frozen
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
    terms: tuple[TermMatch, ...] = ()
    channels: tuple[ChannelRank, ...] = ()
    above: tuple[HigherHit, ...] = ()
    generation: int = 0
    stages: tuple[Stage, ...] = ()
    notes: tuple[str, ...] = ()
