"""Does a term graph help? Hit@5 without and with it on the same index, question by question."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from dowse.engine import Engine
from dowse.evaluation.eval_types import Dataset, Outcome, Variant
from dowse.evaluation.run import Plan, Progress, evaluate

K = 5
METRIC = f"hit@{K}"

GAIN = 0.10
"""What it must gain to be called validated: with 20 questions, two of them."""


class Row(NamedTuple):
    """A question without and with the term graph; ranks of the first right result, 0 if there is none."""

    id: str
    query: str
    before: int
    after: int
    change: str
    added: tuple[str, ...]
    enriched: str


@dataclass(frozen=True, slots=True)
class Validation:
    """What came out, and whether it is good enough."""

    file: str
    rows: tuple[Row, ...]
    baseline: float
    enriched: float

    @property
    def improved(self) -> int:
        """Questions that are answered among the first five only with it."""
        return sum(row.change == "improved" for row in self.rows)

    @property
    def regressed(self) -> int:
        """Questions that are answered among the first five only without it."""
        return sum(row.change == "regressed" for row in self.rows)

    @property
    def fired(self) -> int:
        """Questions that it added anything to."""
        return sum(bool(row.added) for row in self.rows)

    @property
    def validated(self) -> bool:
        """Whether it gains enough and costs nothing."""
        return self.enriched - self.baseline >= GAIN - 1e-9 and not self.regressed

    def conclusion(self) -> Iterator[str]:
        """The result in words."""
        total = len(self.rows)
        gain = (self.enriched - self.baseline) * 100
        yield f"baseline Hit@{K} {self.baseline:.0%}, enriched Hit@{K} {self.enriched:.0%} ({gain:+.0f} points)"
        yield (
            f"it fired on {self.fired} of {total} questions: {self.improved} improved, {self.regressed} regressed, "
            f"{total - self.improved - self.regressed} unchanged"
        )
        if self.validated:
            yield "conclusion: validated"
            return
        short = (
            f"the gain is below {GAIN * 100:.0f} points"
            if self.enriched - self.baseline < GAIN - 1e-9
            else ""
        )
        worse = f"{self.regressed} questions got worse" if self.regressed else ""
        yield f"conclusion: not validated: {' and '.join(filter(None, [short, worse]))}"


def validate(engine: Engine, dataset: Dataset, terms: Path, progress: Progress | None = None) -> Validation:
    """Both runs, on one index. Of each file the best result counts, so that the first five are five files."""
    plan = Plan((METRIC,), files=True)
    variants = [Variant("baseline", {"terms": ""}), Variant("enriched", {"terms": str(terms)})]
    without, with_ = evaluate(engine, dataset, variants, plan, progress)
    rows = tuple(map(_row, without.outcomes, with_.outcomes))
    return Validation(
        terms.name, rows, without.summary.overall[METRIC].mean, with_.summary.overall[METRIC].mean
    )


def _row(before: Outcome, after: Outcome) -> Row:
    gain = after.values[METRIC] - before.values[METRIC]
    change = "improved" if gain > 0 else "regressed" if gain < 0 else "unchanged"
    return Row(before.id, before.query, _first(before), _first(after), change, after.added, after.enriched)


def _first(outcome: Outcome) -> int:
    return min((rank for rank in outcome.ranks if rank), default=0)
