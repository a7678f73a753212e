"""The formulas that are ours. Those of the public benchmark are in its own score.py."""

from __future__ import annotations

import statistics
from collections.abc import Collection, Iterable, Mapping, Sequence

from benchmarks.bench_types import Hit

Spans = Mapping[str, Sequence[Sequence[int]]]
"""First and last line of what answers a question, by path."""


def mean(values: Iterable[float]) -> float:
    """The mean, 0 of nothing."""
    found = list(values)
    return statistics.fmean(found) if found else 0.0


def percentile(values: Sequence[float], share: float) -> float:
    """The value below which this share of the values lies (nearest rank): ``percentile(ms, 0.95)``."""
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(share * len(ordered)))]


def ratio_of_sums(ours: Sequence[float], theirs: Sequence[float]) -> float:
    """All of ours over all of theirs: what a user of everything would notice."""
    return sum(ours) / sum(theirs)


def median_ratio(ours: Sequence[float], theirs: Sequence[float]) -> float:
    """The middle one of the ratios, pair by pair: no single large tree decides it."""
    return statistics.median(a / b for a, b in zip(ours, theirs, strict=True))


def first_rank(found: Iterable[str], wanted: Collection[str], depth: int) -> int:
    """The rank (from 1) of the first wanted one among the first ``depth`` distinct ones; 0 if none is."""
    distinct = list(dict.fromkeys(found))[:depth]
    return next((rank for rank, item in enumerate(distinct, 1) if item in wanted), 0)


def reciprocal(rank: int) -> float:
    """1 / rank, and 0 for what was not found (rank 0)."""
    return 1 / rank if rank else 0.0


def list_files(hits: Iterable[Hit]) -> list[str]:
    """The files of a list of results, each where it first occurs."""
    return list(dict.fromkeys(hit.path for hit in hits))


def recall_at_files(hits: Iterable[Hit], wanted: Collection[str], files: int) -> float:
    """The share of the wanted files that are among the first so many distinct files."""
    return len(set(wanted) & set(list_files(hits)[:files])) / len(set(wanted))


def touches(hit: Hit, spans: Spans) -> bool:
    """Whether a result and one of the line ranges of its file have a line in common (a whole file: no)."""
    if hit.start is None or hit.end is None:
        return False
    return any(hit.start <= last and first <= hit.end for first, last in spans.get(hit.path, ()))


def entity_id(hit: Hit) -> str:
    """What a result points at, written ``path:Class.method`` (``path`` for a file as a whole).

    A constructor is its class, as in the labels, which know no ``__init__``.
    """
    entity = hit.entity.removesuffix(".__init__")
    return f"{hit.path}:{entity}" if entity else hit.path
