"""Ranking explanation: why a place ranks where it does, or why it is missing: terms, channel ranks, filters, higher
hits.

Rendered from the trace of the search: nothing is ranked a second time. Only where no channel has the place among its
candidates are the channels asked once more, deeper, to tell how far off it is.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from dowse.code.chunk_fields import build_passages, chunk_terms
from dowse.embedders.embedder import Embedder
from dowse.frozen import replace
from dowse.search.channels.frame_lookup import find_chunk_at
from dowse.search.channels.keyword_channel import FIELD_WEIGHTS
from dowse.search.channels.phrase_match import find_missing
from dowse.search.channels.request import ChannelRequest, Retrieved
from dowse.search.channels.retrieve import retrieve
from dowse.search.output.expand import Expansion
from dowse.search.output.respond import expand_hit
from dowse.search.ranking.candidates import Ranking
from dowse.settings import Settings
from dowse.stores.protocol import Snapshot
from dowse.types.answers import ResolvedOptions, SearchResponse, SearchResult
from dowse.types.discovered import FoundFile, Skipped
from dowse.types.explanations import ChannelRank, Explanation, HigherHit, TermMatch, Verdict
from dowse.types.queries import Query
from dowse.types.stored import Filter, StoredFile, chunk_id, split_chunk_id

MAX_DEPTH = 10_000
"""How far down a channel is looked for a place that is not among its best."""

MAX_RIVALS = 3
"""Hits above a place that are compared with it: the first ones say what the query prefers."""


@dataclass(frozen=True, slots=True)
class FinishedSearch:
    """A search that was made: its options, its trace and its answer."""

    options: ResolvedOptions
    settings: Settings
    ranking: Ranking
    response: SearchResponse
    embedder: Embedder | None

    def expand(self, snapshot: Snapshot, rank: int) -> SearchResult:
        """Return the hit that a candidate would be."""
        expansion = Expansion(self.ranking.query)
        return expand_hit(snapshot, self.ranking, expansion, rank, self.options, self.settings)

    def retrieve_deeper(self, snapshot: Snapshot) -> Mapping[str, Retrieved]:
        """Retrieve more from the channels than a search does."""
        return retrieve(
            ChannelRequest(snapshot, self.ranking.query, self.embedder, self.settings.hybrid, MAX_DEPTH)
        )


def explain(snapshot: Snapshot, search: FinishedSearch, file: StoredFile, line: int) -> Explanation:
    """Explain what became of a place of the index; line 0 is the best place of the file."""
    response = search.response
    explanation = Explanation(
        query=response.query,
        root=response.root,
        path=file.path,
        line=line,
        verdict=Verdict.NOT_CONSIDERED,
        candidates=len(search.ranking.candidates),
        generation=response.generation,
        stages=response.stages,
    )
    shown = _find_shown(response, file.path, line)
    if shown:
        return _add_trace(snapshot, search, replace(explanation, verdict=Verdict.SHOWN), file, shown)
    rank = _find_rank(search.ranking, file, line)
    if rank:
        verdict = Verdict.TOO_WEAK if rank <= search.options.limit else Verdict.RANKED
        return _add_trace(snapshot, search, replace(explanation, verdict=verdict), file, rank)
    return _explain_absence(snapshot, search, explanation, file)


def explain_unindexed(response: SearchResponse, found: FoundFile | Skipped, line: int) -> Explanation:
    """Explain that a file is not in the index, and why."""
    verdict, detail = Verdict.NOT_INDEXED, "it belongs there: 'dowse index' says what went wrong"
    if isinstance(found, Skipped):
        verdict = Verdict.SKIPPED
        detail = f"{found.reason} ({found.detail})" if found.detail else found.reason
    return Explanation(
        response.query, response.root, found.path, line, verdict, detail, stages=response.stages
    )


def _find_shown(response: SearchResponse, path: str, line: int) -> int:
    """Find the rank of the first hit that is about the place, or 0; a hit may show more than its own chunk."""
    for rank, result in enumerate(response.results, 1):
        if result.path == path and (not line or result.start_line <= line <= result.end_line):
            return rank
    return 0


def _find_rank(ranking: Ranking, file: StoredFile, line: int) -> int:
    ordinal = find_chunk_at(file, line) if line else None
    for rank, candidate in enumerate(ranking.candidates, 1):
        if candidate.file.id == file.id and ordinal in (None, candidate.ordinal):
            return rank
    return 0


def _add_trace(
    snapshot: Snapshot, search: FinishedSearch, explanation: Explanation, file: StoredFile, rank: int
) -> Explanation:
    """Explain a place that is a candidate: its own reasons, and what those above it have."""
    candidate = search.ranking.candidates[rank - 1]
    terms = _find_terms(snapshot, explanation.query, file, candidate.ordinal)
    return replace(
        explanation,
        rank=rank,
        result=search.expand(snapshot, rank),
        terms=terms,
        channels=tuple(_list_channel_ranks(search.ranking.channels, candidate.id)),
        above=_list_higher_hits(snapshot, search, rank, _list_missing(terms)),
    )


def _explain_absence(
    snapshot: Snapshot, search: FinishedSearch, explanation: Explanation, file: StoredFile
) -> Explanation:
    """Explain a place that is no candidate: a filter, a phrase, or too little in common with the query."""
    if not file.parsed.chunks:
        return replace(explanation, detail="the file is empty")
    ordinal = find_chunk_at(file, explanation.line) if explanation.line else None
    if barriers := _find_barriers(snapshot, search.ranking.query.filter, file, ordinal):
        return replace(explanation, verdict=Verdict.FILTERED, detail=" ".join(barriers))
    if missing := find_missing(search.ranking.query, file.path, snapshot.content(file.id)):
        return replace(explanation, verdict=Verdict.FILTERED, detail=f"the file lacks {' '.join(missing)}")
    channels = search.retrieve_deeper(snapshot)
    chunk = chunk_id(file.id, ordinal) if ordinal is not None else _find_best_chunk(channels, file)
    terms = _find_terms(snapshot, explanation.query, file, split_chunk_id(chunk)[1])
    return replace(
        explanation,
        terms=terms,
        channels=tuple(_list_channel_ranks(search.ranking.channels, chunk, channels)),
        above=_list_higher_hits(snapshot, search, len(search.ranking.candidates) + 1, _list_missing(terms)),
    )


def _find_best_chunk(channels: Mapping[str, Retrieved], file: StoredFile) -> int:
    """Find the chunk of a file that a channel ranks best, or its first."""
    ranks = (
        (rank, hit.chunk)
        for channel in channels.values()
        for rank, hit in enumerate(channel.hits, 1)
        if split_chunk_id(hit.chunk)[0] == file.id
    )
    return min(ranks, default=(0, chunk_id(file.id, 0)))[1]


# --- filters and phrases -------------------------------------------------------------------------


def _find_barriers(snapshot: Snapshot, filter: Filter, file: StoredFile, ordinal: int | None) -> list[str]:
    """Find the parts of a filter that a place does not pass, as one would write them in a query."""
    everything = len(snapshot.manifest())
    ordinals = range(len(file.parsed.chunks)) if ordinal is None else (ordinal,)
    failed = []
    for written, part in _split_filter(filter):
        if part.about_files:
            passes = file.id in snapshot.find_files_named(file.path, part, everything)
        else:
            passes = any(snapshot.chunk_passes(chunk_id(file.id, n), part) for n in ordinals)
        if not passes:
            failed.append(written)
    return failed


def _split_filter(filter: Filter) -> Iterator[tuple[str, Filter]]:
    """Split a filter into each field that is set, as text and as a filter of its own."""
    fields = {
        "lang": "languages", "-lang": "not_languages", "path": "paths", "-path": "not_paths", "is": "roles",
        "-is": "not_roles", "kind": "kinds", "-kind": "not_kinds", "name": "names",
    }  # fmt: skip
    for written, field in fields.items():
        if values := getattr(filter, field):
            yield f"{written}:{','.join(sorted(values))}", replace(Filter(), **{field: values})
    if filter.changed_since_ns is not None:
        yield "changed:", Filter(changed_since_ns=filter.changed_since_ns)


# --- the trace from one place --------------------------------------------------------------------


def _find_terms(snapshot: Snapshot, query: Query, file: StoredFile, ordinal: int) -> tuple[TermMatch, ...]:
    """Find where a chunk has each term of the query."""
    found = build_passages(snapshot.content(file.id), file.parsed, file.definitions)
    fields = chunk_terms(file.path, found)[ordinal]._asdict()
    having = {name: frozenset(text.split()) for name, text in fields.items() if name in FIELD_WEIGHTS}
    return tuple(
        TermMatch(
            term.text,
            term.weight,
            tuple(name for name, tokens in having.items() if term.text in tokens),
            snapshot.document_frequency(term.text),
        )
        for term in query.terms
    )


def _list_missing(terms: Sequence[TermMatch]) -> frozenset[str]:
    return frozenset(term.text for term in terms if not term.fields)


def _list_channel_ranks(
    channels: Mapping[str, Retrieved], chunk: int, deeper: Mapping[str, Retrieved] | None = None
) -> Iterator[ChannelRank]:
    """List the place's rank and score in each channel."""
    for name, channel in channels.items():
        hits = (deeper or channels).get(name, channel).hits  # the history has nothing deeper
        rank, score = next(((n, hit.score) for n, hit in enumerate(hits, 1) if hit.chunk == chunk), (0, 0.0))
        ends = (channel.hits[0].score, channel.hits[-1].score) if channel.hits else (0.0, 0.0)
        yield ChannelRank(name, rank, score, len(channel.hits), *ends, channel.report.why_not)


def _list_higher_hits(
    snapshot: Snapshot, search: FinishedSearch, rank: int, missing: frozenset[str]
) -> tuple[HigherHit, ...]:
    """List the first hits above a rank, and what of the missing terms they have."""
    rivals = []
    for n, candidate in enumerate(search.ranking.candidates[: min(MAX_RIVALS, rank - 1)], 1):
        result = search.expand(snapshot, n)
        terms = (
            _find_terms(snapshot, search.ranking.query, candidate.file, candidate.ordinal) if missing else ()
        )
        has = tuple(term.text for term in terms if term.fields and term.text in missing)
        where = (result.path, result.start_line, result.end_line, result.entity)
        rivals.append(HigherHit(n, *where, result.score, result.reasons, has))
    return tuple(rivals)
