"""Learn the weights of the ranking model from collected examples, and measure them by cross-validation.

    python training/learn_ranking.py --data FILE [--mined FILE] --to src/dowse/search/ranking/weights.json
    python training/learn_ranking.py --data FILE [--mined FILE] --ablate     # what each group of features is worth

Files: a listwise linear model (softmax over the candidates of a query), a column of weights for each kind of query,
pulled towards their mean, and that towards its prior. Signs are constrained. Places: the same within the right files.
All folds are of whole repositories. The same data and seed give the same weights.
"""

from __future__ import annotations

import argparse
import json
import math
import pickle
import random
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from ranking_examples import PRIMARY, Example, Target
from scipy.optimize import minimize

from dowse.search.ranking.calibration import EVIDENCE
from dowse.search.ranking.features import FILE_FEATURES, FILE_GROUPS, PLACE_FEATURES, TEXT_FEATURES
from dowse.search.ranking.features.feature import Feature
from dowse.search.ranking.features.places import FUSED_SHARE
from dowse.search.ranking.learned_ranking import READ_FILES
from dowse.search.ranking.model import QUERY_KINDS

Array = NDArray[np.float64]

FILE_TABLE: Mapping[str, Feature] = {**FILE_FEATURES, **TEXT_FEATURES}
TEXT_START = len(FILE_FEATURES)
ROLE_COLUMNS = FILE_GROUPS["file_role"]

L2 = 10.0
KIND_L2 = 30.0
"""How strongly weights are pulled to their prior, and those of a kind of query to the mean of all kinds."""

PLACE_L2 = 3.0
FILE_SHARE = 0.5
FURTHER_PLACE = 0.6
MINED_WEIGHT = 0.2
FOLDS = 10
NDCG_DEPTH = 10
SEED = 20261118
TOPIC = "topic"
TOPIC_WEIGHT = 2.0
"""The category that does not shun the words of the code counts as much as all that do. Its answers are source code by
definition: they say nothing about roles, like what is mined."""

RELEVANCE_HITS = 10
"""Hits of each query that relevance is fitted to."""


class Weights(NamedTuple):
    """What is learned: a row for each kind of query and table, and the model of relevance."""

    file: Array
    place: Array
    file_share: float
    further_place: float


def main() -> None:
    """Learn, measure and write the weights."""
    parser = argparse.ArgumentParser(description="Learn the weights of the ranking model.")
    parser.add_argument("--data", type=Path, required=True, help="examples of training/ranking_data.py")
    parser.add_argument("--mined", type=Path, help="examples of mined queries, which count little")
    parser.add_argument("--mined-weight", type=float, default=MINED_WEIGHT)
    parser.add_argument("--to", type=Path, help="the file of weights to write")
    parser.add_argument("--ablate", action="store_true", help="measure without each group of features")
    arguments = parser.parse_args()
    examples: list[Example] = pickle.loads(arguments.data.read_bytes())
    written = [example for example in examples if example.targets]
    mined: list[Example] = pickle.loads(arguments.mined.read_bytes()) if arguments.mined else []
    if arguments.ablate:
        ablate(written, mined, arguments.mined_weight)
        return
    folds = list(list_folds(written, mined, arguments.mined_weight))
    measured = [(example, measure(example, places)) for example, places in cross_validate(folds)]
    usual = [(example, figures) for example, figures in measured if example.kind != "keywords"]
    print_figures("cross-validation", [figures for _, figures in usual])
    print_by_category(usual)
    print_figures("without vectors", [figures for example, figures in measured if example.kind == "keywords"])
    if arguments.to:
        weights = learn(written, mined, arguments.mined_weight)
        relevance = fit_relevance(examples, folds)
        arguments.to.write_text(export(weights, relevance), encoding="utf-8")


# --- learning ---------------------------------------------------------------------------------------------


