"""The learned ranking: its weights, that contributions add up to the score, and the switches of its features."""

import json
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from dowse import Engine, SearchResponse
from dowse.search.channels.retrieve import CHANNELS
from dowse.search.ranking import model
from dowse.search.ranking.calibration import EVIDENCE
from dowse.search.ranking.features import FILE_FEATURES, PLACE_FEATURES, TEXT_FEATURES, FeatureExtractor
from dowse.search.ranking.features.feature import Feature
from dowse.search.ranking.learned_ranking import READ_FILES, LearnedRanking
from dowse.search.ranking.model import (
    LONG_WORDS,
    NAME_WORDS,
    SHORT_WORDS,
    TRAITS,
    WEIGHTS_FILE,
    list_disabled_groups,
    make_model,
    measure_traits,
)
from dowse.search.ranking.proximity import ADDED_GAP, STEP
from dowse.search.ranking.proximity import GAIN as PROXIMITY_GAIN
from dowse.search.ranking.test_partners import PARTNER_GAP
from dowse.settings import FEATURE_GROUPS, Settings
from dowse.types.answers import SearchOptions, SearchResult
from tests.test_ranking_features import question

WEIGHTS = json.loads(WEIGHTS_FILE.read_text(encoding="utf-8"))
TABLES: Mapping[str, Mapping[str, Feature]] = {
    "file": {**FILE_FEATURES, **TEXT_FEATURES},
    "place": PLACE_FEATURES,
}
MAX_WEIGHTS_BYTES = 100_000
SOME_TRAITS = (
    (1.0, 1.0, 0.0, 0.0, 1.0, 0.0, 0.0),
    (1.0, 0.0, 1.0, 1.0, 0.0, 1.0, 0.0),
    (1.0, 0.5, 0.5, 0.2, 0.8, 0.0, 1.0),
)
FUSIONS = ("learned", "scores", "rrf", "zscore")

# --- the file of weights ---------------------------------------------------------------------------


def test_the_weights_are_those_of_the_features() -> None:
    assert tuple(WEIGHTS["traits"]) == TRAITS
    for name, table in TABLES.items():
        assert list(WEIGHTS[name]) == [feature for feature in table if feature in WEIGHTS[name]]
    assert list(WEIGHTS["relevance"]) == ["intercept", "gap_weight", *EVIDENCE]
    for name in (*TABLES, "relevance"):
        assert {len(row) for row in WEIGHTS[name].values()} == {len(TRAITS)}
    assert set(WEIGHTS) == {"traits", "file_share", "further_place", "file", "place", "relevance"}
    assert WEIGHTS_FILE.stat().st_size <= MAX_WEIGHTS_BYTES


def test_a_feature_that_is_newer_than_the_weights_has_its_prior(monkeypatch: pytest.MonkeyPatch) -> None:
    older = {name: row for name, row in WEIGHTS["file"].items() if name != "files_match"}
    monkeypatch.setattr(model, "_read_weights", lambda: WEIGHTS | {"file": older})
    model._load_tables.cache_clear()
    try:
        weights = dict(zip(FILE_FEATURES, make_model(SOME_TRAITS[0]).file, strict=True))
    finally:
        model._load_tables.cache_clear()
    assert weights["files_match"] == FILE_FEATURES["files_match"].prior > 0


@pytest.mark.parametrize("name", TABLES)
def test_every_weight_has_the_sign_of_its_feature(name: str) -> None:
    for feature, row in WEIGHTS[name].items():
        wanted = TABLES[name][feature]
        assert all(wanted.sign * weight >= 0 for weight in row), feature
        assert not wanted.least or row[0] >= wanted.least, feature


def test_evidence_and_gaps_never_count_the_wrong_way() -> None:
    assert 0 < WEIGHTS["file_share"] <= 1
    assert WEIGHTS["further_place"] >= 0
    for name in ("gap_weight", *EVIDENCE):
        assert all(weight >= 0 for weight in WEIGHTS["relevance"][name]), name


# --- the model of a query --------------------------------------------------------------------------


def measure(engine: Engine, text: str) -> dict[str, float]:
    """The traits of a query."""
    with engine.candidates(text) as context:
        return dict(zip(TRAITS, measure_traits(context), strict=True))


