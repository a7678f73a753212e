"""Score fusion of several channels (hybrid search): reciprocal rank fusion (RRF), score normalization, or z-scores.

Combines lexical and dense results into one score per chunk, by the setting ``fusion``. Whichever method it is, a
channel of weight one contributes from 0 to 1. The formulas are in ``fuse``.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

from dowse.types.stored import Scored

RRF_K = 60
"""The constant of RRF: the larger, the less the first ranks stand out."""

FULL_SPREAD_DEVIATIONS = 6.0
"""Standard deviations between the worst and the best hit of a channel that count as a full score: BM25's best of
a hundred hits is seldom further off."""

BOUNDED_CHANNELS = frozenset(
    {"exact", "history", "names", "files", "places", "partners", "phrases", "versions"}
)
"""Channels whose scores say by themselves how good a match is, from 0 to 1."""


Contribution = tuple[str, float, str | int]
"""What a channel or a group of features contributes to a candidate: its name, how much, and why; for a channel, the
rank. A plain tuple, since hundreds are made for each query and few are shown."""


class FusedScores(NamedTuple):
    """The score of each chunk, and what each channel that found it contributes."""

    scores: dict[int, float]
    contributions: dict[int, list[Contribution]]


def fuse(method: str, channels: Mapping[str, Sequence[Scored]], weights: Mapping[str, float]) -> FusedScores:
    """Add up the contributions of channels to each chunk, by the method of this name.

    - ``learned``: as ``scores``, for choosing candidates; ``learned_ranking.py`` orders them. The default.
    - ``rrf``: weighted reciprocal rank fusion, ``w / (k + rank)``, ranks from 1: only the order in a channel counts.
    - ``scores``: ``w * score / full score``, where a channel's full score is what counts as a perfect match: its
      best score where scores have no bound (BM25, cosine), 1 where they have (names). How clearly a channel prefers
      its first hits counts too.
    - ``zscore``: ``w * (z - lowest z) / spread``, z being the score's distance from the mean of the channel's hits in
      standard deviations: a channel counts by how far a hit stands out from the others it found.
    """
    fused = FusedScores({}, {})
    scores, contributions = fused
    for name, hits in channels.items():
        weight, shares = (
            weights[name],
            METHODS[method]([score for _, score in hits], name in BOUNDED_CHANNELS),
        )
        for rank, (hit, share) in enumerate(zip(hits, shares, strict=True), 1):
            chunk, value = hit.chunk, weight * share
            if chunk in scores:
                scores[chunk] += value
                contributions[chunk].append((name, value, rank))
            else:
                scores[chunk] = value
                contributions[chunk] = [(name, value, rank)]
    return fused


def _share_by_rank(scores: Sequence[float], bounded: bool) -> Sequence[float]:
    """Share by rank alone: reciprocal rank fusion, scaled so that the first hit has the whole weight."""
    return [(RRF_K + 1) / (RRF_K + rank) for rank in range(1, len(scores) + 1)]


def _share_by_score(scores: Sequence[float], bounded: bool) -> Sequence[float]:
    """Share by the score, compared with the full score of the channel."""
    full = 1.0 if bounded else max(scores, default=0.0)
    if full <= 0:
        return [0.0] * len(scores)
    return [score / full if score > 0 else 0.0 for score in scores]


def _share_by_zscore(scores: Sequence[float], bounded: bool) -> Sequence[float]:
    """Share by how far a score stands out from the others of the channel."""
    lowest = min(scores, default=0.0)
    if bounded or lowest == max(scores, default=0.0):  # nothing stands out: the scores speak for themselves
        return _share_by_score(scores, bounded)
    mean = math.fsum(scores) / len(scores)
    deviation = math.dist(scores, [mean] * len(scores)) / math.sqrt(len(scores))
    return [min(1.0, (score - lowest) / (FULL_SPREAD_DEVIATIONS * deviation)) for score in scores]


METHODS: Mapping[str, Callable[[Sequence[float], bool], Sequence[float]]] = {
    "learned": _share_by_score,
    "scores": _share_by_score,
    "rrf": _share_by_rank,
    "zscore": _share_by_zscore,
}
"""What share of its weight a channel contributes to each of its hits, by their scores, best first."""