def learn(
    written: Sequence[Example], mined: Sequence[Example], mined_weight: float, without: str = ""
) -> Weights:
    """Learn the weights of files, and those of places from written queries alone: mined ones know less of lines."""
    weighted = [
        (keep_roles_of_answers(example), TOPIC_WEIGHT) if example.category == TOPIC else (example, 1.0)
        for example in written
    ]
    weighted += [(keep_roles_of_answers(example), mined_weight) for example in mined]
    file = fit_softmax(_list_file_groups(weighted), FILE_TABLE, L2, KIND_L2, without)
    place = fit_softmax(
        _list_place_groups(weighted[: len(written)]), PLACE_FEATURES, PLACE_L2, KIND_L2, without
    )
    return Weights(file, place, FILE_SHARE, FURTHER_PLACE)


def keep_roles_of_answers(example: Example) -> Example:
    """Keep the files that have the role of an answer: what is mined is nearly all source, whatever was meant."""
    roles = {file.features[ROLE_COLUMNS] for file in example.files if file.grade}
    return replace(example, files=[file for file in example.files if file.features[ROLE_COLUMNS] in roles])


class Group(NamedTuple):
    """Things to be ranked against each other: their features, how right each is (sums to 1), kind and weight."""

    features: Array
    grades: Array
    kind: int
    weight: float


def _list_file_groups(weighted: Iterable[tuple[Example, float]]) -> list[Group]:
    groups = (
        _make_group([(f.features, f.grade) for f in example.files], example.kind, weight)
        for example, weight in weighted
    )
    return [group for group in groups if group]


def _list_place_groups(weighted: Iterable[tuple[Example, float]]) -> list[Group]:
    groups = (
        _make_group([(p.features, p.grade) for p in file.places], example.kind, weight)
        for example, weight in weighted
        for file in example.files
        if file.grade == PRIMARY
    )
    return [group for group in groups if group]


def _make_group(rows: Sequence[tuple[Sequence[float], float]], kind: str, weight: float) -> Group | None:
    grades = np.array([grade for _, grade in rows])
    if not len(rows) or grades.max() <= 0 or grades.min() == grades.max():
        return None
    features = np.array([values for values, _ in rows], dtype=float)
    return Group(features, grades / grades.sum(), QUERY_KINDS.index(kind), weight)


def fit_softmax(
    groups: Sequence[Group], table: Mapping[str, Feature], l2: float, kind_l2: float, without: str = ""
) -> Array:
    """Fit a weight for each kind of query and feature: the likelihood of the right ones, with bounds by sign."""
    features = np.vstack([group.features for group in groups])
    deviations = features.std(axis=0)
    deviations[deviations < 1e-9] = 1.0
    features = features / deviations
    sizes = [len(group.grades) for group in groups]
    of_group = np.repeat(np.arange(len(groups)), sizes)
    starts = np.concatenate([[0], np.cumsum(sizes)[:-1]])
    grades = np.concatenate([group.grades for group in groups])
    row_weights = np.array([group.weight for group in groups])[of_group]
    row_kinds = np.array([group.kind for group in groups])[of_group]
    kinds, columns = len(QUERY_KINDS), features.shape[1]
    rows_of_kind = [row_kinds == kind for kind in range(kinds)]
    features_of_kind = [features[rows] for rows in rows_of_kind]
    prior = np.array([feature.prior for feature in table.values()]) * deviations

    def loss(flat: Array) -> tuple[float, Array]:
        mean, *by_kind = flat.reshape(kinds + 1, columns)
        scores = np.empty(len(features))
        for rows, own, weights in zip(rows_of_kind, features_of_kind, by_kind, strict=True):
            scores[rows] = own @ weights
        scores -= np.maximum.reduceat(scores, starts)[of_group]
        totals = np.add.reduceat(np.exp(scores), starts)
        logs = scores - np.log(totals)[of_group]
        apart = np.array(by_kind) - mean
        off = mean - prior
        value = -(row_weights * grades * logs).sum() + l2 / 2 * off @ off + kind_l2 / 2 * (apart**2).sum()
        errors = row_weights * (np.exp(logs) - grades)
        gradients = [
            own.T @ errors[rows] + kind_l2 * gap
            for rows, own, gap in zip(rows_of_kind, features_of_kind, apart, strict=True)
        ]
        return value, np.concatenate([l2 * off - kind_l2 * apart.sum(axis=0), *gradients])

    bounds = [
        _choose_bounds(feature, deviation, without)
        for feature, deviation in zip(table.values(), deviations, strict=True)
    ] * (kinds + 1)
    start = np.tile(np.where(np.array([b == (0.0, 0.0) for b in bounds[:columns]]), 0.0, prior), kinds + 1)
    options = {"maxiter": 2000, "maxfun": 4000, "ftol": 1e-11}
    found = minimize(loss, start, jac=True, method="L-BFGS-B", bounds=bounds, options=options)
    weights: Array = found.x.reshape(kinds + 1, columns)[1:] / deviations
    return weights


