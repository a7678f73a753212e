"""Searching from end to end: ``read`` the question, ``rank`` (retrieve, fuse, weigh), ``answer`` (expand, show)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from operator import attrgetter

from dowse.code import tokens
from dowse.embedders.embedder import Embedder
from dowse.search.channels import frame_lookup
from dowse.search.channels.retrieve import (
    EXACT_WEIGHT,
    PLACES_WEIGHT,
    VERSIONS_WEIGHT,
    Retrieved,
    retrieve,
    steps,
    timed,
)
from dowse.search.output import expand, similar
from dowse.search.query import keywords, stack_traces
from dowse.search.query.analyze import analyse, with_added
from dowse.search.ranking.calibration import WEAK, Judge
from dowse.search.ranking.fusion import Fused, fuse
from dowse.search.ranking.signals import SIGNALS, Candidate, phrase, proximity
from dowse.search.timing import Laps
from dowse.settings import Settings
from dowse.stores.protocol import Snapshot
from dowse.types import (
    CHUNK_BITS,
    AnalysedQuery,
    Filter,
    Kind,
    Match,
    ParsedQuery,
    Reason,
    SearchOptions,
    SearchResponse,
    SearchResult,
    StoredFile,
    Term,
    split_chunk_id,
)

JUDGED = 10
"""Of so many of the first candidates one must be good, however many hits are asked for."""

GUESSES = 3
"""Hits that are shown where none is good: somebody may know better."""

NO_GOOD = "nothing good was found; what is shown is a guess"

RELATED_WEIGHTS = {"partners": 2.0, "similar": 1.0}
"""A test and what it tests belong together more surely than two pieces of code that are alike."""

WEIGHED = 25
"""Places that are weighed, for each step of candidates that channels bring: the best of all, and with them the best of
every other file. Each costs time; the others are further places of files that are there already, and would hardly come
up: they count for their file, and stand behind all that are weighed."""

_NAMED = frozenset({"names", "places", "partners"})
_SCORE = attrgetter("score")


@dataclass(frozen=True, slots=True)
class Ranking:
    """The trace of a search: how the question was read, what each channel brought, every candidate, best first."""

    query: AnalysedQuery
    channels: Mapping[str, Retrieved]
    candidates: Sequence[Candidate]
    behind: Callable[[], Sequence[Candidate]]  # those that were not weighed
    expansion: expand.Expansion
    relevance: Callable[[Candidate, int], float]  # of a candidate and its rank
    tells_weak: bool  # whether relevance can tell that nothing is good
    laps: Laps


def read(parsed: ParsedQuery, is_extension: Callable[[str], bool]) -> AnalysedQuery:
    """The question analysed, with the lines that it names; of a program's output, what went wrong and where."""
    if not stack_traces.looks_like_output(parsed.text):
        text, frames = frame_lookup.named(parsed.text)
        added = [one.term for one in parsed.wording.added]
        query = with_added(analyse(text, is_extension, parsed.names), added)
        return replace(query, frames=tuple(frames)) if frames else query
    text, frames = frame_lookup.question(parsed.text)
    return replace(analyse(text, is_extension, parsed.names), frames=tuple(frames), reading="output")


def rank(
    snapshot: Snapshot,
    parsed: ParsedQuery,
    query: AnalysedQuery,
    options: SearchOptions,
    settings: Settings,
    embedder: Embedder | None,
    laps: Laps,
) -> Ranking:
    """Every candidate from one generation of an index, with what speaks for and against it."""
    query = _as_indexed(snapshot, _condensed(snapshot, query))
    laps.done("condense")
    channels = retrieve(snapshot, parsed, query, options.filter, embedder, settings.hybrid, options.limit)
    laps.done("retrieve")
    weights = _weights(settings)
    fused = fuse(settings.fusion, {name: channel.hits for name, channel in channels.items()}, weights)
    candidates, others = _candidates(snapshot, fused, WEIGHED * steps(options.limit), options.filter)
    laps.done("fuse")
    if "verbatim" not in settings.signals_off:
        phrase.weigh(snapshot, query, candidates)
    for name, signal in SIGNALS.items():
        if name not in settings.signals_off:
            signal(query, candidates)
    is_literal = bool(options.filter.about_chunks or "exact" in channels or query.frames)
    if "partner" not in settings.signals_off and not is_literal:
        named = {hit.chunk >> CHUNK_BITS for hit in channels["files"].hits}
        candidates = similar.with_partners(snapshot, query, candidates, options.filter, named)
    if options.near and "exact" not in channels:
        candidates = proximity.with_near(snapshot, query, candidates, options)
    best = _best_first(candidates)
    laps.done("weigh")
    judge = Judge(snapshot, query)
    return Ranking(
        query,
        channels,
        best,
        lambda: [_candidate(fused, file, id) for file, id in others],
        expand.Expansion(query, options.filter),
        judge.relevance,
        judge.can_tell(settings.embedder),
        laps,
    )


