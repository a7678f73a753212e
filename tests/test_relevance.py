"""How relevant a hit is: the same for every query, and nothing rather than noise."""

import math
from collections.abc import Iterator, Mapping
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dowse import Engine, SearchOptions
from dowse.code import tokens
from dowse.code.chunk_fields import build_passages, chunk_terms, find_shared_tokens
from dowse.search.output.respond import MAX_GUESSES
from dowse.search.ranking.calibration import (
    DIRECT_CHANNELS,
    EVIDENCE,
    MIN_CHUNKS,
    WEAK_RELEVANCE,
    can_tell_weak,
)
from dowse.search.ranking.candidates import Candidate
from dowse.search.ranking.features import FILE_FEATURES, TEXT_FEATURES
from dowse.search.ranking.model import make_model
from dowse.types.answers import NO_GOOD_HITS_NOTE
from dowse.types.explanations import Verdict
from tests.test_ranking_features import stored

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

NAMES = (*FILE_FEATURES, *TEXT_FEATURES)
MODEL = make_model((1.0, 0.3, 0.7, 0.5, 0.5, 0.0, 0.0)).relevance


def values(**given: float) -> tuple[float, ...]:
    """The features of a file: those given, and zeros."""
    assert given.keys() <= set(NAMES)
    return tuple(given.get(name, 0.0) for name in NAMES)


def make_candidates(*scores: float, direct: Mapping[int, tuple[str, float]] | None = None) -> list[Candidate]:
    """Candidates of these scores; what a channel contributes to some of them, by their position."""
    file = stored(1, "a.py")
    return [
        Candidate(n, 0, file, file.parsed.chunks[0], score, [(*(direct or {}).get(n, ("lexical", 1.0)), 1)])
        for n, score in enumerate(scores)
    ]


def test_that_of_the_first_hit_is_a_logistic_function_of_the_evidence() -> None:
    weights = dict(zip(EVIDENCE, MODEL.weights, strict=True))
    x = MODEL.intercept + 0.5 * weights["places_coverage"] + 0.25 * weights["best_cosine"] + weights["phrase"]
    first = values(places_coverage=0.5, best_cosine=0.25, phrase=1.0, depth=7.0)
    assert MODEL.estimate_first(first) == pytest.approx(1 / (1 + math.exp(-x)))


@pytest.mark.parametrize("name", EVIDENCE)
def test_more_evidence_is_never_less_relevant(name: str) -> None:
    assert MODEL.estimate_first(values(**{name: 1.0})) >= MODEL.estimate_first(values())


def test_what_is_no_evidence_does_not_count() -> None:
    others = {name: 1.0 for name in NAMES if name not in EVIDENCE}
    assert MODEL.estimate_first(values(**others)) == MODEL.estimate_first(values())


def test_further_hits_are_less_relevant_by_how_far_they_are_behind() -> None:
    found = MODEL.estimate(0.8, make_candidates(3.0, 2.5, 2.5, -1.0))
    gap = MODEL.gap_weight
    assert [found[n, None] for n in range(4)] == pytest.approx(
        [0.8, 0.8 * math.exp(-0.5 * gap), 0.8 * math.exp(-0.5 * gap), 0.8 * math.exp(-4 * gap)]
    )


@given(
    first=st.floats(0, 1),
    scores=st.lists(st.floats(-50, 50), min_size=1, max_size=20),
    sure=st.dictionaries(st.integers(0, 19), st.tuples(st.sampled_from([*DIRECT_CHANNELS]), st.floats(0, 9))),
)
def test_it_is_a_probability_that_never_rises(
    first: float, scores: list[float], sure: dict[int, tuple[str, float]]
) -> None:
    candidates = make_candidates(*sorted(scores, reverse=True), direct=sure)
    found = [MODEL.estimate(first, candidates)[candidate.key] for candidate in candidates]
    assert all(0.0 <= relevance <= 1.0 for relevance in found)
    assert found == sorted(found, reverse=True)


@pytest.mark.parametrize("name", DIRECT_CHANNELS)
def test_what_the_query_names_is_at_least_as_relevant_as_its_channel_is_sure(name: str) -> None:
    full = DIRECT_CHANNELS[name]
    found = MODEL.estimate(0.01, make_candidates(2.0, 1.0, direct={0: (name, full), 1: (name, 0.4 * full)}))
    assert [found[0, None], found[1, None]] == pytest.approx([1.0, 0.4])
    behind = MODEL.estimate(0.01, make_candidates(2.0, 1.0, direct={1: (name, full)}))
    assert behind[1, None] <= behind[0, None] == pytest.approx(0.01), "never more than the one before"


def test_nothing_in_common_is_weak() -> None:
    assert MODEL.estimate_first(values()) < WEAK_RELEVANCE / 2
    everything = dict.fromkeys(EVIDENCE, 1.0)
    assert MODEL.estimate_first(values(**everything)) > 0.9


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


@pytest.mark.parametrize("fusion", ["learned", "scores", "rrf", "zscore"])
def test_it_falls_from_hit_to_hit(engine: Engine, fusion: str) -> None:
    with Engine.open(engine.root, store="memory", embedder="hashing", fusion=fusion) as other:
        for query in ("value of a part", "retry with growing pauses", "src/part_3.py", "listing.py:1 value"):
            hits = other.search(query, SearchOptions(limit=50, show_low_confidence=True)).results
            assert len(hits) > 1
            assert all(1.0 >= one.relevance >= after.relevance >= 0.0 for one, after in pairwise(hits))


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


@pytest.mark.parametrize(
    ("query", "embedder", "can_tell"),
    [
        ("retry with pauses", "static", True),
        ("retry with pauses", "ollama:nomic-embed-text", True),
        ("Wiederholung mit Pausen", "static", True),
        ("Wiederholung mit Pausen", "hashing", True),
        ("Wiederholung mit Pausen", "none", True),
        ("Wiederholung mit Pausen", "ollama:nomic-embed-text", False),  # it may know the language
        ("name:part_* kind:function", "static", False),  # whatever has the name is right
        ('"growing pauses"', "static", False),
    ],
)
def test_when_relevance_tells_that_nothing_is_good(
    engine: Engine, query: str, embedder: str, can_tell: bool
) -> None:
    with engine.candidates(query) as context:
        assert can_tell_weak(context, embedder) is can_tell


def test_in_a_small_tree_words_cannot_tell(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text("def schedule():\n    pass\n", encoding="utf-8")
    with Engine.open(tmp_path, store="memory") as engine:
        answer = engine.search("a lasagna recipe, its schedule, puppies, trains, planets")
        assert answer.results and not answer.low_confidence
        with engine.candidates("schedule") as context:
            assert context.snapshot.chunk_count() < MIN_CHUNKS
            assert not can_tell_weak(context, "static")


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
