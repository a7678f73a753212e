"""How relevant a hit is: the same for every query, and nothing rather than noise."""

import math
from collections.abc import Iterator
from pathlib import Path

import pytest
from benchmarks.calibrate import auc, calibration_error

from dowse import Engine, SearchOptions
from dowse.code import tokens
from dowse.code.chunk_fields import build_passages, chunk_terms, find_shared_tokens
from dowse.search.output.respond import MAX_GUESSES, NO_GOOD_HITS_NOTE
from dowse.search.query.analyze import analyze_text
from dowse.search.ranking.calibration import (
    FIRST_HIT_WEIGHTS,
    LATER_HIT_WEIGHTS,
    WEAK_RELEVANCE,
    Features,
    RelevanceModel,
    probability,
)
from dowse.types.explanations import Verdict

NOTHING = Features(0.0, 0.0, 0.0, 0.0, 0.0)

FILES = {
    "src/retry.py": (
        "def retry_with_backoff(call, attempts=3):\n"
        '    """Call again, with growing pauses, until it works."""\n'
        "    for attempt in range(attempts):\n"
        "        pause(2**attempt)\n"
    ),
    "src/session.py": "class Token:\n    def refresh(self):\n        return renew(self, schedule)\n",
    "src/listing.py": "def listing(rows):\n    return sorted(rows)\n",
    **{f"src/part_{n}.py": f"def part_{n}(value):\n    return value + {n}\n" for n in range(60)},
}


@pytest.fixture(scope="module")
def engine(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Engine]:
    root = tmp_path_factory.mktemp("relevance")
    for path, text in FILES.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text, encoding="utf-8")
    with Engine.open(root, store="memory", embedder="none") as engine:
        engine.index()
        yield engine


# --- the formula ---------------------------------------------------------------------------------


def test_it_is_a_logistic_function_of_the_evidence() -> None:
    first_weights, later_weights = FIRST_HIT_WEIGHTS, LATER_HIT_WEIGHTS
    first = Features(coverage=1.0, amount=2.0, depth=0.0, named=0.0, file=0.5)
    x = (
        first_weights["intercept"]
        + first_weights["coverage"]
        + 2 * first_weights["amount"]
        + 0.5 * first_weights["file"]
    )
    assert probability(first) == pytest.approx(1 / (1 + math.exp(-x)))
    third = first._replace(depth=math.log(3))
    x = (
        later_weights["intercept"]
        + later_weights["coverage"]
        + 2 * later_weights["amount"]
        + 0.5 * later_weights["file"]
    )
    assert probability(third) == pytest.approx(1 / (1 + math.exp(-x - later_weights["depth"] * math.log(3))))


@pytest.mark.parametrize("depth", [0.0, math.log(2), math.log(10)])
def test_more_evidence_is_never_less_relevant(depth: float) -> None:
    bare = NOTHING._replace(depth=depth)
    for feature in ("coverage", "amount", "named", "file"):
        assert probability(bare._replace(**{feature: 1.0})) >= probability(bare)
    assert probability(bare._replace(depth=depth + 1.0)) <= probability(bare._replace(depth=depth or 1e-9))


def test_nothing_in_common_is_weak() -> None:
    assert probability(NOTHING) < WEAK_RELEVANCE / 2
    assert probability(Features(1.0, 3.0, 0.0, 1.0, 1.0)) > 0.9


def test_area_under_the_curve() -> None:
    import numpy as np

    p, y = np.array([0.9, 0.8, 0.3, 0.3, 0.1]), np.array([True, False, True, False, False])
    pairs = [(a, b) for a in p[y] for b in p[~y]]
    assert auc(p, y) == pytest.approx(sum((a > b) + 0.5 * (a == b) for a, b in pairs) / len(pairs))


def test_calibration_error() -> None:
    import numpy as np

    p, y = np.array([0.75, 0.75, 0.05, 0.05]), np.array([True, True, False, True])
    assert calibration_error(p, y) == pytest.approx(0.5 * 0.25 + 0.5 * 0.45)


# --- what a place has in common with a query --------------------------------------------------


def test_shared_terms_are_those_of_the_fields(engine: Engine) -> None:
    with engine.store.snapshot() as snapshot:
        for path in ("src/retry.py", "src/session.py"):
            file = snapshot.file_at(path)
            assert file is not None
            content = snapshot.content(file.id)
            by_chunk = chunk_terms(path, build_passages(content, file.parsed, file.definitions))
            for ordinal, beginning in enumerate(file.definitions):
                names = [file.parsed.entities[i].qualified for i in beginning]
                everything = frozenset(" ".join(by_chunk[ordinal]).split()) | {"absent"}
                found = find_shared_tokens(everything, path, content, file.parsed.chunks[ordinal], names)
                assert found == everything - {"absent"}


def test_the_tokens_among_some_are_the_tokens_of_the_text() -> None:
    text = "getUserById(user_id) größe 日本語 x-1 a.b".encode()
    found = frozenset(tokens.tokenize(text).split())
    assert tokens.find_tokens(text, found | {"absent"}) == found


@pytest.mark.parametrize(
    "word", "using sizing retries visibility skies dying runs HTTPServer get_userById".split()
)
def test_a_word_of_ascii_gives_its_tokens_however_they_were_stemmed(word: str) -> None:
    found = frozenset(tokens.tokenize(word).split())
    for text in (word, f"a = {word}(b)", f"un{word} x{word}\n{word}"):
        assert tokens.find_tokens(text.encode(), found | {"absent"}) == found
    assert not tokens.find_tokens(f"x{word}".encode(), frozenset({"absent"}))


# --- answers -------------------------------------------------------------------------------------


