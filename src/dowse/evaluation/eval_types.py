"""Data types of evaluation: queries with gold targets, judgements, metric estimates with intervals, runs, comparisons.

Not in ``types``, which every search loads.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

# --- ground truth --------------------------------------------------------------------------------


class GoldTarget(NamedTuple):
    """A relevant answer to a query: a file, some of its lines, or a definition in it.

    ``start`` and ``end`` are 1-based and inclusive, 0 for a file as a whole; ``grade`` is its relevance.
    """

    path: str
    start: int = 0
    end: int = 0
    entity: str = ""
    grade: int = 1

    def __str__(self) -> str:
        """Format the target as it is written in a ground truth file."""
        if self.entity:
            return f"{self.path}:{self.entity}"
        return f"{self.path}:{self.start}-{self.end}" if self.start else self.path


@dataclass(frozen=True, slots=True)
class EvalQuery:
    """A query with its relevant answers.

    ``source`` says how it was mined ("docs": measured with the documentation of definitions blanked out); ``base`` is
    the commit whose tree it is run on, "" for the tree as it is.
    """

    id: str
    query: str
    relevant: tuple[GoldTarget, ...]
    category: str = ""
    cursor_file: str = ""
    source: str = ""
    base: str = ""


@dataclass(frozen=True, slots=True)
class Dataset:
    """Queries with their answers. ``suffix_paths``: two paths also match if one ends with the other."""

    name: str
    queries: tuple[EvalQuery, ...]
    suffix_paths: bool = False
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Leaks:
    """How many queries give their answer's file away: by its name, or by a word of it."""

    queries: int
    named: int
    hinted: int


# --- hits, judged --------------------------------------------------------------------------------


class RankedHit(NamedTuple):
    """A hit, reduced to what is judged; ``tokens`` is what reading it costs."""

    path: str
    start: int
    end: int
    entity: str = ""
    tokens: int = 0


@dataclass(frozen=True, slots=True)
class Judgement:
    """The hits of one query compared with its targets. Ranks count from 1; 0 means not found."""

    grades: tuple[int, ...]  # of each target
    ranks: tuple[int, ...]  # for each target, of the first hit that covers it
    relevant: tuple[bool, ...]  # for each hit, whether it covers any target
    costs: tuple[int, ...]  # for each hit, its tokens
    span_ranks: tuple[int, ...]  # like ranks, only for targets that have lines or a definition
    file_ranks: tuple[int, ...]  # for each distinct file of the targets, of the first hit in it


# --- runs ----------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Variant:
    """Settings to measure, under a name; only what differs from the settings in force."""

    name: str
    settings: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Outcome:
    """The result of one query. ``values`` has every metric that applies to it."""

    id: str
    query: str
    category: str
    relevant: tuple[str, ...]
    ranks: tuple[int, ...]
    values: Mapping[str, float]
    milliseconds: float
    tokens: int  # of the first ten hits
    whole_tokens: int  # of the files they are in
    found: tuple[str, ...]  # the first hits, as ``path:start-end``
    missing: tuple[str, ...] = ()  # targets that the index does not have
    enriched: str = ""  # the query as it was searched for, where that differs
    added: tuple[str, ...] = ()  # the terms that were added to it
    error: str = ""  # why the query was refused


class Estimate(NamedTuple):
    """A mean over queries, its 95 % interval, and the number of queries."""

    mean: float
    low: float
    high: float
    queries: int


@dataclass(frozen=True, slots=True)
class Summary:
    """The figures of a run."""

    overall: Mapping[str, Estimate]
    categories: Mapping[str, Mapping[str, Estimate]]
    latency_p50: float
    latency_p95: float
    tokens: float  # mean of the first ten hits
    whole_tokens: float  # mean of the files they are in


@dataclass(frozen=True, slots=True)
class Run:
    """The outcomes of one variant."""

    variant: Variant
    outcomes: tuple[Outcome, ...]
    summary: Summary


class Difference(NamedTuple):
    """The mean difference of a metric between two runs, paired by query, its 95 % interval, and counts."""

    mean: float
    low: float
    high: float
    better: int
    worse: int
    same: int

    @property
    def verdict(self) -> str:
        """The conclusion that the interval allows."""
        if self.low > 0:
            return "better"
        return "worse" if self.high < 0 else "no difference shown"


class QueryChange(NamedTuple):
    """A query for which two runs differ in the headline metric."""

    id: str
    query: str
    category: str
    before: float
    after: float
    added: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Comparison:
    """Two runs of the same queries, compared."""

    before: str
    after: str
    queries: int
    headline: str
    differences: Mapping[str, Difference]
    improved: tuple[QueryChange, ...]
    regressed: tuple[QueryChange, ...]


@dataclass(frozen=True, slots=True)
class Evaluation:
    """Everything a report shows. ``root`` is the name of the tree, ``made`` the time (ISO 8601)."""

    root: str
    made: str
    version: str
    truth: str
    depth: int
    metrics: tuple[str, ...]
    leaks: Leaks
    files: int
    runs: tuple[Run, ...]
    comparisons: tuple[Comparison, ...] = ()
    notes: tuple[str, ...] = ()
