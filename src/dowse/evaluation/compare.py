"""A/B comparison of two evaluation runs: paired bootstrap of the metric difference, improved and regressed queries."""

from __future__ import annotations

from collections.abc import Sequence

from dowse.errors import UsageError
from dowse.evaluation import metrics
from dowse.evaluation.eval_types import Comparison, Difference, Outcome, QueryChange, Run

ROUNDING_TOLERANCE = 1e-9
"""Smaller differences are rounding errors."""


def compare(
    before: Run, after: Run, names: Sequence[str], labels: tuple[str, str] | None = None
) -> Comparison:
    """Compare two runs query by query; the first metric is the headline."""
    earlier = {outcome.id: outcome for outcome in before.outcomes}
    pairs = [(earlier[o.id], o) for o in after.outcomes if o.id in earlier and earlier[o.id].query == o.query]
    if not pairs:
        raise UsageError("the two runs have no query in common: compare runs of the same ground truth")
    shared = [name for name in names if any(name in a.values and name in b.values for a, b in pairs)]
    if not shared:
        raise UsageError(f"the two runs have none of these metrics in common: {', '.join(names)}")
    changes = [
        _make_change(a, b, shared[0]) for a, b in pairs if shared[0] in a.values and shared[0] in b.values
    ]
    return Comparison(
        before=labels[0] if labels else before.variant.name,
        after=labels[1] if labels else after.variant.name,
        queries=len(pairs),
        headline=shared[0],
        differences={name: estimate_difference(pairs, name) for name in shared},
        improved=tuple(
            sorted((c for c in changes if c.after - c.before > ROUNDING_TOLERANCE), key=_order_by_size)
        ),
        regressed=tuple(
            sorted((c for c in changes if c.before - c.after > ROUNDING_TOLERANCE), key=_order_by_size)
        ),
    )


def estimate_difference(pairs: Sequence[tuple[Outcome, Outcome]], name: str) -> Difference:
    """Estimate the difference of one metric by paired bootstrap: queries are resampled with both of their values."""
    both = [(a.values[name], b.values[name]) for a, b in pairs if name in a.values and name in b.values]
    gains = [after - before for before, after in both]
    low, high = metrics.bootstrap_interval(gains)
    better = sum(gain > ROUNDING_TOLERANCE for gain in gains)
    worse = sum(gain < -ROUNDING_TOLERANCE for gain in gains)
    return Difference(metrics.mean(gains), low, high, better, worse, len(gains) - better - worse)


def _make_change(before: Outcome, after: Outcome, name: str) -> QueryChange:
    return QueryChange(
        after.id, after.query, after.category, before.values[name], after.values[name], after.added
    )


def _order_by_size(change: QueryChange) -> tuple[float, str]:
    return -abs(change.after - change.before), change.id
