"""What a signal sees and says."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from dowse.types import AnalysedQuery, Chunk, Entity, Reason, StoredFile


@dataclass(slots=True)
class Candidate:
    """A chunk under consideration, with what it has been given so far."""

    id: int
    ordinal: int
    file: StoredFile
    chunk: Chunk
    score: float
    reasons: list[Reason]

    @property
    def beginning(self) -> list[Entity]:
        """The definitions that begin in the chunk."""
        entities = self.file.parsed.entities
        return [entities[i] for i in self.file.definitions[self.ordinal]]

    @property
    def entity(self) -> Entity | None:
        """The definition around the chunk."""
        return self.file.parsed.entities[self.chunk.entity] if self.chunk.entity is not None else None

    def weigh(self, name: str, factor: float, detail: str = "") -> None:
        """Multiply the score, and say why."""
        self.score *= factor
        self.reasons.append(Reason(name, factor, detail))


Signal = Callable[[AnalysedQuery, Sequence[Candidate]], None]
"""Weighs candidates in place."""
