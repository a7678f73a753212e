"""Assemble an evaluation result: runs of all variants, their comparisons, and notes on both. Rendering is in
``interfaces``.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime

from dowse import __version__
from dowse.engine import Engine
from dowse.evaluation import leaks
from dowse.evaluation.compare import compare
from dowse.evaluation.eval_types import Comparison, Dataset, Evaluation, Run
from dowse.evaluation.run import EvalPlan


def build_evaluation(
    engine: Engine,
    dataset: Dataset,
    plan: EvalPlan,
    runs: Sequence[Run],
    earlier: Evaluation | None = None,
    earlier_name: str = "",
) -> Evaluation:
    """Build an evaluation: every variant compared with the first, and the first with an earlier evaluation."""
    return Evaluation(
        root=engine.root.name or str(engine.root),
        made=datetime.now(UTC).isoformat(timespec="seconds"),
        version=__version__,
        truth=dataset.name,
        depth=plan.depth,
        metrics=plan.metrics,
        leaks=leaks.count_leaks(dataset.queries),
        files=engine.status().files,
        runs=tuple(runs),
        comparisons=tuple(_compare_runs(plan, runs, earlier, earlier_name)),
        notes=dataset.notes,
    )


def _compare_runs(
    plan: EvalPlan, runs: Sequence[Run], earlier: Evaluation | None, earlier_name: str
) -> list[Comparison]:
    found = [compare(runs[0], run, plan.metrics) for run in runs[1:]]
    if earlier is not None:
        labels = (earlier_name, runs[0].variant.name)
        found.insert(0, compare(earlier.runs[0], runs[0], plan.metrics, labels))
    return found
