"""Information retrieval metrics: NDCG, MRR, recall, precision, hit rate, token recall; means with bootstrap intervals.

Every metric is 0 to 1, more is better, and its definition is the docstring of its function (docs/evaluation.md has them
in prose). ``k`` counts hits from the top; for token recall it is a number of tokens.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

from dowse.errors import UsageError
from dowse.evaluation.eval_types import Estimate, Judgement

if TYPE_CHECKING:
    import numpy as np

    Values = np.ndarray[tuple[int, ...], np.dtype[np.float64]]

RESAMPLES = 2000
"""Resamples of a bootstrap: 50 of them lie beyond each end of a 95 % interval."""

BOOTSTRAP_SEED = 0
"""Fixed, so that the same values always give the same intervals."""

MAX_BLOCK_VALUES = 4_000_000
"""Numbers that a bootstrap holds in memory at a time."""

DEFAULT_METRICS = (
    "ndcg@10",
    "mrr",
    "hit@1",
    "hit@5",
    "hit@10",
    "recall@10",
    "precision@5",
    "file_recall@10",
    "span_recall@10",
    "token_recall@1000",
    "token_recall@4000",
)
"""The default metrics; the first is the headline."""

TOKEN_BUDGETS = (250, 500, 1000, 2000, 4000)
"""Token budgets of the token recall curve."""


def hit(judgement: Judgement, k: int) -> float:
    """Return 1 if one of the first k hits covers a target, else 0."""
    return float(any(0 < rank <= k for rank in judgement.ranks))


def recall(judgement: Judgement, k: int) -> float:
    """Compute the share of the targets that the first k hits cover."""
    return _compute_share(judgement.ranks, k)


def precision(judgement: Judgement, k: int) -> float:
    """Compute how many of the first k hits cover a target, over k (also if there are fewer hits)."""
    return sum(judgement.relevant[:k]) / k


def reciprocal_rank(judgement: Judgement, k: int) -> float:
    """Compute 1 over the rank of the first hit that covers a target, 0 beyond k."""
    ranks = [rank for rank in judgement.ranks if 0 < rank <= k]
    return 1 / min(ranks) if ranks else 0.0


def ndcg(judgement: Judgement, k: int) -> float:
    """Compute the discounted cumulative gain over that of the ideal order.

    A target gains its grade at the rank where it is first covered, divided by log2(rank + 1); of several targets at
    one rank the highest grade counts. The ideal order has the targets at the top by grade, one per rank.
    """
    gains: dict[int, int] = {}
    for rank, grade in zip(judgement.ranks, judgement.grades, strict=True):
        if 0 < rank <= k:
            gains[rank] = max(grade, gains.get(rank, 0))
    ideal = sorted(judgement.grades, reverse=True)[:k]
    best = sum(grade / math.log2(rank + 1) for rank, grade in enumerate(ideal, 1))
    return sum(gain / math.log2(rank + 1) for rank, gain in gains.items()) / best if best else 0.0


def file_recall(judgement: Judgement, k: int) -> float:
    """Compute the share of the targets' files that are among the first k hits, whatever the lines."""
    return _compute_share(judgement.file_ranks, k)


def span_recall(judgement: Judgement, k: int) -> float:
    """Compute the share of the targets with lines or a definition that the first k hits cover."""
    return _compute_share(judgement.span_ranks, k)


def token_recall(judgement: Judgement, budget: int) -> float:
    """Compute the share of the targets covered by the top hits that fit into a token budget."""
    spent = shown = 0
    for cost in judgement.costs:
        spent += cost
        if spent > budget:
            break
        shown += 1
    return _compute_share(judgement.ranks, shown)


def _compute_share(ranks: Sequence[int], k: int) -> float:
    return sum(0 < rank <= k for rank in ranks) / len(ranks) if ranks else 0.0


class Formula(NamedTuple):
    """A metric. ``applies`` tells for which queries it is defined."""

    compute: Callable[[Judgement, int], float]
    applies: Callable[[Judgement], bool]


def _has_targets(judgement: Judgement) -> bool:
    return bool(judgement.ranks)


FORMULAS: Mapping[str, Formula] = {
    "hit": Formula(hit, _has_targets),
    "recall": Formula(recall, _has_targets),
    "precision": Formula(precision, _has_targets),
    "mrr": Formula(reciprocal_rank, _has_targets),
    "ndcg": Formula(ndcg, _has_targets),
    "file_recall": Formula(file_recall, _has_targets),
    "span_recall": Formula(span_recall, lambda judgement: bool(judgement.span_ranks)),
    "token_recall": Formula(token_recall, _has_targets),
}

_NAME = re.compile(r"([a-z_]+)(?:@([1-9][0-9]{0,6}))?")


def parse_metric(name: str) -> tuple[Formula, int]:
    """Parse ``ndcg@10`` into its formula and k; only ``mrr`` may go without k, and then uses every hit."""
    match = _NAME.fullmatch(name.strip().lower())
    formula = FORMULAS.get(match[1]) if match else None
    if match is None or formula is None or (match[2] is None and match[1] != "mrr"):
        known = ", ".join(f"{name}@K" for name in FORMULAS)
        raise UsageError(f"unknown metric '{name}': there are {known}, and mrr; write it like ndcg@10")
    return formula, int(match[2] or 10**9)


def count_required_hits(names: Iterable[str]) -> int:
    """Return how many hits these metrics need; token recall and a plain mrr work with any number."""
    ks = [parse_metric(name)[1] for name in names if "token_recall" not in name and "@" in name]
    return max(ks, default=1)


def compute_metrics(judgement: Judgement, names: Iterable[str]) -> dict[str, float]:
    """Compute every metric that applies to a judgement."""
    table = {name: parse_metric(name) for name in names}
    return {
        name: formula.compute(judgement, k)
        for name, (formula, k) in table.items()
        if formula.applies(judgement)
    }


# --- means and intervals -------------------------------------------------------------------------


def mean(values: Iterable[float]) -> float:
    """Compute the mean; 0 of nothing."""
    found = list(values)
    return math.fsum(found) / len(found) if found else 0.0


def percentile(values: Iterable[float], share: float) -> float:
    """Find the smallest value that at least this share of the values does not exceed (nearest rank); 0 of nothing."""
    ordered = sorted(values)
    return ordered[max(0, math.ceil(share * len(ordered)) - 1)] if ordered else 0.0


def estimate(values: Sequence[float]) -> Estimate:
    """Estimate a mean with its 95 % interval, by percentile bootstrap over the queries."""
    low, high = bootstrap_interval(values)
    return Estimate(mean(values), low, high, len(values))


def bootstrap_interval(
    values: Sequence[float], resamples: int = RESAMPLES, seed: int = BOOTSTRAP_SEED
) -> tuple[float, float]:
    """Compute the interval that holds 95 % of the means when queries are resampled with replacement."""
    if len(set(values)) < 2:
        only = values[0] if values else 0.0
        return only, only
    import numpy as np

    data = np.asarray(values, dtype=np.float64)
    means = np.concatenate(list(_resample_means(data, resamples, np.random.default_rng(seed))))
    low, high = np.percentile(means, [2.5, 97.5])
    return float(low), float(high)


def _resample_means(data: Values, resamples: int, random: np.random.Generator) -> Iterable[Values]:
    block = max(1, MAX_BLOCK_VALUES // len(data))
    for start in range(0, resamples, block):
        sampled = random.integers(0, len(data), (min(block, resamples - start), len(data)))
        yield data[sampled].mean(axis=1)
