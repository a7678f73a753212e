"""Our own metrics: percentiles, ratios, ranks, recall. Those of the public bench are in its score.py."""

from __future__ import annotations

import statistics
from collections.abc import Collection, Iterable, Mapping, Sequence

from benchmarks.bench_types import Hit

Spans = Mapping[str, Sequence[Sequence[int]]]
"""First and last line of each cited range, by path."""


def mean(values: Iterable[float]) -> float:
    """Compute the mean; 0 for no values."""
    found = list(values)
    return statistics.fmean(found) if found else 0.0


def percentile(values: Sequence[float], share: float) -> float:
    """Return the value below which this share of the values lies (nearest rank): ``percentile(ms, 0.95)``."""
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(share * len(ordered)))]


def ratio_of_sums(ours: Sequence[float], theirs: Sequence[float]) -> float:
    """Divide the sum of ours by the sum of theirs: large trees count most."""
    return sum(ours) / sum(theirs)


def median_ratio(ours: Sequence[float], theirs: Sequence[float]) -> float:
    """Compute the median of the ratios, pair by pair: no single large tree decides it."""
    return statistics.median(a / b for a, b in zip(ours, theirs, strict=True))


def first_rank(found: Iterable[str], wanted: Collection[str], depth: int) -> int:
    """Return the rank (from 1) of the first wanted item among the first ``depth`` distinct ones, else 0."""
    distinct = list(dict.fromkeys(found))[:depth]
    return next((rank for rank, item in enumerate(distinct, 1) if item in wanted), 0)


def reciprocal(rank: int) -> float:
    """Return 1 / rank, and 0 for what was not found (rank 0)."""
    return 1 / rank if rank else 0.0


def list_files(hits: Iterable[Hit]) -> list[str]:
    """List the distinct files of some hits, in order."""
    return list(dict.fromkeys(hit.path for hit in hits))


def recall_at_files(hits: Iterable[Hit], wanted: Collection[str], files: int) -> float:
    """Compute the share of the wanted files among the first so many distinct files."""
    return len(set(wanted) & set(list_files(hits)[:files])) / len(set(wanted))


def touches(hit: Hit, spans: Spans) -> bool:
    """Return whether a hit shares a line with one of the ranges of its file (a whole file does not)."""
    if hit.start is None or hit.end is None:
        return False
    return any(hit.start <= last and first <= hit.end for first, last in spans.get(hit.path, ()))


def entity_id(hit: Hit) -> str:
    """Write the entity of a hit as ``path:Class.method`` (``path`` for a whole file).

    A constructor is its class, as in the labels, which know no ``__init__``.
    """
    entity = hit.entity.removesuffix(".__init__")
    return f"{hit.path}:{entity}" if entity else hit.path
