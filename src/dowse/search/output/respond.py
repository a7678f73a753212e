"""Search response: deduplicate ranked candidates, expand them to hits with relevance, flag low confidence."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from dowse.search.output.expand import Expansion, cut_text
from dowse.search.ranking.calibration import WEAK_RELEVANCE
from dowse.search.ranking.candidates import Candidate, Ranking
from dowse.settings import Settings
from dowse.stores.protocol import Snapshot
from dowse.types.answers import (
    NO_GOOD_HITS_NOTE,
    ChannelScore,
    Match,
    ResolvedOptions,
    SearchResponse,
    SearchResult,
)
from dowse.types.queries import Query
from dowse.types.source import Kind

JUDGED_HITS = 10
"""One of so many of the first candidates must be good, however many hits are asked for."""

MAX_GUESSES = 3
"""Hits that are shown where none is good: somebody may know better."""

_MATCHES_BY_STEP = {"partners": Match.PARTNER, "proximity": Match.NEAR}
"""What brings candidates that no word of the query finds."""


def make_response(
    snapshot: Snapshot, ranking: Ranking, options: ResolvedOptions, settings: Settings, root: str
) -> tuple[Ranking, SearchResponse]:
    """Make the response, and return the ranking without candidates whose lines an earlier one shows."""
    snapshot.prefetch([candidate.file.id for candidate in ranking.candidates[: options.limit]])
    ranking, found = _expand_hits(snapshot, ranking, options, settings)
    weak = _is_weak(ranking, found, options)
    if weak:
        results, notes = found[:MAX_GUESSES], [NO_GOOD_HITS_NOTE]
    else:
        least = options.min_relevance
        results, notes = tuple(hit for hit in found if hit.relevance >= least), []
        if dropped := len(found) - len(results):
            notes.append(f"{dropped} of {len(found)} hits are below the relevance {least:g}")
    has_more = not weak and _has_more(snapshot, ranking, found, options, settings)
    channel_notes = (channel.report.note for channel in ranking.channels.values())
    ranking.timer.finish("expand")
    return ranking, SearchResponse(
        query=ranking.query,
        root=root,
        channels=tuple(channel.report for channel in ranking.channels.values()),
        results=results,
        generation=snapshot.generation,
        milliseconds=ranking.timer.milliseconds,
        notes=(*filter(None, channel_notes), *notes),
        stages=ranking.timer.stages,
        low_confidence=weak,
        has_more=has_more,
    )


def _expand_hits(
    snapshot: Snapshot, ranking: Ranking, options: ResolvedOptions, settings: Settings
) -> tuple[Ranking, tuple[SearchResult, ...]]:
    """Expand the first candidates to hits: of several in one definition that is shown whole, only the best."""
    expansion = Expansion(ranking.query)
    found: list[SearchResult] = []
    while (rank := len(found) + 1) <= min(options.limit, len(ranking.candidates)):
        hit = expand_hit(snapshot, ranking, expansion, rank, options, settings)
        if any(_is_within(hit, other) for other in found):
            others = [*ranking.candidates[: rank - 1], *ranking.candidates[rank:]]
            ranking = replace(ranking, candidates=others)
        else:
            found.append(hit)
    return ranking, tuple(found)


def _has_more(
    snapshot: Snapshot,
    ranking: Ranking,
    found: Sequence[SearchResult],
    options: ResolvedOptions,
    settings: Settings,
) -> bool:
    """Return whether a higher limit would bring another hit: one that no earlier hit shows, and relevant enough."""
    shown, without_text = {hit.path for hit in found}, replace(options, text=False)
    for rank, candidate in enumerate(ranking.candidates[len(found) :], len(found) + 1):
        if candidate.file.path in shown:  # else no lines of it are shown, whatever they are
            hit = expand_hit(snapshot, ranking, Expansion(ranking.query), rank, without_text, settings)
            if any(_is_within(hit, other) for other in found):
                continue
        return ranking.relevances[candidate.key] >= options.min_relevance
    return False


def expand_hit(
    snapshot: Snapshot,
    ranking: Ranking,
    expansion: Expansion,
    rank: int,
    options: ResolvedOptions,
    settings: Settings,
) -> SearchResult:
    """Expand the candidate of a rank (from 1) to a hit with its definition and lines."""
    candidate = ranking.candidates[rank - 1]
    match = _classify_match(candidate, ranking.query)
    definitions = () if match is Match.FILE else expansion.choose_definitions(candidate)
    entity = definitions[0] if definitions else None
    first, last = expansion.choose_lines(
        candidate, definitions, settings.max_definition_lines, options.before, options.after
    )
    return SearchResult(
        path=candidate.file.path,
        start_line=first,
        end_line=last,
        entity=entity.qualified if entity else "",
        kind=entity.kind if entity else Kind.FILE,
        language=candidate.file.parsed.language,
        relevance=ranking.relevances[candidate.key],
        score=candidate.score,
        match=match,
        reasons=ranking.list_reasons(candidate),
        text=cut_text(snapshot.content(candidate.file.id), candidate.chunk, first, last)
        if options.text
        else "",
        signature=entity.signature if entity else "",
        channel_scores=tuple(
            ChannelScore(name, hit.score)
            for name, channel in ranking.channels.items()
            for hit in channel.hits
            if hit.chunk == candidate.id
        ),
    )


def _is_within(hit: SearchResult, other: SearchResult) -> bool:
    if hit.path != other.path:
        return False
    return other.start_line <= hit.start_line and hit.end_line <= other.end_line


def _is_weak(ranking: Ranking, found: Sequence[SearchResult], options: ResolvedOptions) -> bool:
    """Return whether no hit is good. Where words cannot tell, hits have the benefit of the doubt."""
    if options.show_low_confidence or not found or not ranking.tells_weak:
        return False
    if max(hit.relevance for hit in found[:JUDGED_HITS]) >= WEAK_RELEVANCE:
        return False
    further = ranking.candidates[len(found) : JUDGED_HITS]
    return all(ranking.relevances[candidate.key] < WEAK_RELEVANCE for candidate in further)


def _classify_match(candidate: Candidate, query: Query) -> Match:
    """Tell which kind of evidence found a hit; what is asked for in so many words says most."""
    channels = {name for name, _, _ in candidate.contributions}
    has_words, is_alike = bool(channels & {"lexical", "phrases"}), "dense" in channels
    if channels & {"exact", "places", "listing"}:
        return Match.EXACT
    if "names" in channels:
        return Match.NAME
    asks_for_file = query.type == "file" or len(query.text.split()) == 1
    if "files" in channels and (asks_for_file or not (has_words or is_alike)):
        return Match.FILE
    if is_alike:
        return Match.BOTH if has_words else Match.SEMANTIC
    return _MATCHES_BY_STEP.get(candidate.contributions[0][0], Match.KEYWORD)
