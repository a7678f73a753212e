"""Ranking candidates: chunks and files with their scores and what these are made of; sort order."""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Mapping, Sequence
from operator import attrgetter

from dowse.filters import chunk_definitions, entity_passes
from dowse.frozen import frozen
from dowse.lazy_rows import read_column
from dowse.search.channels.request import Retrieved
from dowse.search.ranking.fusion import Contribution, FusedScores
from dowse.search.timing import StageTimer
from dowse.stores.protocol import Snapshot
from dowse.types.answers import Reason
from dowse.types.queries import Query
from dowse.types.source import Chunk, Entity
from dowse.types.stored import Filter, StoredFile, split_chunk_id

_SCORE = attrgetter("score")


class Candidate:
    """A chunk under consideration, with its score and what each channel contributes to the fused one.

    ``definition`` is the index of the definition that it stands for, where ranking chose one: a chunk may have several.
    ``adjustments`` were added to the score after ranking: what stands beside the first files, or near the cursor.
    """

    __slots__ = ("adjustments", "chunk", "contributions", "definition", "file", "id", "ordinal", "score")

    def __init__(
        self,
        id: int,
        ordinal: int,
        file: StoredFile,
        chunk: Chunk,
        score: float,
        contributions: list[Contribution],
        definition: int | None = None,
    ) -> None:
        self.id = id
        self.ordinal = ordinal
        self.file = file
        self.chunk = chunk
        self.score = score
        self.contributions = contributions
        self.adjustments: list[Contribution] = []
        self.definition = definition

    @property
    def key(self) -> tuple[int, int | None]:
        """What tells candidates apart: the chunk, and the definition."""
        return self.id, self.definition

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

    def adjust(self, name: str, value: float, why: str) -> None:
        """Add to the score, and keep why."""
        self.score += value
        self.adjustments.append((name, value, why))


class FileCandidate:
    """A file under consideration: its chunks that were found, best first by their fused scores."""

    __slots__ = ("file", "fused_sum", "places")

    def __init__(self, file: StoredFile, places: list[Candidate], fused_sum: float) -> None:
        self.file = file
        self.places = places
        self.fused_sum = fused_sum  # of these scores


Explain = Callable[[Candidate], Iterable[Contribution]]
"""Lists what the score of a candidate is made of; the values add up to it."""


@frozen
class Ranking:
    """The trace of a search: the query, what each channel found, every candidate, best first."""

    query: Query
    channels: Mapping[str, Retrieved]
    candidates: Sequence[Candidate]
    explain: Explain
    relevances: Mapping[tuple[int, int | None], float]  # of each candidate, by its key
    tells_weak: bool  # whether relevance can tell that nothing is good
    timer: StageTimer

    def list_reasons(self, candidate: Candidate) -> tuple[Reason, ...]:
        """List what the score of a candidate is made of, as it is shown: what counts most first."""
        reasons = [
            Reason(name, value, f"rank {why}" if isinstance(why, int) else why)
            for name, value, why in self.explain(candidate)
        ]
        return tuple(sorted(reasons, key=lambda reason: -abs(reason.value)))


def list_channel_contributions(candidate: Candidate) -> list[Contribution]:
    """List what the channels contributed to the fused score, and what was added to it."""
    return [*candidate.contributions, *candidate.adjustments]


def collect_candidates(snapshot: Snapshot, fused: FusedScores, filter: Filter) -> list[Candidate]:
    """Make candidates of the chunks that channels found, best first.

    Channels ask whether a chunk has a definition of a kind and one of a name; here it must be the same one.
    """
    scores, contributions = fused
    files: dict[int, StoredFile | None] = {}
    found: list[Candidate] = []
    for id in sorted(scores, key=scores.__getitem__, reverse=True):
        file_id, ordinal = split_chunk_id(id)
        file = files[file_id] if file_id in files else files.setdefault(file_id, snapshot.file(file_id))
        if file is None:
            continue
        candidate = Candidate(id, ordinal, file, file.parsed.chunks[ordinal], scores[id], contributions[id])
        if not filter.about_chunks or list_passing_definitions(filter, candidate):
            found.append(candidate)
    return found


def group_by_file(candidates: Iterable[Candidate]) -> list[FileCandidate]:
    """Group candidates, best first, by their files."""
    files: dict[int, FileCandidate] = {}
    for candidate in candidates:
        file = files.get(candidate.file.id)
        if file is None:
            files[candidate.file.id] = FileCandidate(candidate.file, [candidate], candidate.score)
        else:
            file.places.append(candidate)
            file.fused_sum += candidate.score
    return list(files.values())


def list_passing_definitions(filter: Filter, candidate: Candidate) -> list[Entity]:
    """List the definitions in and around a chunk that a filter lets through."""
    return [e for e in candidate.definitions if entity_passes(filter, e.kind, e.name)]


def sort_candidates(candidates: Iterable[Candidate]) -> list[Candidate]:
    """Sort by score; of equals, which are few, those with words of the query come first, then by path and position."""
    found = sorted(candidates, key=_SCORE, reverse=True)
    if len(found) == len({candidate.score for candidate in found}):
        return found
    return sorted(found, key=lambda c: (-c.score, is_semantic(c), c.file.path, c.ordinal))


def is_semantic(candidate: Candidate) -> bool:
    """Return whether only the dense channel found a candidate."""
    return [name for name, _, _ in candidate.contributions] == ["dense"]
