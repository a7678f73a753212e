"""Learning to rank: what is fitted keeps to signs and priors, and training ranks as the program does."""

from __future__ import annotations

import json
import random
import sys
from collections.abc import Iterator, Sequence
from importlib import import_module
from itertools import pairwise
from math import log2
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from dowse import Engine, SearchOptions
from dowse.search.ranking import model
from dowse.search.ranking.calibration import EVIDENCE, RelevanceModel
from dowse.search.ranking.features import (
    FILE_FEATURES,
    PLACE_FEATURES,
    TEXT_FEATURES,
    FeatureExtractor,
    role_model,
)
from dowse.search.ranking.features.feature import Feature
from dowse.search.ranking.learned_ranking import READ_FILES, LearnedRanking
from dowse.search.ranking.model import (
    NAME_TRAIT,
    NO_VECTORS_TRAIT,
    TRAITS,
    WEIGHTS_FILE,
    RankingModel,
    make_model,
    measure_traits,
)
from dowse.types.source import Role

TRAINING = Path(__file__).parent.parent / "training"


def import_scripts(*names: str) -> list[Any]:
    """Import scripts of training, which import each other as they do when one of them is run."""
    sys.path.insert(0, str(TRAINING))
    try:
        return [import_module(name) for name in names]
    finally:
        sys.path.remove(str(TRAINING))


learn_ranking, learn_roles, ranking_data, ranking_examples = import_scripts(
    "learn_ranking", "learn_roles", "ranking_data", "ranking_examples"
)

Array = NDArray[np.float64]

# --- fitting ---------------------------------------------------------------------------------------

L2 = 1.0

TABLE = {
    "good": Feature("a", 1),
    "bad": Feature("a", -1),
    "either": Feature("b", 0),
}


def has_trait(number: int) -> tuple[float, ...]:
    """The traits of a query that has one beside the first, which every query has."""
    return tuple(float(n in (0, number)) for n in range(len(TRAITS)))


def make_groups(seed: int, preferred: Sequence[float], traits: Sequence[int] = (1, 2, 3)) -> list[Any]:
    """Groups of things of which the one is right that comes first by these weights."""
    chance = np.random.default_rng(seed)
    groups = []
    for number in range(150):
        features = chance.random((6, len(preferred)))
        grades = np.zeros(6)
        grades[np.argmax(features @ np.array(preferred))] = 1.0
        groups.append(learn_ranking.Group(features, grades, has_trait(traits[number % len(traits)]), 1.0))
    return groups


def fit(groups: list[Any], table: dict[str, Feature] = TABLE, without: str = "") -> Array:
    weights: Array = learn_ranking.fit_softmax(groups, table, L2, without)
    return weights


def test_an_obvious_preference_is_recovered() -> None:
    weights = fit(make_groups(1, (3.0, -2.0, 1.0)))
    assert weights.shape == (len(TRAITS), len(TABLE))
    assert weights[0][0] > -weights[0][1] > weights[0][2] > 0
    right = [
        np.argmax(group.features @ (group.traits @ weights)) == np.argmax(group.grades)
        for group in make_groups(2, (3.0, -2.0, 1.0))
    ]
    assert np.mean(right) > 0.9


def test_a_weight_never_has_the_wrong_sign() -> None:
    weights = fit(make_groups(3, (-3.0, 2.0, -1.0)))
    assert (weights[:, 0] == 0.0).all()
    assert (weights[:, 1] == 0.0).all()
    assert weights[0, 2] < 0, "this one may have either"


def test_the_same_examples_give_the_same_weights() -> None:
    assert (fit(make_groups(4, (3.0, -2.0, 1.0))) == fit(make_groups(4, (3.0, -2.0, 1.0)))).all()