def _choose_bounds(feature: Feature, deviation: float, without: str) -> tuple[float | None, float | None]:
    """Choose the bounds of the weight of a feature that is divided by its deviation."""
    if feature.group == without:
        return (0.0, 0.0)
    return (feature.least * deviation if feature.sign > 0 else None, 0.0 if feature.sign < 0 else None)


# --- ranking as the program does -----------------------------------------------------------------------------


class RankedPlace(NamedTuple):
    """A place in the order of the answer."""

    path: str
    first: int
    last: int
    score: float


def rank_places(weights: Weights, example: Example, read_files: int = READ_FILES) -> list[RankedPlace]:
    """Rank the places of an example as a search does."""
    kind = QUERY_KINDS.index(example.kind)
    only_fused = np.zeros(len(PLACE_FEATURES))
    only_fused[FUSED_SHARE] = weights.place[kind][FUSED_SHARE]
    found = []
    for file, (score, is_read) in zip(example.files, score_files(weights, example, read_files), strict=True):
        column = weights.place[kind] if is_read else only_fused
        values = np.array([place.features for place in file.places]) @ column
        for further, i in enumerate(np.argsort(-values, kind="stable")):
            gap = values[i] - values.max() - weights.further_place * further
            place = file.places[i]
            found.append(RankedPlace(file.path, place.first, place.last, weights.file_share * score + gap))
    return sorted(found, key=lambda place: -place.score)


def score_files(weights: Weights, example: Example, read_files: int = READ_FILES) -> list[tuple[float, bool]]:
    """Score the files of an example; only the first are read. Return the scores, and which files these are."""
    if not example.files:
        return []
    features = np.array([file.features for file in example.files])
    column = weights.file[QUERY_KINDS.index(example.kind)]
    scores: Array = features[:, :TEXT_START] @ column[:TEXT_START]
    first = np.argsort(-scores, kind="stable")[:read_files]
    scores[first] += features[first, TEXT_START:] @ column[TEXT_START:]
    read = set(first.tolist())
    return [(score, n in read) for n, score in enumerate(scores.tolist())]


Fold = tuple[list[Example], Weights]
"""Examples that were held out, and weights learned from other repositories."""


def cross_validate(folds: Iterable[Fold]) -> Iterable[tuple[Example, list[RankedPlace]]]:
    """Rank every example with weights learned from other repositories."""
    for held_out, weights in folds:
        for example in held_out:
            yield example, rank_places(weights, example)


def list_folds(
    written: Sequence[Example], mined: Sequence[Example], mined_weight: float, without: str = ""
) -> Iterable[Fold]:
    """Hold out each part of the repositories in turn, and learn from the others."""
    repositories = sorted({example.repository for example in written})
    random.Random(SEED).shuffle(repositories)
    for fold in range(FOLDS):
        out = set(repositories[fold::FOLDS])
        kept = [[e for e in some if e.repository not in out] for some in (written, mined)]
        weights = learn(kept[0], kept[1], mined_weight, without)
        yield [example for example in written if example.repository in out], weights


# --- measuring ------------------------------------------------------------------------------------------------

Figures = dict[str, float]


