"""Query result cache: LRU in memory, exact and semantic (cosine similarity of query embeddings), invalidated by a new
index.

Exact: the same query under the same options, settings and index. Semantic: a query of nearly the same meaning with the
same identifiers, numbers, file names, filters and options, so that ``getUser`` never answers ``setUser``. Entries
expire after a day. Not on disk: ranking is a small part of a command's time, and the same query is seldom asked again.
"""

from __future__ import annotations

import threading
import time
from array import array
from collections.abc import Callable
from functools import cached_property
from typing import Any, NamedTuple, cast

import simsimd  # not numpy, which takes longer to load than a search takes

from dowse.embedders.embedder import Embedder
from dowse.errors import EmbedderError
from dowse.frozen import frozen, replace
from dowse.lru import LruCache
from dowse.search.query.analyze import is_identifier
from dowse.search.timing import StageTimer
from dowse.settings import Settings
from dowse.stores.protocol import Snapshot
from dowse.types.answers import ResolvedOptions, SearchResponse
from dowse.types.queries import Query
from dowse.types.stored import NO_FILTER, Filter

MIN_COSINE = 0.95
"""Cosine from which on two queries mean the same; lower, and answers are those of other queries."""

MAX_WORDS = 8
"""In a query with more words that count, one of them hardly moves the vector: "client" would answer "server"."""

MAX_SETTINGS = 16
"""Settings whose descriptions are remembered: a process seldom has more engines than that."""

LIFETIME_SECONDS = 24 * 60 * 60.0
"""Seconds that an answer is kept."""

MAX_ANSWERS = 128
"""Answers that are kept: with ten hits each, about 3 MB."""

MAX_RESULTS = 100
"""A longer answer is not kept: it is not what somebody asks for twice."""


@frozen(slots=False)
class CacheRequest:
    """Everything that an answer depends on: the cache key."""

    snapshot: Snapshot
    query: Query
    options: ResolvedOptions
    settings: Settings
    embedder: Embedder | None

    @cached_property
    def index(self) -> str:
        """Which index, and which generation of it."""
        return f"{self.snapshot.identity}:{self.snapshot.generation}"

    @cached_property
    def key(self) -> str:
        """All of it as text, to look up the same query."""
        q = self.query
        read = (q.text, q.message, q.terms, q.names, q.files, q.frames, q.versions)
        required = (q.phrases, q.regexes, q.unwanted, q.rewrite)
        return f"{read!r}{required!r}\n{self._context}"

    @cached_property
    def semantic_key(self) -> str:
        """What queries must share to be answered alike, as text; empty where only the same words will do."""
        is_long = len(self.query.words) > MAX_WORDS or bool(self.query.frames or self.query.message)
        is_literal = is_long or self.query.is_exact or self.query.unwanted or not self.query.text.strip()
        if is_literal or not self.embedder or self.settings.cache != "all":
            return ""
        named = sorted(name for name in self.query.names if is_identifier(name))
        numbers = sorted(word for word in self.query.text.split() if any(c.isdigit() for c in word))
        return f"{(named, numbers, sorted(self.query.files), self.query.rewrite.added)!r}\n{self._context}"

    @cached_property
    def _context(self) -> str:
        options = self.options
        shown = (options.limit, options.before, options.after, options.text, options.neighbours, options.near)
        judged = (options.min_relevance, options.show_low_confidence, options.pasted)
        filters = [_describe_filter(filter) for filter in (self.query.filter, options.filter)]
        model = self.embedder.name if self.embedder else ""
        return f"{self.index}\n{shown}{judged}{filters}\n{_describe_settings(self.settings)}\n{model}"

    def embed(self) -> array[float] | None:
        """Embed the query; none where that cannot be had."""
        try:
            return array("d", self.embedder.embed_query(self.query.text)) if self.embedder else None
        except EmbedderError:
            return None

    def is_repeatable(self, response: SearchResponse) -> bool:
        """Return whether the answer would be the same the next time: not if time matters, or a channel failed."""
        return not self.query.depends_on_time and not any(channel.failed for channel in response.channels)


