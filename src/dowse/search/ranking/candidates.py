"""Ranking candidates: chunks with their score and its named contributions; which are reranked; sort order."""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from operator import attrgetter

from dowse.filters import chunk_definitions, entity_passes
from dowse.lazy_rows import read_column
from dowse.search.channels.request import Retrieved
from dowse.search.ranking.fusion import Contribution, FusedScores
from dowse.search.timing import StageTimer
from dowse.stores.protocol import Snapshot
from dowse.types.answers import Reason
from dowse.types.queries import Query
from dowse.types.source import Chunk, Entity
from dowse.types.stored import CHUNK_BITS, Filter, StoredFile, split_chunk_id

DESCRIPTION_WORDS = 12
"""Words from which on a query describes a place; a shorter one names a subject."""

_SCORE = attrgetter("score")


@dataclass(slots=True)
class Candidate:
    """A chunk under consideration, with the contributions to its score so far."""

    id: int
    ordinal: int
    file: StoredFile
    chunk: Chunk
    score: float
    contributions: list[Contribution]
    unranked_scores: list[float] = field(default_factory=list)
    """For the best candidate of a file: the scores of the file's chunks that are not reranked."""

    @property
    def reasons(self) -> tuple[Reason, ...]:
        """The contributions, as they are shown."""
        return tuple(
            [
                Reason(name, value, f"rank {why}" if isinstance(why, int) else why)
                for name, value, why in self.contributions
            ]
        )

    @property
    def definition_indexes(self) -> Sequence[int]:
        """The indexes of the definitions that begin in the chunk: to make an entity of one takes time."""
        return self.file.definitions[self.ordinal]

    @property
    def definitions(self) -> list[Entity]:
        """The definition around the chunk, and those that begin in it."""
        parsed = self.file.parsed
        return [parsed.entities[i] for i in chunk_definitions(parsed, self.ordinal, self.definition_indexes)]

    @property
    def entity(self) -> Entity | None:
        """The definition around the chunk."""
        return self.file.parsed.entities[self.chunk.entity] if self.chunk.entity is not None else None

    def find_definitions(self, names: Container[str]) -> list[Entity]:
        """Find the definitions that begin in the chunk and whose name, in lower case, is one of these."""
        entities = self.file.parsed.entities
        own = read_column(entities, "name") if self.definition_indexes else ()
        return [entities[i] for i in self.definition_indexes if own[i].lower() in names]

    def boost(self, name: str, factor: float, detail: str = "") -> None:
        """Multiply the score, and keep why; a factor below one demotes."""
        self.score *= factor
        self.contributions.append((name, factor, detail))

    def boost_file(self, name: str, factor: float, detail: str = "") -> None:
        """Multiply the score for a reason that holds for every chunk of the file."""
        self.boost(name, factor, detail)
        if self.unranked_scores:
            self.unranked_scores = [score * factor for score in self.unranked_scores]


@dataclass(frozen=True, slots=True)
class Ranking:
    """The trace of a search: the query, what each channel found, every candidate, best first."""

    query: Query
    channels: Mapping[str, Retrieved]
    candidates: Sequence[Candidate]
    list_unranked: Callable[[], Sequence[Candidate]]  # chunks that were found but not reranked
    relevance: Callable[[Candidate, int], float]  # of a candidate and its rank
    tells_weak: bool  # whether relevance can tell that nothing is good
    timer: StageTimer

    def with_unranked(self) -> Ranking:
        """Return the ranking with the chunks behind the others that were not reranked, in their order."""
        behind = self.list_unranked()
        if behind and behind[0].score > self.candidates[-1].score:
            factor = self.candidates[-1].score / behind[0].score
            for candidate in behind:
                candidate.boost("not_scored", factor, "other places of its file are better")
        return replace(self, candidates=[*self.candidates, *behind], list_unranked=list)


def collect_candidates(
    snapshot: Snapshot, fused: FusedScores, limit: int, filter: Filter
) -> tuple[list[Candidate], list[tuple[StoredFile, int]]]:
    """Choose what is reranked, best first: so many of the best chunks and the best of every other file; and the others.

    Channels ask whether a chunk has a definition of a kind and one of a name; here it must be the same one.
    """
    scores = fused.scores
    chosen: list[Candidate] = []
    others: list[tuple[StoredFile, int]] = []
    leaders: dict[int, Candidate] = {}  # the best of each file
    for id in sorted(scores, key=scores.__getitem__, reverse=True):
        file_id = id >> CHUNK_BITS
        leader = leaders.get(file_id)
        file = leader.file if leader else snapshot.file(file_id)
        if not file or (
            filter.about_chunks and not list_passing_definitions(filter, make_candidate(fused, file, id))
        ):
            continue
        if leader and len(chosen) >= limit:
            leader.unranked_scores.append(scores[id])
            others.append((file, id))
        else:
            candidate = make_candidate(fused, file, id)
            chosen.append(candidate)
            leaders.setdefault(file_id, candidate)
    return chosen, others


def make_candidate(fused: FusedScores, file: StoredFile, id: int) -> Candidate:
    """Make a candidate of a chunk of a file with what the channels contributed."""
    ordinal = split_chunk_id(id)[1]
    return Candidate(
        id, ordinal, file, file.parsed.chunks[ordinal], fused.scores[id], fused.contributions[id]
    )


def list_passing_definitions(filter: Filter, candidate: Candidate) -> list[Entity]:
    """List the definitions in and around a chunk that a filter lets through."""
    return [e for e in candidate.definitions if entity_passes(filter, e.kind, e.name)]


def sort_candidates(candidates: Iterable[Candidate]) -> list[Candidate]:
    """Sort by score; equals, which are few, by path and position."""
    found = sorted(candidates, key=_SCORE, reverse=True)
    if len(found) == len({candidate.score for candidate in found}):
        return found
    return sorted(found, key=lambda c: (-c.score, c.file.path, c.ordinal))


def list_naming_words(query: Query) -> frozenset[str]:
    """Return the words of a query that a file or a definition can be named with."""
    return frozenset(word for word in query.words if len(word) > 1)


def describes_a_place(query: Query) -> bool:
    """Return whether a query has so many words that it tells the places of a file apart."""
    return len(query.words) >= DESCRIPTION_WORDS
