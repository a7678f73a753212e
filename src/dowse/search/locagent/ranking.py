"""BM25 ranking of LocAgent's chunks, exact: the profile ``locagent``, in place of channels, fusion and ranking.

Python files without tests; words of two letters and more in lower case, no stop words, stemmed; Lucene's idf. Chunks
without any word of the query are no hits, while LocAgent fills its ten up with them. Everything is in memory, made from
the contents of the index when it is first asked in a process, and file by file where a file changed.
"""

from __future__ import annotations

import math
import re
import threading
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import NamedTuple

import Stemmer

from dowse.code import parsing
from dowse.code.languages import load_builtin
from dowse.filters import entity_passes, file_passes, to_facts
from dowse.lru import LruCache
from dowse.search.locagent.blocks import build_blocks
from dowse.search.locagent.chunks import ChunkDefinition, cut_chunks
from dowse.search.locagent.token_count import estimate_tokens
from dowse.search.timing import StageTimer
from dowse.stores.protocol import Snapshot
from dowse.types.answers import (
    ChannelReport,
    ChannelScore,
    Match,
    Reason,
    ResolvedOptions,
    SearchResponse,
    SearchResult,
)
from dowse.types.queries import Query
from dowse.types.source import Kind
from dowse.types.stored import Filter, StoredFile

K1, B = 1.5, 0.75
"""BM25's constants as LocAgent has them."""

LITERAL_NOTE = (
    "the profile 'locagent' ranks by words alone: phrases and patterns count as words, or not at all"
)
FILTERS_NOTE = (
    "the profile 'locagent' ranks by words, and the query has none: profile 'dowse' lists by filters"
)

_WORD = re.compile(r"\b\w\w+\b")
_STOP_WORDS = frozenset(
    "a an and are as at be but by for if in into is it no not of on or such that the their then there these they this"
    " to was will with".split()
)
_TEST_PATH = re.compile(r"(^|/)tests?/|(^|/)test_[^/]*\.py$|[^/]_test\.py$")
_stem = Stemmer.Stemmer("english").stemWord


class _ScoredChunk(NamedTuple):
    """A chunk as it is scored: its lines and definitions, how often it has each word, how many it has."""

    start_line: int
    end_line: int
    definitions: tuple[ChunkDefinition, ...]
    counts: Mapping[str, int]
    length: int


class _Place(NamedTuple):
    file: StoredFile
    chunk: _ScoredChunk


@dataclass(frozen=True)
class _Corpus:
    """All chunks of one generation, and which of them have a word."""

    generation: tuple[str, int]
    places: tuple[_Place, ...]
    postings: Mapping[str, tuple[int, ...]]
    average_length: float


