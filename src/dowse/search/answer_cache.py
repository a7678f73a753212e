"""Answers that were given before, for as long as the process lives.

Two levels. Exact: the same question under the same options, settings and index. Semantic, where an embedder runs: a
question that means the same (cosine), with the same identifiers, numbers, file names, filters and options, so that
``getUser`` never answers ``setUser``. Entries are dropped when they are a day old, when the index has a new generation,
and the least recently used first. Answers are frozen values: nobody can change one that is kept here.

Not kept on disk: of a command line with a warm index (200 ms of CPU time), ranking is 10 ms, and the same question is
seldom asked again.
"""

from __future__ import annotations

import hashlib
import threading
import time
from array import array
from collections import OrderedDict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple, cast

from dowse.embedders.embedder import Embedder
from dowse.errors import EmbedderError
from dowse.search.channels import phrase_match
from dowse.search.query.analyze import is_identifier
from dowse.search.timing import Laps
from dowse.settings import Settings
from dowse.stores.protocol import Snapshot
from dowse.types import AnalysedQuery, ParsedQuery, SearchOptions, SearchResponse

SIMILARITY = 0.95
"""Cosine from which on two questions mean the same; lower, and answers are those of other questions."""

MOST_WORDS = 8
"""In a question with more words that count, one of them hardly moves the vector: "client" would answer "server"."""

MOST_SETTINGS = 16
"""Settings whose hashes are remembered: a process seldom has more engines than that."""

LIFETIME = 24 * 60 * 60.0
"""Seconds that an answer is kept."""

SIZE = 128
"""Answers that are kept: with ten hits each, about 3 MB."""

MOST_RESULTS = 100
"""A longer answer is not kept: it is not what somebody asks for twice."""

REMEMBERED_VECTORS = 64
"""Questions whose vectors are kept: the cache and the dense channel ask for the same one."""

RETRY_AFTER = 1.0
"""Seconds after which an embedder that failed is asked the same again: not twice for one answer."""


@dataclass(frozen=True, slots=True)
class Asking:
    """Everything that an answer depends on."""

    snapshot: Snapshot
    parsed: ParsedQuery
    query: AnalysedQuery
    options: SearchOptions
    settings: Settings
    embedder: Embedder | None

    @property
    def index(self) -> str:
        """Which index, and which generation of it."""
        return f"{self.snapshot.identity}:{self.snapshot.generation}"

    @property
    def digest(self) -> str:
        """A hash of all of it."""
        return _digest(self.parsed, self._around())

    @property
    def kin(self) -> str:
        """A hash of what questions must share to be answered alike; none where only the same words will do."""
        is_long = len(self.query.words) > MOST_WORDS or bool(self.query.frames)
        is_literal = is_long or phrase_match.asks_for_exact(self.parsed) or not self.query.text.strip()
        if is_literal or not self.embedder or self.settings.cache != "all":
            return ""
        named = sorted(name for name in self.query.names if is_identifier(name))
        numbers = sorted(word for word in self.query.text.split() if any(c.isdigit() for c in word))
        asked = (named, numbers, sorted(self.query.files), self.parsed.names, self.parsed.wording.added)
        return _digest(*asked, self._around())

    def _around(self) -> tuple[object, ...]:
        model = self.embedder.name if self.embedder else ""
        return self.index, _ordered(self.options), _settings_digest(self.settings), model

    def vector(self) -> array[float] | None:
        """The question's place in the embedder's space; none where that cannot be had."""
        try:
            return array("d", self.embedder.embed_query(self.query.text)) if self.embedder else None
        except EmbedderError:
            return None

    def would_answer_again(self, response: SearchResponse) -> bool:
        """Whether the answer would be the same the next time: not if time goes by in it, or a channel failed."""
        return self.parsed.changed is None and not any(channel.failed for channel in response.channels)


class _Entry(NamedTuple):
    response: SearchResponse
    kin: str
    vector: array[float] | None
    expires: float


