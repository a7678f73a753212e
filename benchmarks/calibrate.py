"""Fit the relevance shown with every hit, and report its calibration: ``python -m benchmarks.calibrate``.

Hits of queries with known answers are right or wrong; all hits of queries about another tree, or about nothing in any
tree, are wrong. Two logistic models (one for the first hit, one for later hits) are fitted over the features of
``dowse.search.ranking.calibration``. Trees are split into halves, each evaluated with a fit to the other; the constants
come from a fit to all.
"""

from __future__ import annotations

import json
import random
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from benchmarks import data
from benchmarks.bench_types import Tree
from benchmarks.sets import repositories, swe_qa
from dowse import Engine, SearchOptions
from dowse.errors import UsageError
from dowse.search.ranking.calibration import (
    FIRST_HIT_WEIGHTS,
    LATER_HIT_WEIGHTS,
    Features,
    RelevanceModel,
    logistic,
)

HITS_PER_QUERY = 10
"""Hits of each query that are labelled."""

FOREIGN_QUERIES = 20
"""Queries about other trees, per tree; there are about as many real ones."""

THRESHOLDS = (0.03, 0.05, 0.07, 0.1, 0.15)

ABSENT_QUERIES = (
    "best pizza near the river", "how to train a golden retriever puppy", "lunar eclipse schedule for next winter",
    "quarterly revenue forecast spreadsheet", "vegetarian lasagna recipe", "invoice tax rounding rules",
    "bluetooth pairing handshake", "how are polygons triangulated", "speech recognition language model",
    "FrobnicateWidget", "patient_record_merge", "where is the shopping cart total computed",
    "font glyph kerning table", "satellite orbit propagation", "garbage collector mark phase",
)  # fmt: skip
"""Queries that no tree of the sets answers."""


@dataclass(frozen=True, slots=True)
class LabelledHit:
    """A hit with its features, its query, and whether it is right."""

    set: str
    tree: str
    query: str
    real: bool
    right: bool
    features: Features


IsRight = Callable[[Tree, str, str], bool]
"""Whether a path answers the query with an id."""


