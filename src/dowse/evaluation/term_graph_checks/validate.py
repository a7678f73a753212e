"""A/B test of query expansion: Hit@5 without and with a term graph (synonyms) on the same index, query by query."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from dowse.engine import Engine
from dowse.evaluation.eval_types import Dataset, Outcome, Variant
from dowse.evaluation.run import EvalPlan, Progress, evaluate

HIT_DEPTH = 5
HIT_METRIC = f"hit@{HIT_DEPTH}"

MIN_GAIN = 0.10
"""The gain in Hit@5 of a validated term graph: with 20 queries, two of them."""


class ValidationRow(NamedTuple):
    """A query without and with the term graph; ranks of the first relevant hit, 0 if there is none."""

    id: str
    query: str
    before: int
    after: int
    change: str
    added: tuple[str, ...]
    enriched: str


@dataclass(frozen=True, slots=True)
class Validation:
    """Hit rates without and with a term graph, and whether the gain is enough."""

    file: str
    rows: tuple[ValidationRow, ...]
    baseline: float
    enriched: float

    @property
    def improved(self) -> int:
        """Queries that have a relevant hit among the first five only with it."""
        return sum(row.change == "improved" for row in self.rows)

    @property
    def regressed(self) -> int:
        """Queries that have a relevant hit among the first five only without it."""
        return sum(row.change == "regressed" for row in self.rows)

    @property
    def fired(self) -> int:
        """Queries that it added terms to."""
        return sum(bool(row.added) for row in self.rows)

    @property
    def validated(self) -> bool:
        """Whether it gains enough and no query got worse."""
        return self.enriched - self.baseline >= MIN_GAIN - 1e-9 and not self.regressed

    def describe(self) -> Iterator[str]:
        """Describe the result in words."""
        total = len(self.rows)
        gain = (self.enriched - self.baseline) * 100
        yield (
            f"baseline Hit@{HIT_DEPTH} {self.baseline:.0%}, enriched Hit@{HIT_DEPTH} {self.enriched:.0%} "
            f"({gain:+.0f} points)"
        )
        yield (
            f"it fired on {self.fired} of {total} queries: {self.improved} improved, {self.regressed} regressed, "
            f"{total - self.improved - self.regressed} unchanged"
        )
        if self.validated:
            yield "conclusion: validated"
            return
        short = (
            f"the gain is below {MIN_GAIN * 100:.0f} points"
            if self.enriched - self.baseline < MIN_GAIN - 1e-9
            else ""
        )
        worse = f"{self.regressed} queries got worse" if self.regressed else ""
        yield f"conclusion: not validated: {' and '.join(filter(None, [short, worse]))}"


def validate(engine: Engine, dataset: Dataset, terms: Path, progress: Progress | None = None) -> Validation:
    """Run both variants on one index. The best hit of each file counts, so that the first five are five files."""
    plan = EvalPlan((HIT_METRIC,), best_per_file=True)
    variants = [Variant("baseline", {"term_graph": ""}), Variant("enriched", {"term_graph": str(terms)})]
    without, with_ = evaluate(engine, dataset, variants, plan, progress)
    rows = tuple(map(_compare_outcomes, without.outcomes, with_.outcomes))
    return Validation(
        terms.name, rows, without.summary.overall[HIT_METRIC].mean, with_.summary.overall[HIT_METRIC].mean
    )


def _compare_outcomes(before: Outcome, after: Outcome) -> ValidationRow:
    gain = after.values[HIT_METRIC] - before.values[HIT_METRIC]
    change = "improved" if gain > 0 else "regressed" if gain < 0 else "unchanged"
    return ValidationRow(
        before.id,
        before.query,
        _find_first_rank(before),
        _find_first_rank(after),
        change,
        after.added,
        after.enriched,
    )


def _find_first_rank(outcome: Outcome) -> int:
    return min((rank for rank in outcome.ranks if rank), default=0)