def test_it_means_the_same_for_every_question(engine: Engine) -> None:
    good = engine.search("retry with growing pauses").results[0].relevance
    named = engine.search("retry_with_backoff").results[0].relevance
    poor = engine.search("where is the train schedule printed", SearchOptions(show_low_confidence=True))
    assert min(good, named) > 0.4
    assert poor.results[0].relevance < good / 3
    assert all(0 <= hit.relevance <= 1 for hit in poor.results)


def test_nothing_rather_than_noise(engine: Engine) -> None:
    answer = engine.search("vegetarian lasagna recipe with a schedule for puppies and trains")
    assert answer.low_confidence
    assert 0 < len(answer.results) <= MAX_GUESSES
    assert answer.notes == (NO_GOOD_HITS_NOTE,)
    shown = engine.search(
        "vegetarian lasagna recipe with a schedule for puppies and trains",
        SearchOptions(show_low_confidence=True),
    )
    assert not shown.low_confidence
    assert shown.results[0].path == "src/session.py"
    assert shown.results[0].relevance < WEAK_RELEVANCE


def test_what_is_too_weak_is_explained(engine: Engine) -> None:
    question = "a value of the vegetarian lasagna recipe for golden retriever puppies on satellites"
    hits = engine.search(question, SearchOptions(show_low_confidence=True)).results
    assert len(hits) > MAX_GUESSES
    told = engine.explain(question, hits[MAX_GUESSES].path, hits[MAX_GUESSES].start_line)
    assert (told.verdict, told.rank) == (Verdict.TOO_WEAK, MAX_GUESSES + 1)
    assert engine.explain(question, hits[0].path, hits[0].start_line).verdict is Verdict.SHOWN


def test_hits_below_a_score_are_left_out(engine: Engine) -> None:
    everything = engine.search("value of a part", SearchOptions(limit=50))
    middle = sorted(hit.relevance for hit in everything.results)[len(everything.results) // 2]
    some = engine.search("value of a part", SearchOptions(limit=50, min_relevance=middle))
    assert some.results == tuple(hit for hit in everything.results if hit.relevance >= middle)
    left_out = len(everything.results) - len(some.results)
    if left_out:
        assert some.notes == (
            f"{left_out} of {len(everything.results)} hits are below the relevance {middle:g}",
        )
    none = engine.search("value of a part", SearchOptions(limit=50, min_relevance=1.0))
    assert none.results == ()
    assert not none.low_confidence


def test_the_settings_say_so_too(engine: Engine) -> None:
    with Engine.open(engine.root, store="memory", min_relevance=1.0) as strict:
        assert strict.search("schedule").results == ()
    with Engine.open(engine.root, store="memory", show_low_confidence=True) as lenient:
        assert lenient.search("vegetarian lasagna recipe with a schedule for puppies and trains").results


def test_what_is_asked_for_in_so_many_words_is_relevant(engine: Engine) -> None:
    assert engine.search('"growing pauses"').results[0].relevance > 0.5
    assert engine.search("src/listing.py").results[0].relevance > 0.5


def test_where_no_word_is_known_a_model_of_words_guesses(engine: Engine) -> None:
    with Engine.open(engine.root, store="memory", embedder="hashing") as guessing:
        answer = guessing.search("Wiederholung mit Pausen")
    assert answer.low_confidence
    assert len(answer.results) <= MAX_GUESSES


def test_a_question_without_words_is_not_judged_by_them(engine: Engine) -> None:
    answer = engine.search("name:part_* kind:function", SearchOptions(limit=20))
    assert not answer.low_confidence
    assert len(answer.results) == 20


def test_other_models_may_know_the_language(engine: Engine) -> None:
    with engine.store.snapshot() as snapshot:
        judge = RelevanceModel(snapshot, analyze_text("Wiederholung mit Pausen", lambda _: False))
    assert judge.can_tell("static")
    assert not judge.can_tell("ollama:nomic-embed-text")


def test_in_a_small_tree_words_cannot_tell(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text("def schedule():\n    pass\n", encoding="utf-8")
    with Engine.open(tmp_path, store="memory") as engine:
        assert engine.search("a lasagna recipe, its schedule, puppies, trains, planets").results


def test_related_places_are_never_weak(engine: Engine) -> None:
    assert not engine.related("src/part_3.py").low_confidence


def test_an_explanation_has_the_same_relevance(engine: Engine) -> None:
    hit = engine.search("growing pauses").results[0]
    told = engine.explain("growing pauses", hit.path)
    assert told.result is not None
    assert told.result == hit


@pytest.mark.parametrize(
    "question",
    [
        "schedule",
        "value of a part",
        "vegetarian lasagna recipe with a schedule for puppies and trains",
        "retry lasagna puppies recipe",
        "where is the train schedule printed",
    ],
)
def test_whether_anything_is_good_does_not_depend_on_how_much_is_asked_for(
    engine: Engine, question: str
) -> None:
    assert (
        len(
            {
                engine.search(question, SearchOptions(limit=limit)).low_confidence
                for limit in (1, 2, 3, 10, 50)
            }
        )
        == 1
    )


def test_a_name_in_lower_case_is_relevant(tmp_path: Path) -> None:
    """``baseitemexporter`` has a stem that no index knows."""
    for number in range(60):
        (tmp_path / f"other_{number}.py").write_text(f"def other_{number}(item):\n    return item\n")
    (tmp_path / "export.py").write_text("class BaseItemExporter:\n    pass\n")
    with Engine.open(tmp_path, store="memory", embedder="none") as engine:
        answer = engine.search("baseitemexporter")
    assert not answer.low_confidence
    assert answer.results[0].entity == "BaseItemExporter"
    assert answer.results[0].relevance > 0.4
    assert [term.text for term in answer.query.terms] == ["baseitemexporter"]
