"""Channel interface: the request a retrieval channel gets, the scored candidates it returns, and why it did not run."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from typing import NamedTuple

from dowse.embedders.embedder import Embedder
from dowse.errors import EmbedderError
from dowse.frozen import frozen
from dowse.search.commit_index import CommitIndex, FileEvidence
from dowse.stores.protocol import Snapshot
from dowse.types.answers import ChannelReport
from dowse.types.queries import Query
from dowse.types.stored import DEFAULT_BM25, Bm25, Scored

DEPTH_STEP = 50
"""Candidates of the lexical channel: as many as the hits that are asked for, rounded up to this, so that all pages of
an answer come from one ranking. Twice as many gain no more than noise and cost time."""

LONG_QUERY_TERMS = 24
LONG_DEPTH_FACTOR = 3
"""A query of so many terms, such as a report, finds a little of itself in many places: the right file is often further
down in every channel, and only stands out by all that it has."""

LITERAL_TYPES = frozenset({"symbol", "file"})
"""Types of queries that mean what is written: code that is alike in meaning is not what is asked for."""

MIN_HISTORY_TERMS = 4
"""A query of fewer terms asks for a subject, which many commits mention."""


@frozen(slots=False)
class ChannelRequest:
    """What a channel is asked: a query, the snapshot to search, the embedder, and how many hits are wanted."""

    snapshot: Snapshot
    query: Query
    embedder: Embedder | None
    hybrid: str  # whether the dense channel is used: auto, on, off
    limit: int  # hits that the answer is to have
    load_history: Callable[[], CommitIndex | None] = lambda: None
    bm25: Bm25 = DEFAULT_BM25

    @property
    def depth(self) -> int:
        """Return how many candidates the lexical channel brings."""
        factor = LONG_DEPTH_FACTOR if len(self.query.terms) >= LONG_QUERY_TERMS else 1
        return DEPTH_STEP * count_steps(self.limit) * factor

    @cached_property
    def vector(self) -> Sequence[float] | NotRun:
        """The embedding of the query, or why meaning does not count."""
        query, embedder = self.query, self.embedder
        if embedder is None:
            return NotRun("no embedder is set")
        if self.hybrid == "off":
            return NotRun("hybrid search is switched off")
        if self.hybrid == "auto" and query.type in LITERAL_TYPES:
            return NotRun(f"the query is a {query.type}, not words")
        try:
            vector = embedder.embed_query(query.text)
        except EmbedderError as error:
            return NotRun(str(error), failed=True)
        return vector if any(vector) else NotRun("the query has no words")

    @cached_property
    def history(self) -> CommitIndex | None:
        """What earlier commits changed, if the query says enough to be compared with what they say."""
        if self.query.type in LITERAL_TYPES or len(self.query.terms) < MIN_HISTORY_TERMS:
            return None
        return self.load_history()

    @cached_property
    def history_evidence(self) -> Mapping[str, FileEvidence]:
        """What earlier commits say of each file."""
        return self.history.rate_files(self.query.terms) if self.history else {}


class NotRun(NamedTuple):
    """Why a channel was not used; ``failed`` if it should have been."""

    reason: str
    failed: bool = False


class Noted(NamedTuple):
    """Hits, and what whoever asked should know of how they were found; "" for nothing."""

    hits: Sequence[Scored]
    note: str


Found = Sequence[Scored] | Noted | NotRun | None
"""What a channel returns: candidates, best first; None if it turns out to have nothing to look for."""


class Retrieved(NamedTuple):
    """The hits of a channel, best first, and its report."""

    hits: Sequence[Scored]
    report: ChannelReport


class Channel(NamedTuple):
    """A way to find chunks, and whether a query has anything that it is for."""

    find: Callable[[ChannelRequest], Found]
    suits: Callable[[ChannelRequest], object] = lambda request: True
    why_not: str = ""  # what the report says where it does not suit; nothing is said of rare channels


def count_steps(limit: int) -> int:
    """Return how many steps of candidates it takes for so many hits."""
    return max(1, math.ceil(limit / DEPTH_STEP))


def run_channel(name: str, find: Callable[[], Found]) -> Retrieved | None:
    """Run one channel, time it and report on it."""
    started = time.perf_counter()
    found = find()
    if found is None:
        return None
    if isinstance(found, NotRun):
        return Retrieved((), ChannelReport(name, False, why_not=found.reason, failed=found.failed))
    milliseconds = (time.perf_counter() - started) * 1e3
    hits, note = found if isinstance(found, Noted) else (found, "")
    best = hits[0].score if hits else 0.0
    return Retrieved(hits, ChannelReport(name, True, len(hits), milliseconds, best=best, note=note))
