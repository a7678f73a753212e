"""Why a place is where it is in an answer: the explanation, held against the search it explains."""

from collections.abc import Iterator

import pytest

from dowse import Engine, SearchOptions
from dowse.errors import UsageError
from dowse.search.channels.request import DEPTH_STEP
from dowse.search.ranking.learned_ranking import READ_FILES
from dowse.types.explanations import Explanation, Verdict

FILES = {
    "src/retry.py": (
        "def retry_with_backoff(call, attempts=3):\n"
        '    """Call again, with growing pauses."""\n'
        "    for attempt in range(attempts):\n"
        "        pause(2**attempt)\n"
    ),
    "src/session.py": "class Token:\n    def refresh(self):\n        return renew(self)\n",
    "src/queue.py": "def drain(queue):\n    while queue:\n        retry(queue.pop())\n",
    "tests/test_retry.py": "def test_retry_gives_up():\n    assert retry_with_backoff(None)\n",
    "server.go": "package server\n\n// Listen waits and does retry.\nfunc Listen() error {\n    return nil\n}\n",
    ".gitignore": "*.log\nbuild/\n",
    "noise.log": "retry\n",
    "build/out.py": "retry = 1\n",
    **{f"many/part_{n}.py": f"def part_{n}():\n    return retry_limit + {n}\n" for n in range(120)},
}


LONG_FILES = {
    f"{name}.py": "\n\n".join(
        f"def {name}_{n}():\n    return retry_limit + {n}\n    # {'.' * 900}" for n in range(40)
    )
    for name in ("first", "second")
}
"""Together they have more places for a query than one answer shows."""


@pytest.fixture(scope="module")
def long_files(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Engine]:
    root = tmp_path_factory.mktemp("long")
    for path, text in LONG_FILES.items():
        (root / path).write_text(text, encoding="utf-8")
    with Engine.open(root, store="memory", embedder="none") as engine:
        yield engine


@pytest.fixture(scope="module")
def engine(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Engine]:
    root = tmp_path_factory.mktemp("explained")
    for path, text in FILES.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text, encoding="utf-8")
    with Engine.open(root, store="memory", embedder="none") as engine:
        yield engine


@pytest.mark.parametrize("query", ["retry backoff", "Token.refresh", "growing pauses", "src/queue.py drain"])
def test_it_says_what_the_search_did(engine: Engine, query: str) -> None:
    answer = engine.search(query)
    assert answer.results
    for rank, hit in enumerate(answer.results, 1):
        told = engine.explain(query, hit.path, hit.start_line)
        assert (told.verdict, told.rank) == (Verdict.SHOWN, rank)
        assert told.result is not None
        assert (told.result.score, told.result.reasons) == (hit.score, hit.reasons)
        assert [rival.path for rival in told.above] == [r.path for r in answer.results[: min(3, rank - 1)]]
        found_by = {standing.name for standing in told.channels if standing.rank}
        by_rank = {reason.name for reason in hit.reasons if reason.detail.startswith("rank ")}
        assert found_by == by_rank, "a channel that found another place of the file counts, but has no rank"


def test_a_place_below_what_is_shown(engine: Engine) -> None:
    told = engine.explain("retry backoff", "src/queue.py", options=SearchOptions(limit=1))
    assert told.verdict is Verdict.RANKED
    assert 1 < told.rank <= told.candidates
    assert _missing(told) == ["backoff"]
    assert told.above[0].path == "src/retry.py"
    assert told.above[0].terms == ("backoff",)


def test_a_rank_is_that_of_a_longer_answer(engine: Engine) -> None:
    longer = engine.search("retry limit", SearchOptions(limit=50)).results
    told = engine.explain("retry limit", longer[-1].path)
    assert told.verdict is Verdict.RANKED
    assert told.rank == len(longer) == 50 <= told.candidates


def test_every_longer_answer_begins_with_the_shorter(long_files: Engine) -> None:
    whole = long_files.search(
        "retry limit", SearchOptions(limit=DEPTH_STEP, show_low_confidence=True)
    ).results
    assert len(whole) == DEPTH_STEP
    assert {hit.path for hit in whole} == set(LONG_FILES)
    assert sorted(whole, key=lambda hit: -hit.score) == list(whole)
    for limit in (1, 10, READ_FILES, READ_FILES + 1, DEPTH_STEP - 1):
        asked = SearchOptions(limit=limit, show_low_confidence=True)
        assert long_files.search("retry limit", asked).results == whole[:limit]