def measure(example: Example, places: Sequence[RankedPlace]) -> Figures:
    """Measure an order of places by files and by lines: the first primary answer."""
    primary = [target for target in example.targets if target.grade == PRIMARY]
    paths = list(dict.fromkeys(place.path for place in places))
    file_rank = _find_rank([any(t.path == path for t in primary) for path in paths])
    line_rank = _find_rank([any(_overlaps(t, place) for t in primary) for place in places])
    return {
        "file@1": float(file_rank == 1),
        "file@5": float(0 < file_rank <= 5),
        "file MRR": 1 / file_rank if file_rank else 0.0,
        "lines@1": float(line_rank == 1),
        "lines@5": float(0 < line_rank <= 5),
        "lines@10": float(0 < line_rank <= 10),
        "NDCG": measure_ndcg(example, places),
    }


def measure_ndcg(example: Example, places: Sequence[RankedPlace]) -> float:
    """Measure the first ten places by their files, each of which counts once: further places push others down."""
    grades: dict[str, float] = {}
    for target in example.targets:
        grades[target.path] = max(grades.get(target.path, 0.0), target.grade)
    ideal = sorted(grades.values(), reverse=True)[:NDCG_DEPTH]
    gains = [grades.pop(place.path, 0.0) for place in places[:NDCG_DEPTH]]
    return _discount(gains) / _discount(ideal)


def _discount(gains: Iterable[float]) -> float:
    return sum(gain / math.log2(rank + 1) for rank, gain in enumerate(gains, 1))


def _find_rank(right: Sequence[bool]) -> int:
    return right.index(True) + 1 if True in right else 0


def _overlaps(target: Target, place: RankedPlace) -> bool:
    return target.path == place.path and target.first <= place.last and target.last >= place.first


def average(found: Sequence[Figures]) -> Figures:
    """Average figures over queries."""
    return {name: sum(each[name] for each in found) / len(found) for name in found[0]}


def print_figures(title: str, found: Sequence[Figures]) -> None:
    """Print the averages in one line."""
    figures = "  ".join(f"{name} {value:.4f}" for name, value in average(found).items())
    print(f"{title:<28} {figures}  ({len(found)} queries)", flush=True)


def print_by_category(found: Sequence[tuple[Example, Figures]]) -> None:
    """Print the averages of every category of queries."""
    for category in sorted({example.category for example, _ in found}):
        print_figures(
            f"  {category}", [figures for example, figures in found if example.category == category]
        )


def ablate(written: Sequence[Example], mined: Sequence[Example], mined_weight: float) -> None:
    """Measure by cross-validation what is lost without each group of features."""
    groups = dict.fromkeys(feature.group for feature in (*FILE_TABLE.values(), *PLACE_FEATURES.values()))
    for group in ("", *groups):
        folds = list_folds(written, mined, mined_weight, group)
        found = [measure(example, places) for example, places in cross_validate(folds)]
        print_figures(f"without {group}" if group else "all groups", found)


# --- relevance ------------------------------------------------------------------------------------------------


class LabelledHits(NamedTuple):
    """Hits of one kind of query: evidence for the first of its answer, how far behind it, whether it is right."""

    evidence: list[list[float]]
    gaps: list[float]
    labels: list[float]


def fit_relevance(examples: Sequence[Example], folds: Iterable[Fold]) -> dict[str, dict[str, Any]]:
    """Fit how likely the first hit is right, by evidence, and how that falls with the gap; out of fold, by kind."""
    by_repository: dict[str, list[Example]] = {}
    for example in examples:
        by_repository.setdefault(example.repository, []).append(example)
    hits = {kind: LabelledHits([], [], []) for kind in QUERY_KINDS}
    for held_out, weights in folds:
        for repository in sorted({example.repository for example in held_out}):
            for example in by_repository[repository]:
                _label_hits(hits[example.kind], example, rank_places(weights, example)[:RELEVANCE_HITS])
    return {
        kind: _fit_relevance(kind, np.array(found.evidence), np.array(found.gaps), np.array(found.labels))
        for kind, found in hits.items()
    }