def answer(
    snapshot: Snapshot, ranking: Ranking, options: SearchOptions, settings: Settings, root: str
) -> tuple[Ranking, SearchResponse]:
    """What is shown of a ranking, and the ranking without those whose lines an earlier one shows."""
    snapshot.expect([candidate.file.id for candidate in ranking.candidates[: options.limit]])
    ranking, found = _without_repeats(snapshot, ranking, options, settings)
    weak = _is_weak(ranking, found, options, settings)
    results, notes = _good_ones(found, options, settings) if not weak else (found[:GUESSES], (NO_GOOD,))
    ranking.laps.done("show")
    return ranking, SearchResponse(
        query=ranking.query,
        root=root,
        channels=tuple(channel.report for channel in ranking.channels.values()),
        results=results,
        generation=snapshot.generation,
        milliseconds=ranking.laps.milliseconds,
        notes=notes,
        stages=ranking.laps.stages,
        weak=weak,
    )


def _without_repeats(
    snapshot: Snapshot, ranking: Ranking, options: SearchOptions, settings: Settings
) -> tuple[Ranking, tuple[SearchResult, ...]]:
    """The first candidates as they are shown: of several in one definition that is shown whole, the best."""
    found: list[SearchResult] = []
    while (rank := len(found) + 1) <= options.limit:
        if rank > len(ranking.candidates):
            ranking = whole(ranking)
            if rank > len(ranking.candidates):
                break
        hit = result(snapshot, ranking, rank, options, settings)
        if any(_is_within(hit, other) for other in found):
            others = [*ranking.candidates[: rank - 1], *ranking.candidates[rank:]]
            ranking = replace(ranking, candidates=others)
        else:
            found.append(hit)
    return ranking, tuple(found)


def whole(ranking: Ranking) -> Ranking:
    """A ranking with those places behind the others that were not weighed, in their order."""
    behind = ranking.behind()
    if behind and behind[0].score > ranking.candidates[-1].score:
        factor = ranking.candidates[-1].score / behind[0].score
        for candidate in behind:
            candidate.weigh("behind", factor, "other places of its file are better")
    return replace(ranking, candidates=[*ranking.candidates, *behind], behind=list)


def _is_within(hit: SearchResult, other: SearchResult) -> bool:
    if hit.path != other.path:
        return False
    return other.start_line <= hit.start_line and hit.end_line <= other.end_line


def _is_weak(
    ranking: Ranking, found: Sequence[SearchResult], options: SearchOptions, settings: Settings
) -> bool:
    """Whether no hit is good. Where words cannot tell, hits have the benefit of the doubt."""
    show_weak = settings.show_weak if options.show_weak is None else options.show_weak
    if show_weak or not found or not ranking.tells_weak:
        return False
    if max(hit.relevance for hit in found[:JUDGED]) >= WEAK:
        return False
    further = enumerate(ranking.candidates[len(found) : JUDGED], len(found) + 1)
    return all(ranking.relevance(candidate, rank) < WEAK for rank, candidate in further)


def _good_ones(
    found: tuple[SearchResult, ...], options: SearchOptions, settings: Settings
) -> tuple[tuple[SearchResult, ...], tuple[str, ...]]:
    """The hits that are relevant enough, and how many are not."""
    least = settings.min_score if options.min_score is None else options.min_score
    kept = tuple(hit for hit in found if hit.relevance >= least)
    left_out = len(found) - len(kept)
    return kept, (f"{left_out} of {len(found)} hits are below the relevance {least:g}",) if left_out else ()


def relate(
    snapshot: Snapshot, file: StoredFile, line: int, options: SearchOptions, settings: Settings, root: str
) -> SearchResponse:
    """What belongs to a place: its tests or what it tests, then code that is alike."""
    laps = Laps()
    query = AnalysedQuery(f"{file.path}:{line}" if line else file.path, (), (), (), (), (), "place")
    channels = {
        "partners": timed("partners", lambda: similar.partners(snapshot, file)),
        "similar": timed("similar", lambda: similar.similar(snapshot, file, line, options.filter)),
    }
    laps.done("retrieve")
    fused = fuse("scores", {name: channel.hits for name, channel in channels.items()}, RELATED_WEIGHTS)
    candidates = _best_first(_candidates(snapshot, fused, len(fused.scores), options.filter)[0])
    laps.done("fuse")
    full = max(RELATED_WEIGHTS.values())
    ranking = Ranking(
        query,
        channels,
        candidates,
        list,
        expand.Expansion(query, options.filter),
        lambda c, _: min(1.0, c.score / full),
        False,
        laps,
    )
    return answer(snapshot, ranking, options, settings, root)[1]