class AnswerCache:
    """The answers. Safe to use from several threads."""

    def __init__(self, size: int = SIZE, clock: Callable[[], float] = time.monotonic) -> None:
        self._size = size
        self._clock = clock
        self._guard = threading.Lock()
        self._index = ""
        self._entries: OrderedDict[str, _Entry] = OrderedDict()

    def __len__(self) -> int:
        return len(self._entries)

    def answer(self, asking: Asking, laps: Laps, find: Callable[[], SearchResponse]) -> SearchResponse:
        """The answer that was given before, or the one that is found now."""
        key, kin = asking.digest, asking.kin
        known, vector = self._same(asking.index, key), None
        if known is None and kin:
            vector = asking.vector()
            known = self._alike(asking.index, kin, vector)
        laps.done("cache")
        if known is not None:
            return replace(known, stages=laps.stages, milliseconds=laps.milliseconds)
        response = find()
        if len(response.results) <= MOST_RESULTS and asking.would_answer_again(response):
            self._keep(asking.index, key, _Entry(response, kin, vector, self._clock() + LIFETIME))
        return response

    def _same(self, index: str, key: str) -> SearchResponse | None:
        with self._guard:
            self._settle(index)
            entry = self._entries.get(key)
            if entry is None or entry.expires <= self._clock():
                return None
            return replace(self._used(key), cached="exact")

    def _alike(self, index: str, kin: str, vector: array[float] | None) -> SearchResponse | None:
        with self._guard:
            self._settle(index)
            now = self._clock()
            near = [
                (_cosine(vector, entry.vector), key)
                for key, entry in self._entries.items()
                if entry.kin == kin
                and entry.vector is not None
                and vector is not None
                and entry.expires > now
            ]
            cosine, nearest = max(near, default=(0.0, ""))
            if cosine < SIMILARITY:
                return None
            response = self._used(nearest)
            note = (
                f"this is the answer to '{response.query.text}', which was asked before (cosine {cosine:.2f})"
            )
            return replace(response, cached="semantic", notes=(*response.notes, note))

    def _used(self, key: str) -> SearchResponse:
        self._entries.move_to_end(key)
        return self._entries[key].response

    def _keep(self, index: str, key: str, entry: _Entry) -> None:
        """Remember an answer; the least recently used one goes if there are too many."""
        with self._guard:
            self._settle(index)
            self._entries[key] = entry
            self._entries.move_to_end(key)
            while len(self._entries) > self._size:
                self._entries.popitem(last=False)

    def _settle(self, index: str) -> None:
        """Forget answers from another generation. Those that are too old are passed over, and pushed out in time."""
        if index != self._index:
            self._entries.clear()
            self._index = index


class RememberingEmbedder:
    """An embedder that does not turn the same question into a vector twice, nor fail at it twice in a row."""

    def __init__(self, embedder: Embedder, clock: Callable[[], float] = time.monotonic) -> None:
        self._embedder = embedder
        self._clock = clock
        self._guard = threading.Lock()
        self._vectors: OrderedDict[str, Sequence[float]] = OrderedDict()
        self._failure: tuple[str, EmbedderError, float] | None = None

    @property
    def name(self) -> str:
        """Of the model."""
        return self._embedder.name

    def embed_documents(self, texts: Sequence[str]) -> Any:
        """As the embedder does it."""
        return self._embedder.embed_documents(texts)

    def embed_query(self, text: str) -> Sequence[float]:
        """The vector of a question, kept for the next time."""
        with self._guard:
            if text in self._vectors:
                self._vectors.move_to_end(text)
                return self._vectors[text]
            if self._failure and self._failure[0] == text and self._clock() < self._failure[2]:
                raise self._failure[1]
        try:
            vector = self._embedder.embed_query(text)
        except EmbedderError as error:
            self._failure = (text, error, self._clock() + RETRY_AFTER)
            raise
        with self._guard:
            self._vectors[text] = vector
            while len(self._vectors) > REMEMBERED_VECTORS:
                self._vectors.popitem(last=False)
        return vector


def _cosine(one: array[float], other: array[float]) -> float:
    """Of vectors of length one."""
    import simsimd  # not numpy, which takes longer to load than a search takes

    product: Any = simsimd.dot(cast(Any, one), cast(Any, other))
    return float(product)


_HASHED: dict[int, tuple[Settings, str]] = {}
"""Hashes of settings, which never change, by identity: the settings are kept so that it stays theirs."""


def _settings_digest(settings: Settings) -> str:
    known = _HASHED.get(id(settings))
    if known is None:
        if len(_HASHED) >= MOST_SETTINGS:
            _HASHED.clear()
        known = _HASHED[id(settings)] = (settings, _digest(settings))
    return known[1]


def _digest(*parts: object) -> str:
    """SHA-256 of values as they are written; sets in order, since theirs differs from process to process."""
    return hashlib.sha256(repr([_ordered(part) for part in parts]).encode("utf-8", "replace")).hexdigest()


def _ordered(value: object) -> object:
    if isinstance(value, frozenset):
        return sorted(map(repr, value))
    if hasattr(value, "__dataclass_fields__"):
        return [(name, _ordered(getattr(value, name))) for name in value.__dataclass_fields__]
    return value
