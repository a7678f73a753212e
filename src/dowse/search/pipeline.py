"""The search pipeline from end to end: every stage from a parsed query to a response, in order.

    analyze -> cache -> extract keywords -> retrieve -> fuse -> rerank -> expand

Values move forward only, and nothing here calls its caller. The engine sees to a fresh snapshot before, and verifies
the files of the answer after.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import nullcontext
from typing import NamedTuple

from dowse.embedders.embedder import Embedder
from dowse.gc_pause import gc_paused
from dowse.search.answer_cache import AnswerCache, CacheRequest
from dowse.search.channels.request import ChannelRequest, count_steps, run_channel
from dowse.search.channels.retrieve import get_channel_weights, retrieve
from dowse.search.output.respond import make_response
from dowse.search.output.similar import find_partners, find_similar
from dowse.search.query.analyze import analyze_query
from dowse.search.query.keywords import extract_keywords, use_indexed_spelling
from dowse.search.ranking.calibration import RelevanceModel
from dowse.search.ranking.candidates import Ranking, collect_candidates, make_candidate, sort_candidates
from dowse.search.ranking.fusion import fuse
from dowse.search.ranking.rerank import rerank
from dowse.search.ranking.signals.context import SignalContext
from dowse.search.timing import StageTimer
from dowse.settings import Settings
from dowse.stores.protocol import Snapshot
from dowse.types.answers import ResolvedOptions, SearchResponse
from dowse.types.queries import ParsedQuery, Query
from dowse.types.stored import StoredFile

RERANKED_CHUNKS = 25
"""Chunks that are reranked for each step of candidates: the best of all, and with them the best of every other file.
Each costs time; the others are further chunks of files that are there already, and would hardly come up: they count
for their file, and stand behind all that are reranked."""

LARGE_INDEX_CHUNKS = 300_000
"""From so many chunks on, a full round of the garbage collector takes tens of milliseconds and is kept out of searches.
A server with fewer needs its rounds, which are short: without them it grew half as much again."""

RELATED_WEIGHTS = {"partners": 2.0, "similar": 1.0}
"""A test and what it tests belong together more surely than two pieces of code that are similar."""


class Searcher(NamedTuple):
    """What a search needs beside the query and the index: settings, embedder, answer cache."""

    root: str
    settings: Settings
    embedder: Embedder | None
    cache: AnswerCache
    is_extension: Callable[[str], bool]  # whether source files end like this (``.py``)


def search(
    searcher: Searcher, snapshot: Snapshot, parsed: ParsedQuery, options: ResolvedOptions
) -> SearchResponse:
    """Answer a query from one generation of an index, or from the cache if it was answered before."""
    timer = StageTimer()
    query = analyze_query(parsed, options.filter, searcher.is_extension)
    timer.finish("analyze")
    request = CacheRequest(snapshot, query, options, searcher.settings, searcher.embedder)
    if (known := searcher.cache.get(request, timer)) is not None:
        return known
    _, response = rank_and_respond(searcher, snapshot, query, options, timer)
    searcher.cache.put(request, response)
    return response


def rank_and_respond(
    searcher: Searcher, snapshot: Snapshot, query: Query, options: ResolvedOptions, timer: StageTimer
) -> tuple[Ranking, SearchResponse]:
    """Rank the candidates of a query and make the response: the whole trace, and what is shown of it."""
    with gc_paused() if snapshot.chunk_count() >= LARGE_INDEX_CHUNKS else nullcontext():
        ranking = rank(searcher, snapshot, query, options, timer)
        return make_response(snapshot, ranking, options, searcher.settings, searcher.root)


def rank(
    searcher: Searcher, snapshot: Snapshot, query: Query, options: ResolvedOptions, timer: StageTimer
) -> Ranking:
    """Rank the candidates of a query, with every contribution to their scores."""
    settings = searcher.settings
    query = use_indexed_spelling(snapshot, extract_keywords(snapshot, query))
    timer.finish("keywords")
    channels = retrieve(ChannelRequest(snapshot, query, searcher.embedder, settings.hybrid, options.limit))
    timer.finish("retrieve")
    hits = {name: channel.hits for name, channel in channels.items()}
    fused = fuse(settings.fusion, hits, get_channel_weights(settings))
    limit = RERANKED_CHUNKS * count_steps(options.limit)
    candidates, others = collect_candidates(snapshot, fused, limit, query.filter)
    timer.finish("fuse")
    context = SignalContext(snapshot, query, options, channels)
    candidates = rerank(context, candidates, settings.disabled_signals)
    timer.finish("rerank")
    model = RelevanceModel(snapshot, query)
    return Ranking(
        query,
        channels,
        candidates,
        lambda: [make_candidate(fused, file, id) for file, id in others],
        model.relevance,
        model.can_tell(settings.embedder),
        timer,
    )


def find_related(
    searcher: Searcher, snapshot: Snapshot, file: StoredFile, line: int, options: ResolvedOptions
) -> SearchResponse:
    """Find what belongs to a place: its tests or what it tests, then similar code."""
    timer = StageTimer()
    query = Query(
        f"{file.path}:{line}" if line else file.path, (), (), (), (), (), "place", filter=options.filter
    )
    partners = run_channel("partners", lambda: find_partners(snapshot, file))
    similar = run_channel("similar", lambda: find_similar(snapshot, file, line, options.filter))
    channels = {found.report.name: found for found in (partners, similar) if found}
    timer.finish("retrieve")
    fused = fuse("scores", {name: channel.hits for name, channel in channels.items()}, RELATED_WEIGHTS)
    candidates, _ = collect_candidates(snapshot, fused, len(fused.scores), options.filter)
    timer.finish("fuse")
    full_score = max(RELATED_WEIGHTS.values())
    ranking = Ranking(
        query,
        channels,
        sort_candidates(candidates),
        list,
        lambda candidate, _: min(1.0, candidate.score / full_score),
        False,
        timer,
    )
    return make_response(snapshot, ranking, options, searcher.settings, searcher.root)[1]
