"""Learn how the functions of the first files are ranked for a report:

    python -m training.learn_report_ranking --mirrors MIRRORS --to src/dowse/search/ranking/report_weights.json

The reports are those of the benchmark ``issues``, of the repositories that decide. Of each, the functions of the first
files compete (a softmax); right are those that the mending commit changed and, with a lesser weight, all of the files
that it changed. Needs numpy and scipy.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy
from benchmarks.issue_reports import Report, load_reports
from benchmarks.issues import DECIDE, open_trees
from numpy.typing import NDArray
from scipy.optimize import minimize

from dowse import Engine, SearchOptions
from dowse.search.ranking.features import FeatureExtractor
from dowse.search.ranking.learned_ranking import LearnedRanking
from dowse.search.ranking.model import list_disabled_groups, make_model, measure_traits
from dowse.search.ranking.report_ranking import FEATURES, ReportRanking, suits

L2 = 3.0
"""Of weights in units of the features' standard deviations."""

FILE_WEIGHT = 0.3
"""What it counts that a unit is in a right file, beside that it is a right one."""

ANY_SIGN = frozenset({"length", "is_function", "is_special"})
"""Features whose weight may be negative; all others only help."""

FOLDS = 6
Matrix = NDArray[numpy.float64]
Example = tuple[str, Matrix, NDArray[numpy.bool_], NDArray[numpy.bool_]]
"""The repository of a report, the features of its units, and which are right and in right files."""


def main() -> None:
    """Learn the weights, say how good they are in cross-validation, and write them."""
    parser = argparse.ArgumentParser(description="Learn the weights of the report ranking.")
    parser.add_argument("--mirrors", type=Path, required=True, help="folder of git snapshots")
    parser.add_argument("--to", type=Path, required=True, help="the file of weights")
    arguments = parser.parse_args()
    examples = list(collect(arguments.mirrors))
    deviations = numpy.concatenate([features for _, features, _, _ in examples]).std(axis=0) + 1e-9
    print(f"{len(examples)} reports; right unit first, in 5, in 10: {cross_validate(examples, deviations)}")
    learned = learn(examples, deviations) / deviations
    weights = {name: round(float(weight), 3) for name, weight in zip(FEATURES, learned, strict=True)}
    arguments.to.write_text(json.dumps(weights, indent=1) + "\n", encoding="utf-8")


def collect(mirrors: Path) -> Iterator[Example]:
    """Collect the units of the first files of every report that is ranked as one."""
    reports = [report for report in load_reports() if report.half == DECIDE]
    for report, engine, text in open_trees(mirrors, reports):
        if (example := make_example(engine, report, text)) is not None:
            yield example


def make_example(engine: Engine, report: Report, text: str) -> Example | None:
    """Make an example of a report; None if it is too short for one."""
    with engine.candidates(text, SearchOptions(limit=50)) as context:
        if not suits(context.query):
            return None
        model = make_model(measure_traits(context), list_disabled_groups(engine.settings))
        scored = LearnedRanking(model, FeatureExtractor(context))
        units = ReportRanking(context, scored, model.file_share).compute()
    if not units:
        return None
    features = numpy.array([[unit.values[name] for name in FEATURES] for unit in units])
    names = [f"{unit.path}:{unit.qualified}" for unit in units]
    is_right = numpy.array([name in report.functions for name in names])
    return report.repository, features, is_right, numpy.array([unit.path in report.files for unit in units])


def learn(examples: Sequence[Example], deviations: Matrix) -> Matrix:
    """Minimize the listwise loss; the weights are in units of the features' standard deviations."""

    def measure_loss(weights: Matrix) -> tuple[float, Matrix]:
        loss, gradient = L2 * float(weights @ weights) / 2.0, L2 * weights
        for _, features, is_right, is_in_right_file in examples:
            scaled = features / deviations
            likely = numpy.exp((scores := scaled @ weights) - scores.max())
            likely /= likely.sum()
            for right, share in ((is_right, 1.0), (is_in_right_file, FILE_WEIGHT)):
                if right.any():
                    total = float((likely * right).sum()) + 1e-300
                    loss -= share * float(numpy.log(total))
                    gradient = gradient + share * (scaled.T @ (likely - likely * right / total))
        return loss, gradient

    bounds = [(None, None) if name in ANY_SIGN else (0.0, None) for name in FEATURES]
    found = minimize(measure_loss, numpy.zeros(len(FEATURES)), jac=True, method="L-BFGS-B", bounds=bounds)
    weights: Matrix = found.x
    return weights


def cross_validate(examples: Sequence[Example], deviations: Matrix) -> list[float]:
    """Rank each report with weights that were learned from other repositories."""
    repositories = sorted({repository for repository, *_ in examples})
    ranks: list[int] = []
    for fold in range(FOLDS):
        kept_back = set(repositories[fold::FOLDS])
        weights = learn([example for example in examples if example[0] not in kept_back], deviations)
        for repository, features, is_right, _ in examples:
            if repository in kept_back:
                order = numpy.argsort(-(features / deviations @ weights), kind="stable")
                ranks.append(int(numpy.argmax(is_right[order])) + 1 if is_right.any() else 0)
    return [round(sum(1 <= rank <= k for rank in ranks) / len(ranks), 3) for k in (1, 5, 10)]


if __name__ == "__main__":
    main()
