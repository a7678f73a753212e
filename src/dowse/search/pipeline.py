"""The search pipeline from end to end: every stage from a parsed query to a response, in order.

    analyze -> cache -> extract keywords -> retrieve -> fuse -> rank -> expand

Values move forward only, and nothing here calls its caller. The engine sees to a fresh snapshot before, and verifies
the files of the answer after.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext
from typing import TYPE_CHECKING, NamedTuple

from dowse.embedders.embedder import Embedder, MatchesWords
from dowse.gc_pause import gc_paused
from dowse.search.answer_cache import AnswerCache, CacheRequest
from dowse.search.channels.request import (
    LITERAL_TYPES,
    ChannelRequest,
    NotRun,
    count_steps,
    run_channel,
)
from dowse.search.channels.retrieve import get_channel_weights, retrieve
from dowse.search.output.respond import make_response
from dowse.search.output.similar import find_partners, find_similar
from dowse.search.query.analyze import analyze_query
from dowse.search.query.keywords import extract_keywords, is_long, use_indexed_spelling
from dowse.search.query.name_spelling import find_spellings
from dowse.search.query.unknown_names import read_unknown_names_as_words
from dowse.search.query.views import is_report
from dowse.search.ranking.calibration import can_tell_weak
from dowse.search.ranking.candidates import (
    Explain,
    Ranking,
    collect_candidates,
    group_by_file,
    list_channel_contributions,
    sort_candidates,
)
from dowse.search.ranking.features import FeatureExtractor
from dowse.search.ranking.features.context import FeatureContext
from dowse.search.ranking.fusion import fuse
from dowse.search.ranking.learned_ranking import READ_FILES, LearnedRanking
from dowse.search.ranking.message_places import lead_with_messages
from dowse.search.ranking.model import list_disabled_groups, make_model, measure_traits
from dowse.search.ranking.proximity import raise_near_files
from dowse.search.ranking.test_partners import add_test_partners
from dowse.search.timing import StageTimer
from dowse.settings import Settings
from dowse.stores.protocol import Snapshot
from dowse.types.answers import ResolvedOptions, SearchResponse
from dowse.types.queries import ParsedQuery, Query
from dowse.types.stored import Bm25, StoredFile

if TYPE_CHECKING:
    from dowse.search.commit_index import CommitIndex
    from dowse.search.locagent.ranking import LocAgentRanking

LARGE_INDEX_CHUNKS = 300_000
"""From so many chunks on, a full round of the garbage collector takes tens of milliseconds and is kept out of searches.
A server with fewer needs its rounds, which are short: without them it grew half as much again."""

RELATED_WEIGHTS = {"partners": 2.0, "similar": 1.0}
"""A test and what it tests belong together more surely than two pieces of code that are similar."""


class Searcher(NamedTuple):
    """What a search needs beside the query and the index: settings, embedder, answer cache, ranking profile."""

    root: str
    settings: Settings
    embedder: Embedder | None
    cache: AnswerCache | None  # none if the settings switch it off
    is_extension: Callable[[str], bool]  # whether source files end like this (``.py``)
    load_history: Callable[[], CommitIndex | None]
    word_vectors: MatchesWords | None = None  # what compares single words by meaning
    locagent: LocAgentRanking | None = None  # what ranks instead, with the profile of that name


def search(
    searcher: Searcher, snapshot: Snapshot, parsed: ParsedQuery, options: ResolvedOptions
) -> SearchResponse:
    """Answer a query from one generation of an index, or from the cache if it was answered before."""
    timer = StageTimer()
    query = analyze_query(parsed, options.filter, searcher.is_extension)
    timer.finish("analyze")
    cache = searcher.cache
    request = CacheRequest(snapshot, query, options, searcher.settings, searcher.embedder)
    if cache is not None and (known := cache.get(request, timer)) is not None:
        return known
    with gc_paused() if snapshot.chunk_count() >= LARGE_INDEX_CHUNKS else nullcontext():
        if searcher.locagent:
            response = searcher.locagent.search(snapshot, query, options, searcher.root, timer)
        else:
            ranking = rank(searcher, snapshot, query, options, timer)
            _, response = make_response(snapshot, ranking, options, searcher.settings, searcher.root)
    if cache is not None:
        cache.put(request, response)
    return response


def rank(
    searcher: Searcher, snapshot: Snapshot, query: Query, options: ResolvedOptions, timer: StageTimer
) -> Ranking:
    """Rank the candidates of a query, with every contribution to their scores."""
    settings = searcher.settings
    context = find_candidates(searcher, snapshot, query, options, timer)
    query, channels = context.query, context.channels
    if query.type == "filters":
        return _rank_by_path(context, timer)
    model = make_model(measure_traits(context), list_disabled_groups(settings))
    scored = LearnedRanking(model, FeatureExtractor(context), READ_FILES * count_steps(options.limit))
    explain: Explain
    if settings.fusion == "learned":
        candidates, explain = scored.score_places(), scored.explain
        if "phrases" not in settings.disabled_features:
            lead_with_messages(query, channels, candidates)
        if "report" not in settings.disabled_features and is_report(query):
            from dowse.search.ranking.report_ranking import ReportRanking

            report = ReportRanking(context, scored, model.file_share)
            candidates, explain = report.rank(candidates), report.explain
        if "test_partner" not in settings.disabled_features:
            add_test_partners(snapshot, query, channels, candidates)
    else:
        candidates, explain = context.list_places(), list_channel_contributions
    if options.near and "proximity" not in settings.disabled_features:
        raise_near_files(snapshot, query, options.near, candidates)
    candidates = sort_candidates(candidates)
    timer.finish("rank")
    return Ranking(
        query,
        channels,
        candidates,
        explain,
        scored.estimate_relevances(candidates),
        can_tell_weak(context, settings.embedder),
        timer,
    )


def _rank_by_path(context: FeatureContext, timer: StageTimer) -> Ranking:
    """Order what passes the filters of a query that asks for nothing else: by path, and all of it is right."""
    candidates = sort_candidates(place for file in context.files for place in file.places)
    relevances = {candidate.key: 1.0 for candidate in candidates}
    timer.finish("rank")
    return Ranking(
        context.query, context.channels, candidates, list_channel_contributions, relevances, False, timer
    )


def find_candidates(
    searcher: Searcher, snapshot: Snapshot, query: Query, options: ResolvedOptions, timer: StageTimer
) -> FeatureContext:
    """Find the files and places that the channels bring for a query, with all that ranking looks at."""
    settings, bm25 = searcher.settings, Bm25(searcher.settings.bm25_k1, searcher.settings.bm25_b)
    if is_long(query.text):
        query = extract_keywords(snapshot, query)
    if query.names:
        query = use_indexed_spelling(snapshot, query)
    query = find_spellings(snapshot, query)
    if query.type in LITERAL_TYPES and not query.spellings:
        query = read_unknown_names_as_words(snapshot, query)
    timer.finish("keywords")
    request = ChannelRequest(
        snapshot, query, searcher.embedder, settings.hybrid, options.limit, searcher.load_history, bm25
    )
    channels = retrieve(request)
    timer.finish("retrieve")
    hits = {name: channel.hits for name, channel in channels.items()}
    fused = fuse(settings.fusion, hits, get_channel_weights(settings))
    files = group_by_file(collect_candidates(snapshot, fused, query.filter))
    cosines: Mapping[int, Sequence[float]] = {}  # of the query with every chunk of the files
    word_vectors = None
    if not isinstance(request.vector, NotRun):
        cosines = snapshot.file_cosines(request.vector, [file.file.id for file in files])
        word_vectors = searcher.word_vectors
    context = FeatureContext(
        snapshot, query, channels, files, cosines, request.history, word_vectors, request.history_evidence
    )
    timer.finish("fuse")
    return context


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
    candidates = sort_candidates(collect_candidates(snapshot, fused, options.filter))
    timer.finish("fuse")
    full_score = max(RELATED_WEIGHTS.values())
    relevances = {candidate.key: min(1.0, candidate.score / full_score) for candidate in candidates}
    ranking = Ranking(query, channels, candidates, list_channel_contributions, relevances, False, timer)
    return make_response(snapshot, ranking, options, searcher.settings, searcher.root)[1]
