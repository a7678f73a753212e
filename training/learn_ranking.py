"""Learn the weights of the ranking model from collected examples, and measure them by cross-validation.

    python training/learn_ranking.py --data FILE [--mined FILE] --to src/dowse/search/ranking/weights.json
    python training/learn_ranking.py --data FILE [--mined FILE] --ablate     # what each group of features is worth

Files: a listwise linear model (softmax over the candidates of a query), with weights for any query, pulled to their
prior, and others for queries without vectors, pulled to zero. Signs are constrained. Places: the same within the right
files.
All folds are of whole repositories. The same data and seed give the same weights.
"""

from __future__ import annotations

import argparse
import json
import math
import pickle
import random
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

import numpy as np
from learn_roles import export_roles, learn_roles
from numpy.typing import NDArray
from ranking_examples import PRIMARY, Example, RankedFile, Target
from scipy.optimize import minimize

from dowse.search.ranking.calibration import EVIDENCE
from dowse.search.ranking.features import FILE_FEATURES, PLACE_FEATURES, TEXT_FEATURES
from dowse.search.ranking.features.feature import Feature, Values
from dowse.search.ranking.features.places import FUSED_SHARE
from dowse.search.ranking.features.role_model import WORDS_FILE
from dowse.search.ranking.learned_ranking import READ_FILES
from dowse.search.ranking.model import NO_VECTORS_TRAIT, TRAITS

Array = NDArray[np.float64]

FILE_TABLE: Mapping[str, Feature] = {**FILE_FEATURES, **TEXT_FEATURES}
TEXT_START = len(FILE_FEATURES)
ODDS_COLUMN = list(FILE_TABLE).index("role_odds")

L2 = 10.0
TRAIT_L2 = 100.0
"""How strongly weights for any query are pulled to their prior, and those for a trait to zero."""

LEARNED_TRAITS = (0, NO_VECTORS_TRAIT)
"""Traits that weights of ranking are learned for. For the others, which relevance has weights for, they are zero: by
cross-validation they add nothing."""

PLACE_L2 = 3.0
FILE_SHARE = 0.4
FURTHER_PLACE = 0.6
MINED_WEIGHT = 0.3
FOLDS = 4
MAX_ITERATIONS = 300
NDCG_DEPTH = 10
SEED = 20261118
HELPING_SHARE = 0.2
"""How much all files together that help count beside one that answers."""

RELEVANCE_HITS = 10
"""Hits of each query that relevance is fitted to."""


class Weights(NamedTuple):
    """What is learned: a row for each trait of a query in each table."""

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
    mined: list[Example] = pickle.loads(arguments.mined.read_bytes()) if arguments.mined else []
    mined = [example for example in mined if not has_no_vectors(example)]
    roles = [example for example in examples if example.targets and not has_no_vectors(example)]
    examples, mined = (list(fill_role_odds(some, roles)) for some in (examples, mined))
    written = [example for example in examples if example.targets]
    if arguments.ablate:
        ablate(written, mined, arguments.mined_weight)
        return
    folds = list(list_folds(written, mined, arguments.mined_weight))
    measured = [(example, measure(example, places)) for example, places in cross_validate(folds)]
    usual = [(example, figures) for example, figures in measured if not has_no_vectors(example)]
    print_figures("cross-validation", [figures for _, figures in usual])
    print_by_category(usual)
    print_figures("without vectors", [figures for example, figures in measured if has_no_vectors(example)])
    if arguments.to:
        weights = learn(written, mined, arguments.mined_weight)
        relevance = fit_relevance(examples, folds)
        arguments.to.write_text(export(weights, relevance), encoding="utf-8")
        words = arguments.to.with_name(WORDS_FILE.name)
        words.write_text(export_roles(learn_roles(roles)), encoding="utf-8")


# --- what role a query asks for -----------------------------------------------------------------------------


def fill_role_odds(examples: Iterable[Example], roles: Sequence[Example]) -> Iterator[Example]:
    """Fill in the odds of roles, from words that were learned from other repositories, as they will be in use."""
    folds = split_repositories(roles)
    models = [learn_roles([e for e in roles if e.repository not in out]) for out in folds]
    for example in examples:
        fold = next((n for n, out in enumerate(folds) if example.repository in out), 0)
        odds = models[fold].compute_odds(example.query)
        files = [
            replace(file, features=_put_odds(file.features, odds.get(file.role, 0.0)))
            for file in example.files
        ]
        yield replace(example, files=files)


def _put_odds(features: Values, odds: float) -> Values:
    return (*features[:ODDS_COLUMN], odds, *features[ODDS_COLUMN + 1 :])


# --- learning ---------------------------------------------------------------------------------------------


def learn(
    written: Sequence[Example], mined: Sequence[Example], mined_weight: float, without: str = ""
) -> Weights:
    """Learn the weights of files, and those of places from written queries alone: mined ones know less of lines."""
    weighted = [(example, 1.0) for example in written] + [(example, mined_weight) for example in mined]
    file = fit_softmax(_list_file_groups(weighted), FILE_TABLE, L2, without)
    place = fit_softmax(_list_place_groups(weighted[: len(written)]), PLACE_FEATURES, PLACE_L2, without)
    return Weights(file, place, FILE_SHARE, FURTHER_PLACE)


