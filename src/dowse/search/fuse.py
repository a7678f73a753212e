"""Fuses what several channels found into one score per chunk.

Two ways, by the setting ``fusion``:

- ``rrf``: weighted reciprocal rank fusion, ``w / (k + rank)``, ranks from 1: only the order in a channel counts.
- ``scores``: ``w * score / full score``, where a channel's full score is what counts as a perfect match: its
  best score where scores have no bound (BM25, cosine), 1 where they have (names). How clearly a channel prefers
  its first hits counts too. Wins on every set of the benchmark and is the default.

Either way a channel of weight one contributes at most 1.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from dowse.types import Reason, Scored

K = 60
"""RRF's constant: how little the very first ranks stand out."""

BOUNDED = frozenset({"exact", "names", "files", "places", "partners"})
"""Channels whose scores say by themselves how good a match is, from 0 to 1."""

Fused = dict[int, list[Reason]]
"""For each chunk, what each channel that has it contributes."""


def fuse(method: str, channels: Mapping[str, Sequence[Scored]], weights: Mapping[str, float]) -> Fused:
    """The contributions to each chunk, by the method of this name."""
    contribution = METHODS[method]
    fused: Fused = {}
    for name, hits in channels.items():
        weight, full = (
            weights[name],
            1.0 if name in BOUNDED else max((hit.score for hit in hits), default=0.0),
        )
        for rank, hit in enumerate(hits, 1):
            value = weight * contribution(rank, hit.score, full)
            fused.setdefault(hit.chunk, []).append(Reason(name, value, f"rank {rank}"))
    return fused


def _rrf(rank: int, score: float, full: float) -> float:
    return (K + 1) / (K + rank)


def _scores(rank: int, score: float, full: float) -> float:
    return max(0.0, score / full) if full > 0 else 0.0


METHODS: Mapping[str, Callable[[int, float, float], float]] = {"scores": _scores, "rrf": _rrf}
