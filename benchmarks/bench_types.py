"""Every value that crosses a stage of a benchmark."""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

_RELATIONS: Mapping[str, Callable[[float, float], bool]] = {
    "<": operator.lt,
    "<=": operator.le,
    ">=": operator.ge,
}


class Target(NamedTuple):
    """What a figure should be: ``Target("<=", 0.7)``."""

    relation: str
    bound: float

    def is_met_by(self, value: float) -> bool:
        """Whether a value is as it should be."""
        return _RELATIONS[self.relation](value, self.bound)

    def __str__(self) -> str:
        return f"{self.relation} {self.bound:g}"


def at_most(bound: float) -> Target:
    """A target for what may be this large."""
    return Target("<=", bound)


def below(bound: float) -> Target:
    """A target for what must stay under a bound."""
    return Target("<", bound)


def at_least(bound: float) -> Target:
    """A target for what may be this small."""
    return Target(">=", bound)


@dataclass(frozen=True, slots=True)
class Figure:
    """One measured number. ``unit`` is "" for shares and scores from 0 to 1; ``beside`` what others reach."""

    name: str
    value: float
    unit: str = ""
    target: Target | None = None
    beside: str = ""


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a benchmark found. Only an ``official`` one (nothing overridden) is kept in ``results/``."""

    name: str
    title: str
    figures: Sequence[Figure]
    notes: Sequence[str] = ()
    details: Mapping[str, Any] = field(default_factory=dict)
    official: bool = True


class Hit(NamedTuple):
    """A result as an adapter returns it: lines are 1-based and inclusive, the path relative to the tree.

    An engine that returns whole files gives no lines; ``entity`` and ``text`` are empty where it has none.
    """

    path: str
    start: int | None
    end: int | None
    entity: str = ""
    text: str = ""


class Query(NamedTuple):
    """Something to look for in a tree; ``id`` is unique in its tree."""

    id: str
    text: str


@dataclass(frozen=True, slots=True)
class Tree:
    """A source tree and what is asked about it."""

    name: str
    path: Path
    queries: tuple[Query, ...]


Row = dict[str, Any]
"""The scores of one question: ``repo`` and ``qid`` say which, the rest are numbers by metric."""
