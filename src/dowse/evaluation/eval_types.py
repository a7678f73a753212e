"""Every value that crosses a stage of an evaluation. Not in ``types.py``, which every search loads."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

# --- ground truth --------------------------------------------------------------------------------


class Target(NamedTuple):
    """A place that answers a question: a file, some of its lines, or a definition in it.

    ``start`` and ``end`` are 1-based and inclusive, 0 for a file as a whole; ``grade`` is how well it answers.
    """

    path: str
    start: int = 0
    end: int = 0
    entity: str = ""
    grade: int = 1

    def __str__(self) -> str:
        """As it is written in a file of ground truth."""
        if self.entity:
            return f"{self.path}:{self.entity}"
        return f"{self.path}:{self.start}-{self.end}" if self.start else self.path


@dataclass(frozen=True, slots=True)
class Question:
    """A question and what answers it.

    ``source`` says how it was mined ("docs": measured with the documentation of definitions blanked out); ``base`` is
    the commit whose tree it is asked about, "" for the tree as it is.
    """

    id: str
    query: str
    relevant: tuple[Target, ...]
    category: str = ""
    cursor_file: str = ""
    source: str = ""
    base: str = ""


@dataclass(frozen=True, slots=True)
class Dataset:
    """Questions with their answers. ``suffix_paths``: a path also matches one that ends with it, or in it."""

    name: str
    questions: tuple[Question, ...]
    suffix_paths: bool = False
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Leaks:
    """How many questions give their answer's file away: by its name, or by a word of it."""

    questions: int
    named: int
    hinted: int


# --- one answer, judged --------------------------------------------------------------------------


class Place(NamedTuple):
    """A result, reduced to what is judged; ``tokens`` is what reading it costs."""

    path: str
    start: int
    end: int
    entity: str = ""
    tokens: int = 0


@dataclass(frozen=True, slots=True)
class Judged:
    """An answer held against the truth. Ranks count from 1; 0 means not found."""

    grades: tuple[int, ...]  # of each target
    ranks: tuple[int, ...]  # for each target, of the first result that covers it
    relevant: tuple[bool, ...]  # for each result, whether it covers any target
    costs: tuple[int, ...]  # for each result, its tokens
    span_ranks: tuple[int, ...]  # as ranks, of the targets that are more precise than a file
    file_ranks: tuple[int, ...]  # for each distinct file of the targets, of the first result in it


# --- runs ----------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Variant:
    """Settings to measure, under a name; only what differs from the settings in force."""

    name: str
    settings: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of one question. ``values`` has every metric that applies to it."""

    id: str
    query: str
    category: str
    relevant: tuple[str, ...]
    ranks: tuple[int, ...]
    values: Mapping[str, float]
    milliseconds: float
    tokens: int  # of the first ten results
    whole_tokens: int  # of the files they are in
    found: tuple[str, ...]  # the first results, as ``path:start-end``
    missing: tuple[str, ...] = ()  # targets that the index does not have
    enriched: str = ""  # the question as it was searched for, where that differs
    added: tuple[str, ...] = ()  # the terms that were added to it
    error: str = ""  # why it could not be asked


class Estimate(NamedTuple):
    """A mean over questions, its 95 % interval, and over how many questions."""

    mean: float
    low: float
    high: float
    questions: int


@dataclass(frozen=True, slots=True)
class Summary:
    """A run in figures."""

    overall: Mapping[str, Estimate]
    categories: Mapping[str, Mapping[str, Estimate]]
    latency_p50: float
    latency_p95: float
    tokens: float  # mean of the first ten results
    whole_tokens: float  # mean of the files they are in


@dataclass(frozen=True, slots=True)
class Run:
    """What one variant answered."""

    variant: Variant
    outcomes: tuple[Outcome, ...]
    summary: Summary


class Difference(NamedTuple):
    """The mean difference of a metric between two runs by question, its 95 % interval, and who gained."""

    mean: float
    low: float
    high: float
    better: int
    worse: int
    same: int

    @property
    def verdict(self) -> str:
        """What the interval allows to say."""
        if self.low > 0:
            return "better"
        return "worse" if self.high < 0 else "no difference shown"


class Change(NamedTuple):
    """A question that two runs answered with different success, by the headline metric."""

    id: str
    query: str
    category: str
    before: float
    after: float
    added: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Comparison:
    """Two runs of the same questions."""

    before: str
    after: str
    questions: int
    headline: str
    differences: Mapping[str, Difference]
    improved: tuple[Change, ...]
    regressed: tuple[Change, ...]


@dataclass(frozen=True, slots=True)
class Evaluation:
    """Everything a report says. ``root`` is the name of the tree, ``made`` the moment (ISO 8601)."""

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