class LocAgentRanking:
    """Ranks the chunks of a tree as LocAgent does. Safe to use from several threads."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._corpus: _Corpus | None = None
        self._chunks: dict[tuple[str, bytes], tuple[_ScoredChunk, ...]] = {}

    def search(
        self, snapshot: Snapshot, query: Query, options: ResolvedOptions, root: str, timer: StageTimer
    ) -> SearchResponse:
        """Answer a query: the chunks that share words with it, best first."""
        corpus = self._load(snapshot)
        timer.finish("retrieve")
        words = split_words(" ".join([query.text, *query.phrases]))
        idf = {
            word: _compute_idf(len(corpus.places), len(corpus.postings.get(word, ()))) for word in set(words)
        }
        scores = _score(corpus, words, idf)
        full_score = sum(idf[word] for word in words) or 1.0
        best = sorted(scores, key=lambda place: (-scores[place], place))
        results: list[SearchResult] = []
        has_more = False
        for number in best:
            place, relevance = corpus.places[number], scores[number] / full_score
            if relevance < options.min_relevance or not _passes(query.filter, place):
                continue
            if has_more := len(results) == options.limit:
                break
            results.append(_make_result(snapshot, place, scores[number], relevance, options))
        timer.finish("rank")
        report = ChannelReport(
            "locagent",
            ran=True,
            hits=len(scores),
            milliseconds=timer.milliseconds,
            best=max(scores.values(), default=0),
        )
        return SearchResponse(
            query=query,
            root=root,
            channels=(report,),
            results=tuple(results),
            generation=snapshot.generation,
            milliseconds=timer.milliseconds,
            notes=_list_notes(query),
            stages=timer.stages,
            has_more=has_more,
        )

    def _load(self, snapshot: Snapshot) -> _Corpus:
        """Return the corpus of a generation; what did not change since the last one is not parsed again."""
        generation = (snapshot.identity, snapshot.generation)
        with self._lock:
            if self._corpus is None or self._corpus.generation != generation:
                self._corpus = self._build(snapshot, generation)
            return self._corpus

    def _build(self, snapshot: Snapshot, generation: tuple[str, int]) -> _Corpus:
        known, self._chunks = self._chunks, {}
        places: list[_Place] = []
        for id, content in snapshot.contents(Filter(languages=frozenset({"python"}))):
            file = snapshot.file(id)
            if file is None or not file.path.endswith(".py") or _TEST_PATH.search(file.path):
                continue
            key = (file.path, file.content_hash)
            chunks = self._chunks[key] = known.get(key) or _analyze(file.path, content)
            places += [_Place(file, chunk) for chunk in chunks]
        postings: defaultdict[str, list[int]] = defaultdict(list)
        for number, place in enumerate(places):
            for word in place.chunk.counts:
                postings[word].append(number)
        total = sum(place.chunk.length for place in places)
        lists = {word: tuple(numbers) for word, numbers in postings.items()}
        return _Corpus(generation, tuple(places), lists, total / max(1, len(places)))


def split_words(text: str) -> list[str]:
    """Split a text into the words that count, stemmed."""
    return [_stem_word(word) for word in _WORD.findall(text.lower()) if word not in _STOP_WORDS]


_stems: LruCache[str, str] = LruCache(50_000)


def _stem_word(word: str) -> str:
    if (known := _stems.get(word)) is None:
        known = _stem(word)
        _stems.put(word, known)
    return known


def _analyze(path: str, content: bytes) -> tuple[_ScoredChunk, ...]:
    """Cut a file into chunks and count their words; none of one that cannot be parsed."""
    tree, _ = parsing.parse(load_builtin().by_name["python"], content)
    if tree is None:
        return ()
    found = []
    for chunk in cut_chunks(path, build_blocks(content, tree, estimate_tokens)):
        counts = Counter(split_words(chunk.text))
        found.append(
            _ScoredChunk(chunk.start_line, chunk.end_line, chunk.definitions, dict(counts), counts.total())
        )
    return tuple(found)


def _compute_idf(chunks: int, having: int) -> float:
    return math.log(1 + (chunks - having + 0.5) / (having + 0.5))


def _list_notes(query: Query) -> tuple[str, ...]:
    if query.type == "filters":
        return (FILTERS_NOTE,)
    return (LITERAL_NOTE,) if query.is_exact else ()


def _score(corpus: _Corpus, words: Iterable[str], idf: Mapping[str, float]) -> dict[int, float]:
    """Score every chunk that has some word; a word that the query says twice counts twice."""
    scores: defaultdict[int, float] = defaultdict(float)
    for word in words:
        for number in corpus.postings.get(word, ()):
            chunk = corpus.places[number].chunk
            frequency = chunk.counts[word]
            norm = K1 * (1 - B + B * chunk.length / corpus.average_length)
            scores[number] += idf[word] * frequency / (frequency + norm)
    return scores


def _passes(filter: Filter, place: _Place) -> bool:
    if not file_passes(filter, to_facts(place.file)):
        return False
    names = ((d.kind, d.qualified.rpartition(".")[2]) for d in place.chunk.definitions)
    return not filter.about_chunks or any(entity_passes(filter, kind, name) for kind, name in names)


def _make_result(
    snapshot: Snapshot, place: _Place, score: float, relevance: float, options: ResolvedOptions
) -> SearchResult:
    file, chunk = place
    lines = snapshot.content(file.id).decode("utf-8", "replace").splitlines()
    first = max(1, chunk.start_line - (options.before or 0))
    last = min(max(chunk.end_line, len(lines)), chunk.end_line + (options.after or 0))
    named = [d for d in chunk.definitions if not d.qualified.endswith("__init__")]
    return SearchResult(
        path=file.path,
        start_line=first,
        end_line=last,
        entity=named[0].qualified if named else "",
        kind=named[0].kind if named else Kind.FILE,
        language=file.parsed.language,
        relevance=relevance,
        score=score,
        match=Match.KEYWORD,
        reasons=(Reason("bm25", score),),
        text="\n".join(lines[first - 1 : last]) if options.text else "",
        channel_scores=(ChannelScore("locagent", score),),
    )