def _best_first(candidates: Iterable[Candidate]) -> list[Candidate]:
    """By score; equals, which are few, by where they are."""
    found = sorted(candidates, key=_SCORE, reverse=True)
    if len(found) == len({candidate.score for candidate in found}):
        return found
    return sorted(found, key=lambda c: (-c.score, c.file.path, c.ordinal))


def _condensed(snapshot: Snapshot, query: AnalysedQuery) -> AnalysedQuery:
    """A long text reduced to the terms that tell places apart."""
    if not keywords.is_long(query.text):
        return query
    words = keywords.words_of(query.text)
    chosen = keywords.informative_terms(words, snapshot.frequency, snapshot.chunk_count())
    return replace(
        query,
        terms=chosen.terms,
        words=tuple(term.text for term in chosen.terms),
        dropped=(*query.dropped, *chosen.dropped, *chosen.unseen),
        versions=(),  # in so many words, that of whoever writes
    )


def _as_indexed(snapshot: Snapshot, query: AnalysedQuery) -> AnalysedQuery:
    """A name in lower case (``baseitemexporter``) as it is written, where the index has no word of its stem."""
    stems = {tokens.stem(name.lower()): name.lower() for name in query.names}
    whole = {
        stem: name
        for stem, name in stems.items()
        if stem != name and not snapshot.frequency(stem) and snapshot.frequency(name)
    }
    if not whole:
        return query
    return replace(query, terms=tuple(Term(whole.get(text, text), weight) for text, weight in query.terms))


def _weights(settings: Settings) -> Mapping[str, float]:
    return {
        "exact": EXACT_WEIGHT,
        "places": PLACES_WEIGHT,
        "versions": VERSIONS_WEIGHT,
        "lexical": settings.lexical_weight,
        "names": settings.name_weight,
        "files": settings.file_weight,
        "dense": settings.dense_weight,
    }


def _candidates(
    snapshot: Snapshot, fused: Fused, enough: int, filter: Filter
) -> tuple[list[Candidate], list[tuple[StoredFile, int]]]:
    """The places to weigh, best first, so many of the best and the best of every other file; and the others.

    Channels ask whether a chunk has a definition of a kind and one of a name; here it must be the same one.
    """
    scores = fused.scores
    found: list[Candidate] = []
    others: list[tuple[StoredFile, int]] = []
    leaders: dict[int, Candidate] = {}  # the best of each file
    for id in sorted(scores, key=scores.__getitem__, reverse=True):
        file_id = id >> CHUNK_BITS
        leader = leaders.get(file_id)
        file = leader.file if leader else snapshot.file(file_id)
        if not file or (filter.about_chunks and not expand.passing(filter, _candidate(fused, file, id))):
            continue
        if leader and len(found) >= enough:
            leader.beside.append(scores[id])
            others.append((file, id))
        else:
            candidate = _candidate(fused, file, id)
            found.append(candidate)
            leaders.setdefault(file_id, candidate)
    return found, others


def _candidate(fused: Fused, file: StoredFile, id: int) -> Candidate:
    """A place of a file with what the channels gave it."""
    ordinal = split_chunk_id(id)[1]
    return Candidate(id, ordinal, file, file.parsed.chunks[ordinal], fused.scores[id], fused.given[id])


def result(
    snapshot: Snapshot, ranking: Ranking, rank: int, options: SearchOptions, settings: Settings
) -> SearchResult:
    """The candidate of a rank (from 1) as it is shown."""
    candidate = ranking.candidates[rank - 1]
    pointed, reasons = ranking.expansion.pointed_at(candidate), candidate.reasons
    entity = pointed[0] if pointed else None
    first, last = ranking.expansion.lines(
        candidate, pointed, settings.context_lines, options.before, options.after
    )
    return SearchResult(
        path=candidate.file.path,
        start_line=first,
        end_line=last,
        entity=entity.qualified if entity else "",
        kind=entity.kind if entity else Kind.FILE,
        language=candidate.file.parsed.language,
        relevance=ranking.relevance(candidate, rank),
        score=candidate.score,
        match=_match(reasons),
        reasons=reasons,
        text=expand.text(snapshot.content(candidate.file.id), candidate.chunk, first, last)
        if options.text
        else "",
        signature=entity.signature if entity else "",
    )


def _match(reasons: Sequence[Reason]) -> Match:
    """Which kind of evidence found a candidate; the name of a definition says most."""
    names = {reason.name for reason in reasons}
    if "exact" in names:
        return Match.EXACT
    if not names.isdisjoint(_NAMED):
        return Match.NAME
    if "dense" not in names:
        return Match.KEYWORD
    return Match.BOTH if "lexical" in names else Match.SEMANTIC
