"""Why a place ranks where it does, or why it is not in the answer: the trace of a search, looked at from there.

Nothing is ranked a second time. Only where no channel brought a place among its best are the channels asked once
more, for more, to tell how far off it is.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from dowse.code.chunk_fields import chunk_terms, passages
from dowse.embedders.embedder import Embedder
from dowse.search import pipeline
from dowse.search.channels import phrase_match
from dowse.search.channels.frame_lookup import chunk_at
from dowse.search.channels.retrieve import Retrieved, retrieve
from dowse.search.pipeline import Ranking
from dowse.settings import Settings
from dowse.stores.protocol import Snapshot
from dowse.types import (
    AnalysedQuery,
    ChannelStanding,
    Explanation,
    Filter,
    ParsedQuery,
    Rival,
    SearchOptions,
    SearchResponse,
    SearchResult,
    StoredFile,
    TermStanding,
    Verdict,
    chunk_id,
    split_chunk_id,
)

DEEP = 10_000
"""How far down a channel is looked for a place that is not among its best."""

RIVALS = 3
"""Hits above a place that are compared with it: the first ones say what the question prefers."""


@dataclass(frozen=True, slots=True)
class Asked:
    """A search that was made: what was asked, its trace and its answer."""

    parsed: ParsedQuery
    options: SearchOptions
    settings: Settings
    ranking: Ranking
    response: SearchResponse
    embedder: Embedder | None

    def result(self, snapshot: Snapshot, rank: int) -> SearchResult:
        """What would be shown of a candidate."""
        return pipeline.result(snapshot, self.ranking, rank, self.options, self.settings)

    def deeper(self, snapshot: Snapshot) -> Mapping[str, Retrieved]:
        """What the channels bring when they are asked for more."""
        query, filter = self.ranking.query, self.options.filter
        return retrieve(snapshot, self.parsed, query, filter, self.embedder, self.settings.hybrid, DEEP)


def explain(snapshot: Snapshot, asked: Asked, file: StoredFile, line: int) -> Explanation:
    """What became of a place of the index; line 0 is the best place of the file."""
    asked = replace(asked, ranking=pipeline.whole(asked.ranking))
    response = asked.response
    told = Explanation(
        query=response.query,
        root=response.root,
        path=file.path,
        line=line,
        verdict=Verdict.NOT_CONSIDERED,
        candidates=len(asked.ranking.candidates),
        generation=response.generation,
        stages=response.stages,
    )
    shown = _shown(response, file.path, line)
    if shown:
        return _with_trace(snapshot, asked, replace(told, verdict=Verdict.SHOWN), file, shown)
    rank = _rank(asked.ranking, file, line)
    if rank:
        verdict = Verdict.TOO_WEAK if rank <= asked.options.limit else Verdict.RANKED
        return _with_trace(snapshot, asked, replace(told, verdict=verdict), file, rank)
    return _absent(snapshot, asked, told, file)


def _shown(response: SearchResponse, path: str, line: int) -> int:
    """The rank of the first hit that is about the place, or 0; a hit may show more than its own chunk."""
    for rank, result in enumerate(response.results, 1):
        if result.path == path and (not line or result.start_line <= line <= result.end_line):
            return rank
    return 0


def _rank(ranking: Ranking, file: StoredFile, line: int) -> int:
    ordinal = chunk_at(file, line) if line else None
    for rank, candidate in enumerate(ranking.candidates, 1):
        if candidate.file.id == file.id and ordinal in (None, candidate.ordinal):
            return rank
    return 0


def _with_trace(
    snapshot: Snapshot, asked: Asked, told: Explanation, file: StoredFile, rank: int
) -> Explanation:
    """A place that is a candidate: its own reasons, and what those above it have."""
    candidate = asked.ranking.candidates[rank - 1]
    terms = _terms(snapshot, told.query, file, candidate.ordinal)
    return replace(
        told,
        rank=rank,
        result=asked.result(snapshot, rank),
        terms=terms,
        channels=tuple(_standings(asked.ranking.channels, candidate.id)),
        above=_rivals(snapshot, asked, rank, _missing(terms)),
    )


def _absent(snapshot: Snapshot, asked: Asked, told: Explanation, file: StoredFile) -> Explanation:
    """A place that is no candidate: a filter, a phrase, or too little in common with the question."""
    if not file.parsed.chunks:
        return replace(told, detail="the file is empty")
    ordinal = chunk_at(file, told.line) if told.line else None
    if barriers := _barriers(snapshot, asked.options.filter, file, ordinal):
        return replace(told, verdict=Verdict.FILTERED, detail=" ".join(barriers))
    if lacking := _lacking(snapshot, asked.parsed, file):
        return replace(told, verdict=Verdict.FILTERED, detail=f"the file lacks {' '.join(lacking)}")
    channels = asked.deeper(snapshot)
    chunk = chunk_id(file.id, ordinal) if ordinal is not None else _best_chunk(channels, file)
    terms = _terms(snapshot, told.query, file, split_chunk_id(chunk)[1])
    return replace(
        told,
        terms=terms,
        channels=tuple(_standings(asked.ranking.channels, chunk, channels)),
        above=_rivals(snapshot, asked, len(asked.ranking.candidates) + 1, _missing(terms)),
    )


def _best_chunk(channels: Mapping[str, Retrieved], file: StoredFile) -> int:
    """The chunk of a file that a channel ranks best, or its first."""
    ranks = (
        (rank, hit.chunk)
        for channel in channels.values()
        for rank, hit in enumerate(channel.hits, 1)
        if split_chunk_id(hit.chunk)[0] == file.id
    )
    return min(ranks, default=(0, chunk_id(file.id, 0)))[1]


# --- filters and phrases -------------------------------------------------------------------------


def _barriers(snapshot: Snapshot, filter: Filter, file: StoredFile, ordinal: int | None) -> list[str]:
    """The parts of a filter that a place does not pass, as one would write them in a question."""
    everything = len(snapshot.manifest())
    ordinals = range(len(file.parsed.chunks)) if ordinal is None else (ordinal,)
    failed = []
    for written, part in _parts(filter):
        if part.about_files:
            passes = file.id in snapshot.files_named(file.path, part, everything)
        else:
            passes = any(snapshot.chunk_passes(chunk_id(file.id, n), part) for n in ordinals)
        if not passes:
            failed.append(written)
    return failed


def _parts(filter: Filter) -> Iterator[tuple[str, Filter]]:
    """Each field of a filter that is set, as text and as a filter of its own."""
    fields = {
        "lang": "languages", "-lang": "not_languages", "path": "paths", "-path": "not_paths", "is": "roles",
        "-is": "not_roles", "kind": "kinds", "-kind": "not_kinds", "name": "names",
    }  # fmt: skip
    for written, field in fields.items():
        if values := getattr(filter, field):
            yield f"{written}:{','.join(sorted(values))}", replace(Filter(), **{field: values})
    if filter.changed_since_ns is not None:
        yield "changed:", Filter(changed_since_ns=filter.changed_since_ns)


def _lacking(snapshot: Snapshot, parsed: ParsedQuery, file: StoredFile) -> list[str]:
    """The phrases and patterns of the question that a file does not have."""
    return phrase_match.lacking(parsed, file.path, snapshot.content(file.id))


# --- the trace from one place --------------------------------------------------------------------


def _terms(
    snapshot: Snapshot, query: AnalysedQuery, file: StoredFile, ordinal: int
) -> tuple[TermStanding, ...]:
    """Where a chunk has each term of the question."""
    found = passages(snapshot.content(file.id), file.parsed, file.definitions)
    fields = chunk_terms(file.path, found)[ordinal]._asdict()
    having = {name: frozenset(text.split()) for name, text in fields.items()}
    return tuple(
        TermStanding(
            term.text,
            term.weight,
            tuple(name for name, tokens in having.items() if term.text in tokens),
            snapshot.frequency(term.text),
        )
        for term in query.terms
    )


def _missing(terms: Sequence[TermStanding]) -> frozenset[str]:
    return frozenset(term.text for term in terms if not term.fields)


def _standings(
    channels: Mapping[str, Retrieved], chunk: int, deeper: Mapping[str, Retrieved] | None = None
) -> Iterator[ChannelStanding]:
    """The place's rank and score in each channel."""
    for name, channel in channels.items():
        hits = deeper[name].hits if deeper else channel.hits
        rank, score = next(((n, hit.score) for n, hit in enumerate(hits, 1) if hit.chunk == chunk), (0, 0.0))
        ends = (channel.hits[0].score, channel.hits[-1].score) if channel.hits else (0.0, 0.0)
        yield ChannelStanding(name, rank, score, len(channel.hits), *ends, channel.report.why_not)


def _rivals(snapshot: Snapshot, asked: Asked, rank: int, missing: frozenset[str]) -> tuple[Rival, ...]:
    """The first hits above a rank, and what of the missing terms they have."""
    rivals = []
    for n, candidate in enumerate(asked.ranking.candidates[: min(RIVALS, rank - 1)], 1):
        result = asked.result(snapshot, n)
        terms = _terms(snapshot, asked.ranking.query, candidate.file, candidate.ordinal) if missing else ()
        has = tuple(term.text for term in terms if term.fields and term.text in missing)
        where = (result.path, result.start_line, result.end_line, result.entity)
        rivals.append(Rival(n, *where, result.score, result.reasons, has))
    return tuple(rivals)