class Group(NamedTuple):
    """Things to be ranked against each other: their features, how right each is (sums to 1), traits and weight."""

    features: Array
    grades: Array
    traits: Sequence[float]
    weight: float


def _list_file_groups(weighted: Iterable[tuple[Example, float]]) -> list[Group]:
    """List what to rank: the files that answer a query, and those, mostly tests, that help as well.

    There may be many of these. If each counted a little, they would together count more than the answer: they share.
    """
    groups = (
        _make_group(list(_grade_files(example.files)), example.traits, weight) for example, weight in weighted
    )
    return [group for group in groups if group]


def _grade_files(files: Sequence[RankedFile]) -> Iterable[tuple[Values, float]]:
    helping = sum(0 < file.grade < PRIMARY for file in files)
    for file in files:
        yield (
            file.features,
            1.0 if file.grade == PRIMARY else HELPING_SHARE / helping if file.grade > 0 else 0.0,
        )


def _list_place_groups(weighted: Iterable[tuple[Example, float]]) -> list[Group]:
    groups = (
        _make_group([(p.features, p.grade) for p in file.places], example.traits, weight)
        for example, weight in weighted
        for file in example.files
        if file.grade == PRIMARY
    )
    return [group for group in groups if group]


def _make_group(
    rows: Sequence[tuple[Sequence[float], float]], traits: Sequence[float], weight: float
) -> Group | None:
    grades = np.array([grade for _, grade in rows])
    if not len(rows) or grades.max() <= 0 or grades.min() == grades.max():
        return None
    features = np.array([values for values, _ in rows], dtype=float)
    return Group(features, grades / grades.sum(), traits, weight)


def fit_softmax(groups: Sequence[Group], table: Mapping[str, Feature], l2: float, without: str = "") -> Array:
    """Fit a weight for each trait and feature: the likelihood of the right ones, with bounds by sign."""
    features = np.vstack([group.features for group in groups])
    deviations = features.std(axis=0)
    deviations[deviations < 1e-9] = 1.0
    features = features / deviations
    sizes = [len(group.grades) for group in groups]
    of_group = np.repeat(np.arange(len(groups)), sizes)
    starts = np.concatenate([[0], np.cumsum(sizes)[:-1]])
    grades = np.concatenate([group.grades for group in groups])
    row_weights = np.array([group.weight for group in groups])[of_group]
    traits = np.array([group.traits for group in groups])[:, LEARNED_TRAITS]
    has_traits = traits[of_group]
    shape = len(LEARNED_TRAITS), features.shape[1]
    priors = np.zeros(shape)
    priors[0] = np.array([feature.prior for feature in table.values()]) * deviations
    pulls = np.full(shape, TRAIT_L2)
    pulls[0] = l2

    def loss(flat: Array) -> tuple[float, Array]:
        weights = flat.reshape(shape)
        scores = ((features @ weights.T) * has_traits).sum(axis=1)
        scores -= np.maximum.reduceat(scores, starts)[of_group]
        totals = np.add.reduceat(np.exp(scores), starts)
        logs = scores - np.log(totals)[of_group]
        off = weights - priors
        value = -(row_weights * grades * logs).sum() + (pulls * off**2).sum() / 2
        errors = row_weights * (np.exp(logs) - grades)
        gradient = (errors[:, None] * has_traits).T @ features
        return value, (gradient + pulls * off).ravel()

    own_bounds = [
        _choose_bounds(feature, deviation, without)
        for feature, deviation in zip(table.values(), deviations, strict=True)
    ]
    trait_bounds = [(0.0 if low is not None else None, high) for low, high in own_bounds]
    bounds = own_bounds + trait_bounds * (len(LEARNED_TRAITS) - 1)
    start = np.where(np.array([bound == (0.0, 0.0) for bound in bounds]).reshape(shape), 0.0, priors).ravel()
    options = {"maxiter": MAX_ITERATIONS, "ftol": 1e-9}
    found = minimize(loss, start, jac=True, method="L-BFGS-B", bounds=bounds, options=options)
    weights = np.zeros((len(TRAITS), features.shape[1]))
    weights[list(LEARNED_TRAITS)] = found.x.reshape(shape) / deviations
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
    place_weights = np.array(example.traits) @ weights.place
    only_fused = np.zeros(len(PLACE_FEATURES))
    only_fused[FUSED_SHARE] = place_weights[FUSED_SHARE]
    found = []
    for file, (score, is_read) in zip(example.files, score_files(weights, example, read_files), strict=True):
        column = place_weights if is_read else only_fused
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
    column = np.array(example.traits) @ weights.file
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
    for out in split_repositories(written):
        kept = [[e for e in some if e.repository not in out] for some in (written, mined)]
        weights = learn(kept[0], kept[1], mined_weight, without)
        yield [example for example in written if example.repository in out], weights


def split_repositories(written: Iterable[Example]) -> list[set[str]]:
    """Split the repositories into parts, each of which is held out in turn."""
    repositories = sorted({example.repository for example in written})
    random.Random(SEED).shuffle(repositories)
    return [set(repositories[fold::FOLDS]) for fold in range(FOLDS)]


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