def test_a_query_is_short_or_long_or_in_between(engine: Engine) -> None:
    for count, long in (
        (1, 0.0),
        (SHORT_WORDS, 0.0),
        ((SHORT_WORDS + LONG_WORDS) // 2, 0.5),
        (LONG_WORDS, 1.0),
    ):
        traits = measure(engine, " ".join(["part"] * count))
        assert (traits["long"], traits["short"]) == (long, 1.0 - long)
        assert traits["any"] == 1.0


def test_a_query_in_the_words_of_the_code_matches_it(engine: Engine) -> None:
    meets, shuns = (
        measure(engine, text) for text in ("the session part stays open", "xylophones under quarantine zq")
    )
    assert meets["matched"] > shuns["matched"] == 0.0
    for traits in (meets, shuns):
        assert traits["matched"] + traits["unmatched"] == pytest.approx(1.0)


@pytest.mark.parametrize(
    ("text", "is_name"),
    [
        ("openSession", True),
        ("session.py", True),
        ("session store cache", True),
        ("session store cache timeout", False),
    ],
)
def test_queries_that_are_names(engine: Engine, text: str, is_name: bool) -> None:
    traits = measure(engine, text)
    assert traits["name"] == float(is_name)
    assert (len(question(text).words) <= NAME_WORDS) == is_name


def test_a_query_without_vectors_is_known_for_it(root: Path, engine: Engine) -> None:
    with open_engine(root, hybrid="off") as without:
        without.index()
        assert measure(without, "session store cache timeout")["no_vectors"] == 1.0
        assert measure(without, "openSession")["no_vectors"] == 0.0, "names need none"
    assert measure(engine, "session store cache timeout")["no_vectors"] == 0.0


def test_weights_are_mixed_by_traits() -> None:
    traits = (1.0, 0.25, 0.75, 0.5, 0.5, 0.0, 1.0)
    weights = make_model(traits)
    for table, found in (("file", (*weights.file, *weights.text)), ("place", weights.place)):
        for name, weight in zip(TABLES[table], found, strict=True):
            row = WEIGHTS[table].get(name) or model.start_at(TABLES[table][name])
            assert weight == pytest.approx(
                row[0] + 0.25 * row[1] + 0.75 * row[2] + 0.5 * row[3] + 0.5 * row[4] + row[6]
            )


@pytest.mark.parametrize(
    "group", [name for name in FEATURE_GROUPS if name not in ("report", "test_partner", "proximity")]
)
def test_a_group_that_is_off_weighs_nothing_and_others_as_ever(group: str) -> None:
    for traits in SOME_TRAITS:
        usual, without = make_model(traits), make_model(traits, (group,))
        for table, before, after in (
            (FILE_FEATURES, usual.file, without.file),
            (TEXT_FEATURES, usual.text, without.text),
            (PLACE_FEATURES, usual.place, without.place),
        ):
            for feature, old, new in zip(table.values(), before, after, strict=True):
                assert new == (0.0 if feature.group == group else old)


def test_without_features_of_places_all_places_of_a_file_are_alike(root: Path) -> None:
    with open_engine(root, disabled_features=("place", "test_partner")) as engine:
        scores: dict[str, set[float]] = {}
        for hit in engine.search("the session part stays open", SearchOptions(limit=50)).results:
            scores.setdefault(hit.path, set()).add(hit.score)
    assert {len(own) for own in scores.values()} == {1}


def test_a_channel_without_weight_is_off_and_so_are_the_vectors_of_files() -> None:
    assert list_disabled_groups(Settings()) == ()
    assert list_disabled_groups(Settings(lexical_weight=0.0)) == ("lexical",)
    assert list_disabled_groups(Settings(dense_weight=0.0)) == (
        "dense",
        "file_vectors",
        "soft_coverage",
    )
    assert list_disabled_groups(Settings(name_weight=0.0, disabled_features=("phrase", "names"))) == (
        "names",
        "phrase",
    )


# --- scores of real searches -----------------------------------------------------------------------

LONG = "\n\n".join(f"def session_part_{i}():\n    return '{'x ' * 250}'" for i in range(4))

FILES = {
    "session.py": "def openSession(name):\n    return name\n",
    "other.py": f"# the session part stays open\n{LONG}\n",
    "tests/test_session.py": "def test_session():\n    assert openSession('ada')\n",
    "inside.rs": "mod tests {\n    fn opens_session() {\n        openSession();\n    }\n}\n",
    "compat.py": "import sys\n\nif sys.version_info >= (3, 9):\n    session = None\n",
    "notes.md": "# Notes\n\nNothing to see here.\n",
    "failure.py": "def fail(name):\n    raise OSError(f'the session of {name} was closed')\n",
    "open.sh": "#!/bin/bash\n# opens a session\nopenSession ada\n",
    "README.md": "# Sessions\n\nHow to open a session.\n",
    **{f"many/part_{n}.py": f"def part_{n}():\n    return session + {n}\n" for n in range(30)},
}

QUERIES = (
    "openSession session",
    "the session part stays open",
    "openSession",
    "session.py",
    "session.py:1",
    '"stays open" session',
    "name:session_part_* kind:function",
    "drop Python 3.8 from the session",
    "how to open a session",
    "which script opens a session",
    "the session of ada was closed",
    " ".join(f"session part {word}" for word in "open stays name ada return test sys".split()),
    "A session that was opened stays open " + "though all of its parts were closed by name before that " * 3,
    "A session that `openSession` made stays open "
    + "though all of its parts were closed by name before that " * 3,
    "error: stays open\n  --> other.py:2:1\n",
)


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A tree in which every group of features has something to say."""
    root = tmp_path_factory.mktemp("ranked")
    for path, text in FILES.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text, encoding="utf-8")
    identity = ["-c", "user.name=x", "-c", "user.email=x@example.org", "-c", "commit.gpgsign=false"]
    for arguments in (
        ["init", "-q"],
        ["add", "session.py"],
        ["commit", "-q", "-m", "Keep a session part open"],
    ):
        subprocess.run(["git", "-C", str(root), *identity, *arguments], check=True)
    return root


def open_engine(root: Path, **settings: Any) -> Engine:
    given: dict[str, Any] = {
        "store": "memory",
        "embedder": "hashing",
        "cache": "off",
        "show_low_confidence": True,
    }
    return Engine.open(root, **(given | settings))


@pytest.fixture(scope="module")
def engine(root: Path) -> Iterator[Engine]:
    with open_engine(root) as engine:
        engine.index()
        yield engine


NEAR = SearchOptions(limit=50, near=(("session.py", 1.0), ("many/part_3.py", 0.5)))


def ask(engine: Engine) -> Iterator[SearchResponse]:
    for query in QUERIES:
        yield engine.search(query, SearchOptions(limit=50))
        yield engine.search(query, NEAR)


def list_values(results: Sequence[SearchResult]) -> dict[str, float]:
    """The largest of what each reason counts anywhere."""
    largest: dict[str, float] = {}
    for reason in (reason for hit in results for reason in hit.reasons):
        largest[reason.name] = max(largest.get(reason.name, 0.0), abs(reason.value))
    return largest


@pytest.mark.parametrize("fusion", FUSIONS)
def test_contributions_add_up_to_the_score(root: Path, fusion: str) -> None:
    with open_engine(root, fusion=fusion) as engine:
        for response in ask(engine):
            assert response.results
            for hit in response.results:
                assert hit.score == pytest.approx(sum(reason.value for reason in hit.reasons), abs=1e-9)
                assert all(reason.detail for reason in hit.reasons), "every contribution has a reason"
                sizes = [abs(reason.value) for reason in hit.reasons]
                assert sizes == sorted(sizes, reverse=True), "what counts most comes first"


@pytest.mark.parametrize("fusion", FUSIONS)
def test_hits_come_by_score_and_relevance_falls_with_it(root: Path, fusion: str) -> None:
    with open_engine(root, fusion=fusion) as engine:
        for response in ask(engine):
            for one, next_one in pairwise(response.results):
                assert one.score >= next_one.score
                assert 0.0 <= next_one.relevance <= one.relevance <= 1.0


@pytest.mark.parametrize("fusion", FUSIONS[1:])
def test_plain_fusion_has_no_reasons_but_channels_and_proximity(root: Path, fusion: str) -> None:
    with open_engine(root, fusion=fusion) as engine:
        found = [hit for response in ask(engine) for hit in response.results]
    assert set(list_values(found)) <= {*CHANNELS, "proximity"}
    assert "proximity" in list_values(found)


def test_a_score_is_that_of_the_file_and_the_gap_to_its_best_place(engine: Engine) -> None:
    for query in QUERIES:
        with engine.candidates(query, SearchOptions(limit=50)) as context:
            weights = make_model(measure_traits(context))
            extractor = FeatureExtractor(context)
            expected = {}
            for file in context.files:
                values = (*extractor.compute_file(file), *extractor.compute_text(file))
                score = sum(w * v for w, v in zip((*weights.file, *weights.text), values, strict=True))
                places = [
                    sum(w * v for w, v in zip(weights.place, each, strict=True))
                    for each in extractor.compute_places(file)
                ]
                best_first = sorted(zip(places, file.places, strict=True), key=lambda pair: -pair[0])
                for further, (value, place) in enumerate(best_first):
                    gap = value - max(places) - weights.further_place * further
                    expected[place.id] = weights.file_share * score + gap
            ranked = LearnedRanking(weights, FeatureExtractor(context), read_files=len(context.files))
            found = {place.id: place.score for place in ranked.score_places()}
        assert found == pytest.approx(expected)


def test_of_files_that_are_not_read_neither_text_nor_more_than_fused_scores_count(engine: Engine) -> None:
    with engine.candidates("the session part stays open") as context:
        assert len(context.files) > READ_FILES
        weights, extractor = make_model(measure_traits(context)), FeatureExtractor(context)
        weight = weights.place[list(PLACE_FEATURES).index("fused_share")]
        expected = {}
        for file in context.files:
            values = extractor.compute_file(file)
            base = weights.file_share * sum(w * v for w, v in zip(weights.file, values, strict=True))
            for further, place in enumerate(file.places):
                gap = weight * (place.score / file.places[0].score - 1.0) - weights.further_place * further
                expected[place.id] = base + gap
        ranked = LearnedRanking(weights, FeatureExtractor(context), read_files=0)
        found = {place.id: place.score for place in ranked.score_places()}
    assert found == pytest.approx(expected)


@pytest.fixture
def _equal_weights(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Every feature counts, whatever was learned."""
    rows = {
        name: {feature: [float(own.sign or 1)] * len(TRAITS) for feature, own in table.items()}
        for name, table in TABLES.items()
    }
    monkeypatch.setattr(model, "_read_weights", lambda: WEIGHTS | rows)
    model._load_tables.cache_clear()
    yield
    model._load_tables.cache_clear()


@pytest.mark.usefixtures("_equal_weights")
def test_a_group_that_is_off_contributes_nothing(root: Path, engine: Engine) -> None:
    everything = list_values([hit for response in ask(engine) for hit in response.results])
    shown = {"test_partner": "partners", "report": "function"}
    silent = [group for group in FEATURE_GROUPS if not everything.get(shown.get(group, group))]
    assert silent == ["soft_coverage"], "only the built-in embedder has vectors of words"
    for group in FEATURE_GROUPS:
        with open_engine(root, disabled_features=(group,)) as without:
            found = list_values([hit for response in ask(without) for hit in response.results])
        assert not found.get(shown.get(group, group)), group


@pytest.mark.usefixtures("_equal_weights")
def test_words_of_the_same_meaning_contribute_with_the_built_in_embedder(root: Path) -> None:
    def contribute(**settings: Any) -> float | None:
        with open_engine(root, embedder="static", **settings) as engine:
            return list_values([hit for response in ask(engine) for hit in response.results]).get(
                "soft_coverage"
            )

    assert contribute()
    assert not contribute(disabled_features=("soft_coverage",))
    assert not contribute(dense_weight=0.0)


def test_without_any_group_what_the_query_names_still_counts(root: Path) -> None:
    with open_engine(root, disabled_features=FEATURE_GROUPS) as engine:
        for response in ask(engine):
            spoken = {reason.name for hit in response.results for reason in hit.reasons if reason.value}
            assert spoken <= {"places", "exact", "versions"}
        assert engine.search("session.py:1").results[0].path == "session.py"


def test_channels_without_any_weight_do_no_harm(root: Path) -> None:
    weights = dict.fromkeys(("lexical_weight", "dense_weight", "name_weight", "file_weight"), 0.0)
    with open_engine(root, **weights) as engine:
        response = engine.search("session")
    assert response.results
    found = list_values(response.results)
    assert not any(found.get(name) for name in ("lexical", "dense", "names", "files", "file_vectors"))


@pytest.mark.parametrize("query", ["other.py:5", "look at other.py:5 again", "./other.py:5:3"])
def test_a_line_that_the_query_names_comes_first(engine: Engine, query: str) -> None:
    first = engine.search(query).results[0]
    assert first.path == "other.py"
    assert first.start_line <= 5 <= first.end_line
    assert first.reasons[0].name == "places"


def test_the_same_search_twice_has_the_same_scores(root: Path) -> None:
    with open_engine(root) as one, open_engine(root) as other:
        assert [response.results for response in ask(one)] == [response.results for response in ask(other)]


@pytest.mark.parametrize(
    ("text", "counts"),
    [
        ("how are expired keys removed", False),
        ("expired", True),
        ("expired kind:variable keys", True),
        ("keys that are Session.expired", True),
    ],
)
def test_a_plain_word_among_others_means_no_field_of_that_name(
    tmp_path: Path, text: str, counts: bool
) -> None:
    (tmp_path / "a.c").write_text("struct Session {\n    int expired;\n};\n", encoding="utf-8")
    with Engine.open(
        tmp_path, store="memory", embedder="none", allow_home=True, show_low_confidence=True
    ) as engine:
        found = {reason.name for hit in engine.search(text).results for reason in hit.reasons}
    assert "lexical" in found
    assert ("names" in found) == counts


# --- what joins the candidates after ranking ----------------------------------------------------------


def test_a_test_partner_stands_below_its_file_as_far_as_it_is_unsure(tmp_path: Path) -> None:
    (tmp_path / "tests").mkdir()
    (tmp_path / "cart.py").write_text("def total_price(items):\n    return sum(items)\n", encoding="utf-8")
    (tmp_path / "tests/test_cart.py").write_text("def test_empty():\n    assert True\n", encoding="utf-8")
    with Engine.open(tmp_path, store="memory", embedder="none", allow_home=True) as engine:
        source, test = engine.search("total price").results
    assert (source.path, test.path) == ("cart.py", "tests/test_cart.py")
    assert test.score <= source.score - PARTNER_GAP
    assert [(reason.name, reason.detail) for reason in test.reasons] == [("partners", "belongs to cart.py")]


def test_near_files_are_raised_by_how_near_they_are(engine: Engine) -> None:
    plain = engine.search("session part", SearchOptions(limit=50)).results
    before = {hit.path: hit.score for hit in reversed(plain)}
    first, second, *_ = dict.fromkeys(hit.path for hit in plain)
    options = SearchOptions(limit=50, near=((second, 1.0), (first, 0.5)))
    after = {hit.path: hit for hit in reversed(engine.search("session part", options).results)}
    for path, nearness in options.near:
        assert after[path].score == pytest.approx(before[path] + PROXIMITY_GAIN * nearness)
        (reason,) = [reason for reason in after[path].reasons if reason.name == "proximity"]
        assert reason.value == pytest.approx(PROXIMITY_GAIN * nearness)
        assert reason.detail == "near the position"


def test_the_file_at_the_position_is_considered_though_the_query_does_not_find_it(engine: Engine) -> None:
    options = SearchOptions(limit=50, near=(("notes.md", 0.5),))
    with Engine.open(engine.root, store="memory", embedder="none", cache="off") as plain:
        results = plain.search("openSession", options).results
    (added,) = [hit for hit in results if hit.path == "notes.md"]
    assert results[0].path != "notes.md"
    best = {hit.path: hit.score for hit in reversed(results) if hit is not added}.values()
    assert added.score == pytest.approx(max(min(best) - STEP / 0.5, max(best) - ADDED_GAP / 0.5))
    assert [reason.name for reason in added.reasons] == ["proximity"]


NEAR_FILES = {
    "src/cart.py": "def total_price(items):\n    return sum(items)\n",
    "src/weak.py": "def other(items):\n    return items\n",
    "src/alone.py": "def nothing():\n    return 1\n",
    "src/apart.py": "def at_all():\n    return 2\n",
    "tests/test_weak.py": "def test_items():\n    assert items\n",
} | {
    f"src/strong_{n}.py": f"def total_price_of_items_{n}(items):\n    '''Total price of items.'''\n    return items\n"
    for n in range(12)
}


@pytest.fixture(scope="module")
def near_engine(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Engine]:
    root = tmp_path_factory.mktemp("near")
    for path, text in NEAR_FILES.items():
        (root / path).parent.mkdir(exist_ok=True)
        (root / path).write_text(text, encoding="utf-8")
    with Engine.open(root, store="memory", embedder="none", show_low_confidence=True) as engine:
        yield engine


def list_files(engine: Engine, query: str, *near: tuple[str, float]) -> list[str]:
    found = engine.search(query, SearchOptions(limit=50, near=near)).results
    return list(dict.fromkeys(hit.path for hit in found))


def test_a_near_file_that_is_found_weakly_stands_above_one_that_is_not_found(near_engine: Engine) -> None:
    assert list_files(near_engine, "total price items").index("src/weak.py") > 5
    near = (("src/alone.py", 1.0), ("src/weak.py", 0.3))
    files = list_files(near_engine, "total price items", *near)
    assert files.index("src/weak.py") < files.index("src/alone.py")


def test_the_file_at_the_position_and_its_partner_are_among_the_first_if_the_query_fits_them(
    near_engine: Engine,
) -> None:
    first = list_files(near_engine, "total price items", ("src/weak.py", 1.0), ("tests/test_weak.py", 0.8))[
        :5
    ]
    assert {"src/weak.py", "tests/test_weak.py"} <= set(first)
    assert first.index("src/weak.py") < first.index("tests/test_weak.py")
    assert "src/alone.py" not in list_files(near_engine, "total price items", ("src/alone.py", 1.0))[:5]


def test_what_is_found_keeps_its_place_before_near_files_that_are_not(near_engine: Engine) -> None:
    plain = list_files(near_engine, "total price items")
    near = (("src/cart.py", 1.0), ("src/alone.py", 0.6))
    with_near = list_files(near_engine, "total price items", *near)
    assert [path for path in with_near if path not in ("src/cart.py", "src/alone.py")] == [
        path for path in plain if path != "src/cart.py"
    ]
    assert "src/alone.py" in with_near


def test_what_is_near_the_position_and_not_found_comes_after_all_that_is_found(near_engine: Engine) -> None:
    near = (("src/cart.py", 1.0), ("src/alone.py", 0.6), ("src/apart.py", 0.3))
    assert list_files(near_engine, "total price items", *near)[-2:] == ["src/alone.py", "src/apart.py"]


@pytest.mark.parametrize("position", [f"src/strong_{n}.py" for n in (1, 6, 11)])
@pytest.mark.parametrize("nearness", [0.25, 0.8])
def test_a_position_that_is_right_never_costs_a_file_that_was_found(
    near_engine: Engine, position: str, nearness: float
) -> None:
    """Whatever is near it: among the first k files are all that were there before, but for the one it may displace."""
    plain = list_files(near_engine, "total price items")
    around = [path for path in plain if path != position]
    for others in (around[-4:], around[5:9], around[::2], around[::-1]):
        near = ((position, 1.0), *((path, nearness) for path in others), ("src/alone.py", nearness))
        files = list_files(near_engine, "total price items", *near)
        for k in range(5, len(plain)):
            lost = set(plain[:k]) - set(files[:k])
            assert position in files[:k]
            assert len(lost) <= (position not in plain[:k])


def test_others_that_are_near_rise_among_the_first_files_only(near_engine: Engine) -> None:
    plain = list_files(near_engine, "total price items")
    files = list_files(near_engine, "total price items", (plain[0], 1.0), (plain[8], 0.9), (plain[4], 0.5))
    assert files == [plain[0], plain[4], *plain[1:4], *plain[5:]]