def _label_hits(hits: LabelledHits, example: Example, places: Sequence[RankedPlace]) -> None:
    if not places:
        return
    indexes = [list(FILE_TABLE).index(name) for name in EVIDENCE]
    first = next(file for file in example.files if file.path == places[0].path)
    right = {target.path for target in example.targets}
    for place in places:
        hits.evidence.append([first.features[i] for i in indexes])
        hits.gaps.append(places[0].score - place.score)
        hits.labels.append(float(place.path in right))


def _fit_relevance(kind: str, evidence: Array, gaps: Array, labels: Array) -> dict[str, Any]:
    deviations = evidence.std(axis=0)
    deviations[deviations < 1e-9] = 1.0
    scaled = evidence / deviations
    first = gaps == 0.0
    importance = np.where(first, 1.0, 1.0 / RELEVANCE_HITS)

    def loss(flat: Array) -> tuple[float, Array]:
        intercept, gap_weight, weights = flat[0], flat[1], flat[2:]
        likely = 1 / (1 + np.exp(-(intercept + scaled @ weights)))
        shown = np.clip(likely * np.exp(-gap_weight * gaps), 1e-9, 1 - 1e-9)
        value = -(importance * (labels * np.log(shown) + (1 - labels) * np.log1p(-shown))).sum()
        slope = importance * (shown - labels) / (1 - shown)  # by the logarithm of what is shown
        inner = slope * (1 - likely)
        gradient = np.concatenate([[inner.sum(), -(slope * gaps).sum()], scaled.T @ inner + weights])
        return value + 0.5 * weights @ weights, gradient

    bounds = [(None, None), (0.0, None), *[(0.0, None)] * scaled.shape[1]]
    start = np.concatenate([[-1.0, 1.0], np.zeros(scaled.shape[1])])
    found = minimize(loss, start, jac=True, method="L-BFGS-B", bounds=bounds).x
    likely = 1 / (1 + np.exp(-(found[0] + scaled @ found[2:]))) * np.exp(-found[1] * gaps)
    print_calibration(f"first hit, {kind}", likely[first], labels[first])
    print_calibration(f"all hits, {kind}", likely, labels)
    return {
        "intercept": _round(found[0]),
        "gap_weight": _round(found[1]),
        "weights": {name: _round(w) for name, w in zip(EVIDENCE, found[2:] / deviations, strict=True)},
    }


def print_calibration(title: str, likely: Array, labels: Array) -> None:
    """Print how often hits are right, by what is said of them."""
    print(f"relevance of the {title}:", flush=True)
    edges = [0, 0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.01]
    for low, high in pairwise(edges):
        inside = (likely >= low) & (likely < high)
        if inside.any():
            said, right = likely[inside].mean(), labels[inside].mean()
            print(f"  {low:.2f}-{high:.2f}: said {said:.2f}, right {right:.2f} ({inside.sum()})")


# --- the file of weights -------------------------------------------------------------------------------------


def export(weights: Weights, relevance: Mapping[str, Any]) -> str:
    """Write the weights as readable JSON: a line for each feature, a number for each kind of query."""
    tables: tuple[tuple[str, Mapping[str, Feature], Array], ...] = (
        ("file", FILE_TABLE, weights.file),
        ("place", PLACE_FEATURES, weights.place),
    )
    lines = [
        "{",
        f' "kinds": {json.dumps(QUERY_KINDS)},',
        f' "file_share": {weights.file_share},',
        f' "further_place": {weights.further_place},',
    ]
    for title, table, array in tables:
        rows = [f'  "{name}": {json.dumps([_round(w) for w in array[:, i]])}' for i, name in enumerate(table)]
        lines.append(f' "{title}": {{\n' + ",\n".join(rows) + "\n },")
    lines.append(f' "relevance": {json.dumps(relevance, indent=2)}'.replace("\n", "\n "))
    return "\n".join([*lines, "}", ""])


def _round(value: float) -> float:
    return float(f"{value:.4g}") if math.isfinite(value) else 0.0


if __name__ == "__main__":
    main()
