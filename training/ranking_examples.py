"""Examples to learn ranking from: a query, the features of its candidates, and which of them are right."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from dowse.search.ranking.features.feature import Values
from dowse.types.source import Role

PRIMARY, SECONDARY = 1.0, 0.4
"""What a right answer counts, and what one that helps."""


@dataclass(frozen=True, slots=True)
class Target:
    """Lines that answer a query, and what they count."""

    path: str
    first: int
    last: int
    grade: float


@dataclass(frozen=True, slots=True)
class Place:
    """A place of a file: its lines, what it counts as an answer, and its features."""

    first: int
    last: int
    grade: float
    features: Values


@dataclass(frozen=True, slots=True)
class RankedFile:
    """A file under consideration: what it counts as an answer, its features and its places."""

    path: str
    role: Role  # that it counts as
    grade: float
    features: Values  # of ``FILE_FEATURES``, then of ``TEXT_FEATURES``
    places: Sequence[Place]


@dataclass(frozen=True, slots=True)
class Example:
    """A query with its candidates; no targets if it is about another tree."""

    repository: str
    split: str
    id: str
    category: str
    query: str
    traits: Values
    targets: Sequence[Target]
    files: Sequence[RankedFile]
