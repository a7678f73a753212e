"""Types shared by all benchmarks: targets, figures, outcomes, hits, queries, trees."""

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
    """Bound that a figure should keep to: ``Target("<=", 0.7)``."""

    relation: str
    bound: float

    def is_met_by(self, value: float) -> bool:
        """Return whether a value keeps to the bound."""
        return _RELATIONS[self.relation](value, self.bound)

    def __str__(self) -> str:
        return f"{self.relation} {self.bound:g}"


def at_most(bound: float) -> Target:
    """Make a target with an inclusive upper bound."""
    return Target("<=", bound)


def below(bound: float) -> Target:
    """Make a target with an exclusive upper bound."""
    return Target("<", bound)


def at_least(bound: float) -> Target:
    """Make a target with an inclusive lower bound."""
    return Target(">=", bound)


@dataclass(frozen=True, slots=True)
class Figure:
    """One measured number. ``unit`` is "" for shares and scores from 0 to 1; ``beside`` is what other engines reach."""

    name: str
    value: float
    unit: str = ""
    target: Target | None = None
    beside: str = ""


@dataclass(frozen=True, slots=True)
class Outcome:
    """Result of a benchmark. Only an ``official`` one (no setting overridden) is written to ``results/``."""

    name: str
    title: str
    figures: Sequence[Figure]
    notes: Sequence[str] = ()
    details: Mapping[str, Any] = field(default_factory=dict)
    official: bool = True


class Hit(NamedTuple):
    """A search result as an adapter returns it: lines are 1-based and inclusive, the path relative to the tree.

    An engine that returns whole files gives no lines; ``entity`` and ``text`` are empty where it has none.
    """

    path: str
    start: int | None
    end: int | None
    entity: str = ""
    text: str = ""


class Query(NamedTuple):
    """Text to search for in a tree; ``id`` is unique in its tree."""

    id: str
    text: str


@dataclass(frozen=True, slots=True)
class Tree:
    """A source tree and the queries about it."""

    name: str
    path: Path
    queries: tuple[Query, ...]


Row = dict[str, Any]
"""Scores of one query: ``repo`` and ``qid`` say which, the rest are numbers by metric."""
