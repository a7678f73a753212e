"""The formulas, in one place: from one judged answer to numbers, and from numbers to means and intervals.

Every metric is 0 to 1, more is better, and its definition is the docstring of its function (docs/evaluation.md has
them in prose). ``k`` counts results from the top; for token recall it is a number of tokens.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

from dowse.errors import UsageError
from dowse.evaluation.eval_types import Estimate, Judged

if TYPE_CHECKING:
    import numpy as np

    Values = np.ndarray[tuple[int, ...], np.dtype[np.float64]]

RESAMPLES = 2000
"""Resamples of a bootstrap: the ends of a 95 % interval then rest on 50 values each."""

SEED = 0
"""Of the bootstrap: the same answers always give the same intervals."""

BLOCK = 4_000_000
"""Numbers that a bootstrap holds in memory at a time."""

DEFAULT = (
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
"""What is measured unless somebody asks for something else; the first is the headline."""

BUDGETS = (250, 500, 1000, 2000, 4000)
"""Tokens at which the curve of token recall is drawn."""


def hit(judged: Judged, k: int) -> float:
    """1 if one of the first k results covers a target, else 0."""
    return float(any(0 < rank <= k for rank in judged.ranks))


def recall(judged: Judged, k: int) -> float:
    """The share of the targets that the first k results cover."""
    return _share(judged.ranks, k)


def precision(judged: Judged, k: int) -> float:
    """How many of the first k results cover a target, over k (also if there are fewer results)."""
    return sum(judged.relevant[:k]) / k


def reciprocal_rank(judged: Judged, k: int) -> float:
    """1 over the rank of the first result that covers a target, 0 beyond k."""
    ranks = [rank for rank in judged.ranks if 0 < rank <= k]
    return 1 / min(ranks) if ranks else 0.0


def ndcg(judged: Judged, k: int) -> float:
    """Discounted gain over that of the best possible order.

    A target's grade is gained at the rank where it is first covered, divided by log2(rank + 1); of several targets
    at one rank the best counts. The best possible order has the targets at the top by grade, one per rank.
    """
    gains: dict[int, int] = {}
    for rank, grade in zip(judged.ranks, judged.grades, strict=True):
        if 0 < rank <= k:
            gains[rank] = max(grade, gains.get(rank, 0))
    ideal = sorted(judged.grades, reverse=True)[:k]
    best = sum(grade / math.log2(rank + 1) for rank, grade in enumerate(ideal, 1))
    return sum(gain / math.log2(rank + 1) for rank, gain in gains.items()) / best if best else 0.0


def file_recall(judged: Judged, k: int) -> float:
    """The share of the targets' files that are among the first k results, whatever the lines."""
    return _share(judged.file_ranks, k)


def span_recall(judged: Judged, k: int) -> float:
    """The share of the targets with lines or a definition that the first k results cover."""
    return _share(judged.span_ranks, k)


def token_recall(judged: Judged, budget: int) -> float:
    """The share of the targets covered by the results, from the top, that fit into a number of tokens."""
    spent = shown = 0
    for cost in judged.costs:
        spent += cost
        if spent > budget:
            break
        shown += 1
    return _share(judged.ranks, shown)


def _share(ranks: Sequence[int], k: int) -> float:
    return sum(0 < rank <= k for rank in ranks) / len(ranks) if ranks else 0.0


class Formula(NamedTuple):
    """A row of the table. ``applies`` says to which questions."""

    of: Callable[[Judged, int], float]
    applies: Callable[[Judged], bool]


def _always(judged: Judged) -> bool:
    return bool(judged.ranks)


FORMULAS: Mapping[str, Formula] = {
    "hit": Formula(hit, _always),
    "recall": Formula(recall, _always),
    "precision": Formula(precision, _always),
    "mrr": Formula(reciprocal_rank, _always),
    "ndcg": Formula(ndcg, _always),
    "file_recall": Formula(file_recall, _always),
    "span_recall": Formula(span_recall, lambda judged: bool(judged.span_ranks)),
    "token_recall": Formula(token_recall, _always),
}

_NAME = re.compile(r"([a-z_]+)(?:@([1-9][0-9]{0,6}))?")


def parsed(name: str) -> tuple[Formula, int]:
    """The formula and the k of ``ndcg@10``; only ``mrr`` may go without, and then looks at every result."""
    match = _NAME.fullmatch(name.strip().lower())
    formula = FORMULAS.get(match[1]) if match else None
    if match is None or formula is None or (match[2] is None and match[1] != "mrr"):
        known = ", ".join(f"{name}@K" for name in FORMULAS)
        raise UsageError(f"unknown metric '{name}': there are {known}, and mrr; write it like ndcg@10")
    return formula, int(match[2] or 10**9)


def depth(names: Iterable[str]) -> int:
    """How many results must be looked at for these metrics; token recall and a plain mrr make do with any number."""
    ks = [parsed(name)[1] for name in names if "token_recall" not in name and "@" in name]
    return max(ks, default=1)


def measured(judged: Judged, names: Iterable[str]) -> dict[str, float]:
    """Every metric that applies to an answer."""
    table = {name: parsed(name) for name in names}
    return {name: formula.of(judged, k) for name, (formula, k) in table.items() if formula.applies(judged)}


# --- from questions to figures -------------------------------------------------------------------


def mean(values: Iterable[float]) -> float:
    """The mean, 0 of nothing."""
    found = list(values)
    return math.fsum(found) / len(found) if found else 0.0


def percentile(values: Iterable[float], share: float) -> float:
    """The smallest value that at least this share of the values does not exceed (nearest rank); 0 of nothing."""
    ordered = sorted(values)
    return ordered[max(0, math.ceil(share * len(ordered)) - 1)] if ordered else 0.0


def estimate(values: Sequence[float]) -> Estimate:
    """A mean with its 95 % interval by bootstrap over the questions (percentiles)."""
    low, high = interval(values)
    return Estimate(mean(values), low, high, len(values))


def interval(values: Sequence[float], resamples: int = RESAMPLES, seed: int = SEED) -> tuple[float, float]:
    """Where 95 % of the means lie if the same number of questions is drawn again, with replacement."""
    if len(set(values)) < 2:
        only = values[0] if values else 0.0
        return only, only
    import numpy as np

    data = np.asarray(values, dtype=np.float64)
    means = np.concatenate(list(_resampled(data, resamples, np.random.default_rng(seed))))
    low, high = np.percentile(means, [2.5, 97.5])
    return float(low), float(high)


def _resampled(data: Values, resamples: int, random: np.random.Generator) -> Iterable[Values]:
    block = max(1, BLOCK // len(data))
    for start in range(0, resamples, block):
        drawn = random.integers(0, len(data), (min(block, resamples - start), len(data)))
        yield data[drawn].mean(axis=1)