def test_what_examples_say_nothing_about_keeps_its_prior() -> None:
    table = {**TABLE, "silent": Feature("c", 1, prior=7.0)}
    groups = [
        group._replace(features=np.hstack([group.features, np.zeros((6, 1))]))
        for group in make_groups(5, (3.0, -2.0, 1.0))
    ]
    assert fit(groups, table)[:, 3] == pytest.approx([7.0] + [0.0] * (len(TRAITS) - 1))


def test_the_more_examples_say_the_less_a_prior_counts() -> None:
    groups = make_groups(6, (3.0, -2.0, 1.0))
    usual = fit(groups)[0, 2]
    table = {**TABLE, "either": Feature("b", 0, prior=-5.0)}
    few, many = fit(groups[:6], table)[0, 2], fit(groups, table)[0, 2]
    assert few < many < usual


def test_a_least_weight_holds_against_the_examples() -> None:
    table = {**TABLE, "good": Feature("a", 1, prior=4.0, least=4.0)}
    weights = fit(make_groups(7, (-3.0, -2.0, 1.0)), table)
    assert weights[:, 0] == pytest.approx([4.0] + [0.0] * (len(TRAITS) - 1))
    assert fit(make_groups(7, (30.0, -2.0, 1.0)), table)[0, 0] >= 4.0 - 1e-9


def test_a_group_that_is_left_out_weighs_nothing() -> None:
    weights = fit(make_groups(8, (3.0, -2.0, 1.0)), without="a")
    assert (weights[:, :2] == 0.0).all()
    assert weights[0, 2] > 0


def test_traits_that_ranking_does_not_learn_for_weigh_nothing() -> None:
    weights = fit(make_groups(9, (3.0, -2.0, 1.0), traits=(1, 2)))
    assert (weights[1:] == 0.0).all()


def test_weights_may_differ_without_vectors() -> None:
    groups = make_groups(10, (3.0, -1.0, 2.0), traits=(0,))
    groups += make_groups(11, (3.0, -1.0, -2.0), traits=(NO_VECTORS_TRAIT,))
    weights = fit(groups)
    assert weights[0][2] > 0 > weights[NO_VECTORS_TRAIT][2]


def test_files_that_only_help_share_a_part_of_an_answer() -> None:
    graded = (
        (Role.SOURCE, ranking_examples.PRIMARY),
        (Role.TEST, ranking_examples.SECONDARY),
        (Role.TEST, ranking_examples.SECONDARY),
        (Role.SOURCE, 0.0),
    )
    files = [
        ranking_examples.RankedFile(f"{n}.py", role, grade, (0.0,), ())
        for n, (role, grade) in enumerate(graded)
    ]
    example = ranking_examples.Example("r", "train", "id", "short", "", has_trait(0), (), files)
    (group,) = learn_ranking._list_file_groups([(example, 1.0)])
    share = learn_ranking.HELPING_SHARE
    wanted = [1.0, share / 2, share / 2, 0.0]
    assert group.grades.tolist() == pytest.approx([grade / (1.0 + share) for grade in wanted])


# --- examples --------------------------------------------------------------------------------------

WORDS = "session token cache window socket parser buffer".split()


def write_tree(root: Path) -> Path:
    """More files than are read, several with many places, of several roles."""
    chance = random.Random(0)
    for number in range(2 * READ_FILES):
        parts = [
            f"def {chance.choice(WORDS)}_{chance.choice(WORDS)}_{n}(value):\n"
            f"    '''{' '.join(chance.choices(WORDS, k=5))}.'''\n    return '{'x ' * 300}'\n"
            for n in range(1 + number % 4)
        ]
        folder = ("src", "tests", "docs", "examples")[number % 4]
        path = root / folder / f"{chance.choice(WORDS)}_{number}.py"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("\n\n".join(parts), encoding="utf-8")
    return root


QUERIES = (
    "session token cache",
    "where is the session token of a window cached by the parser",
    "parser_buffer_1",
    "a socket fills its buffer while the window waits for a token, the session loses its cache, the parser stops "
    "early, nobody closes anything, memory grows, logs repeat",
    "tests of the parser window",
)