def has_no_vectors(example: Example) -> bool:
    """Tell whether a query was asked without vectors."""
    return example.traits[NO_VECTORS_TRAIT] > 0


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


class LabelledHit(NamedTuple):
    """A hit: evidence for the first of its answer, traits of its query, how far behind that, whether it is right."""

    evidence: Sequence[float]
    traits: Sequence[float]
    gap: float
    is_right: float


def fit_relevance(examples: Sequence[Example], folds: Iterable[Fold]) -> dict[str, list[float]]:
    """Fit how likely the first hit is right, by evidence, and how that falls with the gap; out of fold."""
    by_repository: dict[str, list[Example]] = {}
    for example in examples:
        by_repository.setdefault(example.repository, []).append(example)
    hits: list[LabelledHit] = []
    for held_out, weights in folds:
        for repository in sorted({example.repository for example in held_out}):
            for example in by_repository[repository]:
                hits += _label_hits(example, rank_places(weights, example)[:RELEVANCE_HITS])
    return _fit_relevance(hits)


def _label_hits(example: Example, places: Sequence[RankedPlace]) -> Iterable[LabelledHit]:
    if not places:
        return
    indexes = [list(FILE_TABLE).index(name) for name in EVIDENCE]
    first = next(file for file in example.files if file.path == places[0].path)
    evidence = [first.features[i] for i in indexes]
    right = {target.path for target in example.targets}
    for place in places:
        gap = places[0].score - place.score
        yield LabelledHit(evidence, example.traits, gap, float(place.path in right))


def _fit_relevance(hits: Sequence[LabelledHit]) -> dict[str, list[float]]:
    evidence, traits = np.array([hit.evidence for hit in hits]), np.array([hit.traits for hit in hits])
    gaps, labels = np.array([hit.gap for hit in hits]), np.array([hit.is_right for hit in hits])
    deviations = evidence.std(axis=0)
    deviations[deviations < 1e-9] = 1.0
    columns = np.hstack([np.ones((len(hits), 1)), evidence / deviations])
    first = gaps == 0.0
    importance = np.where(first, 1.0, 1.0 / RELEVANCE_HITS)
    shape = columns.shape[1] + 1, len(TRAITS)  # the intercept, the evidence, and the weight of the gap

    def estimate(flat: Array) -> tuple[Array, Array]:
        *rows, gap_row = flat.reshape(shape)
        likely = 1 / (1 + np.exp(-((columns @ np.array(rows)) * traits).sum(axis=1)))
        return likely, np.clip(likely * np.exp(-(traits @ gap_row) * gaps), 1e-9, 1 - 1e-9)

    def loss(flat: Array) -> tuple[float, Array]:
        likely, shown = estimate(flat)
        value = -(importance * (labels * np.log(shown) + (1 - labels) * np.log1p(-shown))).sum()
        slope = importance * (shown - labels) / (1 - shown)  # by the logarithm of what is shown
        inner = (slope * (1 - likely))[:, None] * traits
        gradient = np.vstack([columns.T @ inner, -(slope * gaps) @ traits])
        return value + 0.5 * flat @ flat, gradient.ravel() + flat

    bounds = [(None, None)] * len(TRAITS) + [(0.0, None)] * (len(TRAITS) * (shape[0] - 1))
    found = minimize(loss, np.zeros(shape).ravel(), jac=True, method="L-BFGS-B", bounds=bounds).x
    _, shown = estimate(found)
    print_calibration("first hit", shown[first], labels[first])
    print_calibration("all hits", shown, labels)
    intercept, *weights, gap_weight = found.reshape(shape)
    scaled = [row / deviation for row, deviation in zip(weights, deviations, strict=True)]
    rows = {"intercept": intercept, "gap_weight": gap_weight, **dict(zip(EVIDENCE, scaled, strict=True))}
    return {name: [_round(weight) for weight in row] for name, row in rows.items()}


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


def export(weights: Weights, relevance: Mapping[str, Sequence[float]]) -> str:
    """Write the weights as readable JSON: a line for each feature, a number for each trait of a query."""
    tables: dict[str, Mapping[str, Sequence[float]]] = {
        "file": dict(zip(FILE_TABLE, weights.file.T.tolist(), strict=True)),
        "place": dict(zip(PLACE_FEATURES, weights.place.T.tolist(), strict=True)),
        "relevance": relevance,
    }
    lines = [
        "{",
        f' "traits": {json.dumps(TRAITS)},',
        f' "file_share": {weights.file_share},',
        f' "further_place": {weights.further_place},',
    ]
    for title, table in tables.items():
        rows = [f'  "{name}": {json.dumps([_round(w) for w in row])}' for name, row in table.items()]
        lines.append(f' "{title}": {{\n' + ",\n".join(rows) + "\n },")
    return "\n".join([*lines, "}", ""]).replace("},\n}", "}\n}")


def _round(value: float) -> float:
    return float(f"{value:.4g}") if math.isfinite(value) else 0.0


if __name__ == "__main__":
    main()