class _Entry(NamedTuple):
    response: SearchResponse
    semantic_key: str
    vector: array[float] | None
    expires: float


class AnswerCache:
    """The query result cache: evicts the answers that were used least recently. Safe to use from several threads."""

    def __init__(self, size: int = MAX_ANSWERS, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._guard = threading.Lock()
        self._index = ""
        self._entries: LruCache[str, _Entry] = LruCache(size)

    def __len__(self) -> int:
        return len(self._entries)

    def get(self, request: CacheRequest, timer: StageTimer) -> SearchResponse | None:
        """Return the answer that was given before to this query, or to one that means the same."""
        known = self._find_same(request.index, request.key)
        if known is None and request.semantic_key:
            known = self._find_similar(request.index, request.semantic_key, request.embed())
        timer.finish("cache")
        if known is None:
            return None
        return replace(known, stages=timer.stages, milliseconds=timer.milliseconds)

    def put(self, request: CacheRequest, response: SearchResponse) -> None:
        """Keep an answer, unless it would be another the next time; evict the least recently used one if need be."""
        if len(response.results) > MAX_RESULTS:
            return
        if not request.is_repeatable(response):
            return
        key = request.semantic_key
        entry = _Entry(response, key, request.embed() if key else None, self._clock() + LIFETIME_SECONDS)
        with self._guard:
            self._invalidate_other(request.index)
            self._entries.put(request.key, entry)

    def _find_same(self, index: str, key: str) -> SearchResponse | None:
        with self._guard:
            self._invalidate_other(index)
            entry = self._entries.get(key)
            if entry is None or entry.expires <= self._clock():
                return None
            return replace(entry.response, cached="exact")

    def _find_similar(
        self, index: str, semantic_key: str, vector: array[float] | None
    ) -> SearchResponse | None:
        with self._guard:
            self._invalidate_other(index)
            now = self._clock()
            near = [
                (_cosine(vector, entry.vector), key)
                for key, entry in self._entries.items()
                if entry.semantic_key == semantic_key
                and entry.vector is not None
                and vector is not None
                and entry.expires > now
            ]
            cosine, nearest = max(near, default=(0.0, ""))
            entry = self._entries.get(nearest) if cosine >= MIN_COSINE else None
            if entry is None:
                return None
            response = entry.response
            note = (
                f"this is the answer to '{response.query.text}', which was asked before (cosine {cosine:.2f})"
            )
            return replace(response, cached="semantic", notes=(*response.notes, note))

    def _invalidate_other(self, index: str) -> None:
        """Drop answers from another generation. Expired ones are passed over, and evicted in time."""
        if index != self._index:
            self._entries.clear()
            self._index = index


def _cosine(one: array[float], other: array[float]) -> float:
    """Compute the cosine of vectors of length one."""
    product: Any = simsimd.dot(cast(Any, one), cast(Any, other))
    return float(product)


_DESCRIPTIONS: dict[int, tuple[Settings, str]] = {}
"""Settings as text, which never change, by identity: the settings are kept so that it stays theirs."""


def _describe_filter(filter: Filter) -> str:
    """Describe a filter by its values; sets in order, since equal ones need not have the same."""
    if filter == NO_FILTER:
        return ""
    values = (getattr(filter, name) for name in Filter.__match_args__)
    return repr([sorted(value) if isinstance(value, frozenset) else value for value in values])


def _describe_settings(settings: Settings) -> str:
    """Describe settings by their values."""
    known = _DESCRIPTIONS.get(id(settings))
    if known is None:
        if len(_DESCRIPTIONS) >= MAX_SETTINGS:
            _DESCRIPTIONS.clear()
        known = _DESCRIPTIONS[id(settings)] = (settings, repr(settings))
    return known[1]
