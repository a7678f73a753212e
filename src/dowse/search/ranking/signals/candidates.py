"""What a signal sees and says."""

from __future__ import annotations

from collections.abc import Callable, Container, Sequence
from dataclasses import dataclass, field

from dowse.filters import chunk_definitions
from dowse.lazy_rows import column
from dowse.types import AnalysedQuery, Chunk, Entity, Reason, StoredFile

Given = tuple[str, float, str | int]
"""What a channel or a signal gives to a candidate: its name, how much, and why; a channel, at which rank. Plain, since
hundreds are made for each question and few are shown."""

DESCRIBES = 12
"""Words from which on a question describes a place."""


@dataclass(slots=True)
class Candidate:
    """A chunk under consideration, with what it has been given so far."""

    id: int
    ordinal: int
    file: StoredFile
    chunk: Chunk
    score: float
    given: list[Given]
    beside: list[float] = field(default_factory=list)
    """Of the best place of a file: the scores of those that are no candidates themselves."""

    @property
    def reasons(self) -> tuple[Reason, ...]:
        """What was given, as it is shown."""
        return tuple(
            [
                Reason(name, value, f"rank {why}" if isinstance(why, int) else why)
                for name, value, why in self.given
            ]
        )

    @property
    def held(self) -> Sequence[int]:
        """The places of the definitions that begin in the chunk: to make one of them takes time."""
        return self.file.definitions[self.ordinal]

    @property
    def beginning(self) -> list[Entity]:
        """The definitions that begin in the chunk."""
        entities = self.file.parsed.entities
        return [entities[i] for i in self.held]

    @property
    def definitions(self) -> list[Entity]:
        """The definition around the chunk, and those that begin in it."""
        parsed = self.file.parsed
        return [parsed.entities[i] for i in chunk_definitions(parsed, self.ordinal, self.held)]

    def defining(self, names: Container[str]) -> list[Entity]:
        """Those of them whose name, in lower case, is one of these."""
        entities = self.file.parsed.entities
        own = column(entities, "name") if self.held else ()
        return [entities[i] for i in self.held if own[i].lower() in names]

    @property
    def entity(self) -> Entity | None:
        """The definition around the chunk."""
        return self.file.parsed.entities[self.chunk.entity] if self.chunk.entity is not None else None

    def weigh(self, name: str, factor: float, detail: str = "") -> None:
        """Multiply the score, and say why."""
        self.score *= factor
        self.given.append((name, factor, detail))

    def weigh_file(self, name: str, factor: float, detail: str = "") -> None:
        """The same, for a reason that holds for every place of the file."""
        self.weigh(name, factor, detail)
        if self.beside:
            self.beside = [score * factor for score in self.beside]


def naming_words(query: AnalysedQuery) -> frozenset[str]:
    """The words of a question that a file or a definition can be named with."""
    return frozenset(word for word in query.words if len(word) > 1)


def describes_a_place(query: AnalysedQuery) -> bool:
    """Whether a question has so many words that it tells the places of a file apart; a shorter one names a subject."""
    return len(query.words) >= DESCRIBES


Signal = Callable[[AnalysedQuery, Sequence[Candidate]], None]
"""Weighs candidates in place."""