def test_the_last_place_is_explained_like_the_first(long_files: Engine) -> None:
    last = long_files.search(
        "retry limit", SearchOptions(limit=DEPTH_STEP, show_low_confidence=True)
    ).results[-1]
    told = long_files.explain(
        "retry limit", last.path, last.start_line, SearchOptions(show_low_confidence=True)
    )
    assert (told.verdict, told.rank) == (Verdict.RANKED, DEPTH_STEP)
    assert told.result == last
    assert last.score == pytest.approx(sum(reason.value for reason in last.reasons))
    assert ("place", "another place of the file is better") in {(r.name, r.detail) for r in last.reasons}


def test_files_whose_text_is_not_read_are_ranked_and_explained(engine: Engine) -> None:
    results = engine.search("retry limit", SearchOptions(limit=50)).results
    assert len({hit.path for hit in results}) > READ_FILES
    unread = [hit for hit in results if "coverage" not in {reason.name for reason in hit.reasons}]
    assert unread
    for hit in unread:
        assert hit.score == pytest.approx(sum(reason.value for reason in hit.reasons))
        told = engine.explain("retry limit", hit.path, options=SearchOptions(limit=50))
        assert told.result == hit


def test_a_longer_answer_has_more_candidates(engine: Engine) -> None:
    found = {hit.path for hit in engine.search("retry limit", SearchOptions(limit=1000)).results}
    assert found > {path for path in FILES if path.startswith("many/")}


def test_a_place_that_no_channel_ranks_high_enough(engine: Engine) -> None:
    all_told = (engine.explain("retry limit", path) for path in FILES if path.startswith("many/"))
    told = next(told for told in all_told if told.verdict is Verdict.NOT_CONSIDERED)
    assert (told.rank, told.result) == (0, None)
    lexical = next(standing for standing in told.channels if standing.name == "lexical")
    assert lexical.considered == 50
    assert lexical.rank > 50
    assert 0 < lexical.score <= lexical.last <= lexical.best


def test_a_place_that_has_nothing_of_the_question(engine: Engine) -> None:
    told = engine.explain("retry backoff", "src/session.py", 2)
    assert told.verdict is Verdict.NOT_CONSIDERED, "nor does it mean anything like it"
    assert _missing(told) == ["retri", "backoff"]
    assert not any(standing.rank for standing in told.channels)


@pytest.mark.parametrize(
    ("query", "path", "detail"),
    [
        ("retry lang:python", "server.go", "lang:python"),
        ("retry -path:tests -lang:go", "tests/test_retry.py", "-path:tests"),
        ("retry is:source kind:class", "tests/test_retry.py", "is:source kind:class"),
        ("retry changed:2999-01-01", "src/retry.py", "changed:"),
        ("retry name:Token", "src/retry.py", "name:Token"),
        ('"growing pauses"', "src/queue.py", 'the file lacks "growing pauses"'),
        ("/pause.2/i", "src/queue.py", "the file lacks /pause.2/i"),
    ],
)
def test_a_place_that_is_filtered_out(engine: Engine, query: str, path: str, detail: str) -> None:
    told = engine.explain(query, path)
    assert (told.verdict, told.detail) == (Verdict.FILTERED, detail)


@pytest.mark.parametrize(
    ("path", "said"),
    [
        ("noise.log", ".gitignore:1 *.log"),
        ("build/out.py", "build/"),
        ("nowhere.py", "not there"),
        ("../elsewhere.py", "outside the root"),
    ],
)
def test_a_place_that_is_not_indexed(engine: Engine, path: str, said: str) -> None:
    told = engine.explain("retry", path)
    assert told.verdict is Verdict.SKIPPED
    assert said in told.detail


def test_a_line_in_the_middle_of_a_hit_is_part_of_it(engine: Engine) -> None:
    assert engine.explain("growing pauses", "src/retry.py", 4).verdict is Verdict.SHOWN


def test_every_stage_is_timed(engine: Engine) -> None:
    stages = engine.search("how to retry").stages
    assert [stage.name for stage in stages] == [
        "refresh",
        "analyze",
        "cache",
        "keywords",
        "retrieve",
        "fuse",
        "rank",
        "expand",
    ]
    assert all(stage.milliseconds >= 0 for stage in stages)
    assert engine.explain("retry", "src/retry.py").stages[-1].name == "expand"


def test_an_empty_question(engine: Engine) -> None:
    with pytest.raises(UsageError):
        engine.explain("  ", "src/retry.py")


def _missing(told: Explanation) -> list[str]:
    return [term.text for term in told.terms if not term.fields]