@pytest.fixture(scope="module")
def tree(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_tree(tmp_path_factory.mktemp("learned") / "tree")


@pytest.fixture(scope="module")
def index(tree: Path) -> Path:
    return tree.parent / "index"


@pytest.fixture(scope="module")
def examples(tree: Path, index: Path) -> list[Any]:
    paths = sorted(path.relative_to(tree).as_posix() for path in tree.rglob("src/*.py"))
    rows = [
        {
            "id": f"q{n}",
            "query": query,
            "category": "short",
            "relevant": [{"target": f"{paths[n]}:1-3", "grade": 2}, paths[n + 1]],
        }
        for n, query in enumerate(QUERIES)
    ]
    return list(ranking_data.collect("train", "tree", tree, index, rows))


@pytest.fixture(scope="module")
def engine(tree: Path, index: Path, examples: list[Any]) -> Iterator[Engine]:
    settings: dict[str, Any] = {
        "index_dir": str(index),
        "cache": "off",
        "disabled_features": ("test_partner",),
    }
    with Engine.open(tree, **settings) as engine:
        yield engine


def test_examples_have_all_candidates_and_their_grades(examples: list[Any]) -> None:
    assert [example.id for example in examples][: len(QUERIES)] == [f"q{n}" for n in range(len(QUERIES))]
    without_vectors = [example.id for example in examples[len(QUERIES) :]]
    assert without_vectors == [e.id for e in examples[: len(QUERIES)] if not e.traits[NAME_TRAIT]]
    assert [learn_ranking.has_no_vectors(example) for example in examples] == [
        number >= len(QUERIES) for number in range(len(examples))
    ]
    for example in examples:
        assert [target.grade for target in example.targets] == [
            ranking_examples.PRIMARY,
            ranking_examples.SECONDARY,
        ]
        primary, secondary = example.targets
        assert len(example.files) > READ_FILES
        assert max(len(file.places) for file in example.files) > 1
        for file in example.files:
            assert len(file.features) == len(FILE_FEATURES) + len(TEXT_FEATURES)
            wanted = {primary.path: 1.0, secondary.path: 0.4}
            assert file.grade == wanted.get(file.path, 0.0)
            for place in file.places:
                assert len(place.features) == len(PLACE_FEATURES)
                is_within = file.path != primary.path or place.first <= 3
                assert place.grade == (file.grade if is_within else 0.0)


# --- roles -----------------------------------------------------------------------------------------


def make_asked(query: str, role: Role, repository: str = "r") -> Any:
    """An example with one right file of a role, and a source file."""
    features = (0.0,) * (len(FILE_FEATURES) + len(TEXT_FEATURES))
    files = [
        ranking_examples.RankedFile("right", role, ranking_examples.PRIMARY, features, ()),
        ranking_examples.RankedFile("other", Role.SOURCE, 0.0, features, ()),
    ]
    return ranking_examples.Example(repository, "train", query, "short", query, (), (), files)


ASKED = [
    make_asked(f"{beginning} {word}", role, f"r{n}")
    for n, word in enumerate(WORDS)
    for beginning, role in (("which test checks the", Role.TEST), ("closing of the", Role.SOURCE))
]


def test_the_words_that_ask_for_a_role_are_learned() -> None:
    model = learn_roles.learn_roles(ASKED)
    tests = [
        model.compute_odds(text)[Role.TEST] for text in ("which test checks a lock", "closing of a lock")
    ]
    assert tests[0] > 1.0 > -1.0 > tests[1]
    assert not set(WORDS) & set(model.cues), "of which each is in too few queries"


def test_queries_whose_right_files_have_several_roles_teach_nothing() -> None:
    mixed = make_asked("a mixed query", Role.TEST)
    mixed.files.append(
        ranking_examples.RankedFile("docs", Role.DOCS, ranking_examples.PRIMARY, mixed.files[0].features, ())
    )
    assert learn_roles.learn_roles([*ASKED, mixed]) == learn_roles.learn_roles(ASKED)


def test_odds_are_filled_in_by_a_model_of_other_repositories() -> None:
    odd_words = [make_asked("which test checks the", Role.SOURCE, "r0")] * 50
    column = learn_ranking.ODDS_COLUMN
    filled = list(learn_ranking.fill_role_odds([*ASKED[:1], *odd_words], [*ASKED, *odd_words]))
    assert all(example.files[0].features[column] > 1.0 for example in filled[:1]), "r0 is not learned from"
    assert all(example.files[1].features[column] == 0.0 for example in filled), "the odds of source code"


def test_a_role_model_that_is_written_is_the_one_that_is_loaded(tmp_path: Path) -> None:
    model = learn_roles.learn_roles(ASKED)
    path = tmp_path / "role_words.json"
    path.write_text(learn_roles.export_roles(model), encoding="utf-8")
    loaded = role_model.read_role_model(path)
    for text in ("which test checks a lock", "closing of a lock"):
        assert loaded.compute_odds(text) == pytest.approx(model.compute_odds(text), abs=0.2)


# --- training ranks as the program does --------------------------------------------------------------


def choose_weights(seed: int) -> Any:
    """The weights of the program, or others of the same signs."""
    tables = ({**FILE_FEATURES, **TEXT_FEATURES}, PLACE_FEATURES)
    if not seed:
        weights = json.loads(WEIGHTS_FILE.read_text(encoding="utf-8"))
        file, place = (np.array(list(weights[name].values())).T for name in ("file", "place"))
        return learn_ranking.Weights(file, place, weights["file_share"], weights["further_place"])
    chance = np.random.default_rng(seed)
    signs = [np.array([feature.sign or 1 for feature in table.values()]) for table in tables]
    file, place = (np.abs(chance.normal(size=(len(TRAITS), len(own)))) * own for own in signs)
    return learn_ranking.Weights(file, place, 0.6, 0.25 * seed)


def mix(weights: Any, traits: Sequence[float]) -> RankingModel:
    split = len(FILE_FEATURES)
    file, place = ((np.array(traits) @ table).tolist() for table in (weights.file, weights.place))
    relevance = RelevanceModel(0.0, (0.0,) * len(EVIDENCE), 0.0)
    tables = (tuple(file[:split]), tuple(file[split:]), tuple(place))
    return RankingModel(*tables, weights.file_share, weights.further_place, relevance)


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("number", range(len(QUERIES)))
def test_training_ranks_as_the_program_does(
    engine: Engine, examples: list[Any], seed: int, number: int
) -> None:
    weights, example = choose_weights(seed), examples[number]
    with engine.candidates(QUERIES[number], SearchOptions(limit=10)) as context:
        assert measure_traits(context) == example.traits
        ranked = LearnedRanking(mix(weights, example.traits), FeatureExtractor(context))
        program = {(place.file.path, place.chunk.start_line): place.score for place in ranked.score_places()}
    training = learn_ranking.rank_places(weights, example)
    assert {(place.path, place.first): place.score for place in training} == pytest.approx(program)
    assert all(one.score >= other.score for one, other in pairwise(training))


@pytest.mark.parametrize("number", range(len(QUERIES)))
def test_a_search_has_the_scores_of_training(engine: Engine, examples: list[Any], number: int) -> None:
    training = learn_ranking.rank_places(choose_weights(0), examples[number])
    options = SearchOptions(limit=10, show_low_confidence=True)
    results = engine.search(QUERIES[number], options).results
    assert results[0].path == training[0].path
    assert results[0].score == pytest.approx(training[0].score)
    scores = iter(place.score for place in training)
    assert all(any(score == pytest.approx(hit.score) for score in scores) for hit in results), (
        "the same order; what an earlier hit shows is left out"
    )


def test_figures_of_an_order() -> None:
    place = learn_ranking.RankedPlace
    target = ranking_examples.Target("a.py", 10, 20, ranking_examples.PRIMARY)
    helps = ranking_examples.Target("b.py", 1, 9, ranking_examples.SECONDARY)
    example = ranking_examples.Example("r", "train", "id", "short", "", (), [target, helps], [])
    order = [place("b.py", 1, 9, 3.0), place("a.py", 1, 9, 2.0), place("a.py", 20, 30, 1.0)]
    assert learn_ranking.measure(example, order) == {
        "file@1": 0.0,
        "file@5": 1.0,
        "file MRR": 1 / 2,
        "lines@1": 0.0,
        "lines@5": 1.0,
        "lines@10": 1.0,
        "NDCG": pytest.approx((0.4 / log2(2) + 1 / log2(3)) / (1 / log2(2) + 0.4 / log2(3))),
    }
    assert set(learn_ranking.measure(example, []).values()) == {0.0}


# --- relevance and the file of weights ---------------------------------------------------------------


def test_relevance_is_fitted_to_how_often_hits_are_right() -> None:
    chance = np.random.default_rng(0)
    evidence = chance.random((2000, len(EVIDENCE)))
    gaps = np.where(np.arange(2000) % 4, chance.random(2000) * 3, 0.0)
    likely = 1 / (1 + np.exp(-(4 * evidence[:, 0] - 2))) * np.exp(-0.7 * gaps)
    labels = (chance.random(2000) < likely).astype(float)
    traits = has_trait(0)
    hits = [
        learn_ranking.LabelledHit(*hit) for hit in zip(evidence, [traits] * 2000, gaps, labels, strict=True)
    ]
    found = learn_ranking._fit_relevance(hits)
    assert found["gap_weight"][0] == pytest.approx(0.7, abs=0.2)
    assert found[EVIDENCE[0]][0] == pytest.approx(4.0, abs=0.8)
    assert all(weight >= 0.0 for name in EVIDENCE for weight in found[name])
    assert max(EVIDENCE, key=lambda name: found[name][0]) == EVIDENCE[0]


@pytest.fixture
def _fresh_weights() -> Iterator[None]:
    """Weights that are read during the test are not those of the program."""
    model._read_weights.cache_clear()
    model._load_tables.cache_clear()
    yield
    model._read_weights.cache_clear()
    model._load_tables.cache_clear()


@pytest.mark.usefixtures("_fresh_weights")
def test_weights_that_are_written_are_those_that_are_loaded(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    weights = choose_weights(5)
    relevance = {name: [0.5] * len(TRAITS) for name in ("intercept", "gap_weight", *EVIDENCE)}
    text = learn_ranking.export(weights, relevance)
    path = tmp_path / "weights.json"
    path.write_text(text, encoding="utf-8")
    monkeypatch.setattr(model, "WEIGHTS_FILE", path)
    for traits in (has_trait(0), has_trait(3)):
        expected, found = mix(weights, traits), make_model(traits)
        assert found.file == pytest.approx(expected.file, rel=1e-3, abs=1e-3)
        assert found.text == pytest.approx(expected.text, rel=1e-3, abs=1e-3)
        assert found.place == pytest.approx(expected.place, rel=1e-3, abs=1e-3)
        assert (found.file_share, found.further_place) == (expected.file_share, expected.further_place)
        half = 0.5 * sum(traits)
        assert found.relevance == RelevanceModel(half, (half,) * len(EVIDENCE), half)
    assert len(text.splitlines()) > len(json.loads(text)["file"]), "a line for each feature"


def test_the_weights_of_the_program_are_written_as_they_are() -> None:
    relevance = json.loads(model.WEIGHTS_FILE.read_text(encoding="utf-8"))["relevance"]
    assert learn_ranking.export(choose_weights(0), relevance) == model.WEIGHTS_FILE.read_text("utf-8")