def collect_hits(
    set_name: str, trees: Sequence[Tree], is_right: IsRight, settings: dict[str, Any]
) -> Iterator[LabelledHit]:
    """Search every tree for its own and for foreign queries; yield the labelled hits."""
    chance = random.Random(0)
    for tree in trees:
        print(f"{set_name}: {tree.name}", file=sys.stderr)
        others = [q.text for other in trees if other.name != tree.name for q in other.queries]
        foreign = [
            *chance.sample(others, FOREIGN_QUERIES * 3 // 4),
            *chance.sample(ABSENT_QUERIES, FOREIGN_QUERIES // 4),
        ]
        labelled_queries = [(q.text, q.id) for q in tree.queries] + [(text, "") for text in foreign]
        with (
            tempfile.TemporaryDirectory(prefix="dowse-benchmark-", ignore_cleanup_errors=True) as folder,
            Engine.open(tree.path, index_dir=folder, cache="off", **settings) as engine,
        ):
            engine.index()
            for text, id in labelled_queries:
                for path, features in _extract_features(engine, text):
                    yield LabelledHit(
                        set_name, tree.name, text, bool(id), bool(id) and is_right(tree, id, path), features
                    )


def _extract_features(engine: Engine, text: str) -> Iterator[tuple[str, Features]]:
    try:
        with engine.ranking(text, SearchOptions(limit=HITS_PER_QUERY)) as (snapshot, ranking):
            model = RelevanceModel(snapshot, ranking.query)
            for rank, candidate in enumerate(ranking.candidates[:HITS_PER_QUERY], 1):
                yield candidate.file.path, model.extract_features(candidate, rank)
    except UsageError:  # not a valid query
        return


def is_repository_answer(tree: Tree, id: str, path: str) -> bool:
    """Return whether a file is a target of a query about the 31 repositories."""
    scorer, bench = data.load_scorer(), repositories._load_bench()
    task = bench.by_key[tree.name, int(id)]
    return any(
        scorer.covers(bench, tree.name, target, path, None, None, strict=False, paths="loose")
        for target in task.targets
    )


def is_cited(tree: Tree, id: str, path: str) -> bool:
    """Return whether an answer of SWE-QA cites a file."""
    return path in swe_qa._load_items()[id]["gold"]


Weights = dict[str, float]


def fit(sample: Sequence[LabelledHit]) -> tuple[Weights, Weights]:
    """Fit the weights of first hits and of later hits."""
    first = [hit for hit in sample if not hit.features.depth]
    return _fit(first), _fit([hit for hit in sample if hit.features.depth])


def _fit(sample: Sequence[LabelledHit]) -> Weights:
    """Fit a logistic model by Newton's method; a little shrinkage gives a constant feature weight 0."""
    x = np.array([[1.0, *hit.features] for hit in sample])
    y = np.array([float(hit.right) for hit in sample])
    weights = np.zeros(x.shape[1])
    for _ in range(50):
        p = 1 / (1 + np.exp(-x @ weights))
        hessian = (x * (p * (1 - p))[:, None]).T @ x + 0.01 * np.eye(len(weights))
        step = np.linalg.solve(hessian, x.T @ (y - p) - 0.01 * weights)
        weights += step
        if abs(step).max() < 1e-9:
            break
    names = ("intercept", *Features._fields)
    return {name: round(float(w), 2) for name, w in zip(names, weights, strict=True)}


def predict_relevance(hit: LabelledHit, first: Weights, later: Weights) -> float:
    """Predict the relevance of a hit with the given weights."""
    weights = later if hit.features.depth else first
    return logistic(weights["intercept"] + sum(weights[k] * v for k, v in hit.features._asdict().items()))


def report(name: str, sample: Sequence[LabelledHit], first: Weights, later: Weights) -> None:
    """Print AUC, Brier score and calibration error of some hits."""
    p = np.array([predict_relevance(hit, first, later) for hit in sample])
    y = np.array([hit.right for hit in sample])
    best: dict[tuple[str, str, bool], float] = {}
    for hit, value in zip(sample, p, strict=True):
        key = (hit.tree, hit.query, hit.real)
        best[key] = max(best.get(key, 0.0), float(value))
    real = np.array([value for key, value in best.items() if key[2]])
    other = np.array([value for key, value in best.items() if not key[2]])
    query_auc = auc(np.r_[real, other], np.r_[np.ones(len(real)), np.zeros(len(other))] > 0)
    print(
        f"{name}: {len(sample)} hits, AUC {auc(p, y):.3f}, Brier {((p - y) ** 2).mean():.3f}, "
        f"calibration error {calibration_error(p, y):.3f}; real against other questions AUC {query_auc:.3f}"
    )
    for threshold in THRESHOLDS:
        silenced = f"{(real < threshold).mean():.1%} of {len(real)} real"
        print(f"  below {threshold}: {silenced}, {(other < threshold).mean():.0%} of {len(other)} others")


def auc(p: Any, y: Any) -> float:
    """Compute how often a right hit scores above a wrong one; ties count half."""
    _, inverse, counts = np.unique(p, return_inverse=True, return_counts=True)
    ends = np.cumsum(counts)
    ranks = (ends - (counts - 1) / 2)[inverse]
    right, wrong = int(y.sum()), int((~y).sum())
    return float((ranks[y].sum() - right * (right + 1) / 2) / (right * wrong))


def calibration_error(p: Any, y: Any, bins: int = 10) -> float:
    """Compute the mean distance between predicted and observed relevance over bins of equal width."""
    error = 0.0
    for low in np.arange(bins) / bins:
        inside = (p >= low) & (p < low + 1 / bins)
        if inside.any():
            error += float(inside.mean() * abs(p[inside].mean() - y[inside].mean()))
    return error


def main() -> None:
    """Collect, fit to each half, report on the other, fit to all."""
    settings = dict(item.split("=", 1) for item in sys.argv[1:])
    sets = (("repositories", repositories.trees, is_repository_answer), ("swe-qa", swe_qa.trees, is_cited))
    found = [hit for name, trees, right in sets for hit in collect_hits(name, list(trees()), right, settings)]
    names = sorted({(hit.set, hit.tree) for hit in found})
    random.Random(1).shuffle(names)
    half = set(names[::2])
    parts = [[h for h in found if ((h.set, h.tree) in half) == side] for side in (True, False)]
    for learned, held_out in (parts, parts[::-1]):
        weights = fit(learned)
        for name, _, _ in sets:
            report(f"held out, {name}", [h for h in held_out if h.set == name], *weights)
    first, later = fit(found)
    for name, _, _ in sets:
        report(
            f"as in force, {name}", [h for h in found if h.set == name], FIRST_HIT_WEIGHTS, LATER_HIT_WEIGHTS
        )
    print(f"FIRST_HIT_WEIGHTS = {json.dumps(first)}\nLATER = {json.dumps(later)}")


if __name__ == "__main__":
    main()
