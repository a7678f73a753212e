"""Exact phrases and patterns: a hit must have them."""

import re
import sys
from collections.abc import Iterator
from pathlib import Path

import hypothesis.strategies as st
import pytest
from hypothesis import given, settings

from dowse import Engine
from dowse.errors import DowseError, PatternTooSlow, UsageError
from dowse.search.channels import regex_worker
from dowse.types.answers import Match, SearchOptions, SearchResponse
from dowse.types.explanations import Verdict
from dowse.types.source import Kind
from dowse.types.stored import Filter


@pytest.fixture
def engine(tmp_path: Path) -> Iterator[Engine]:
    root = tmp_path / "tree"
    (root / "tests").mkdir(parents=True)
    (root / "net.py").write_text(
        "def connect():\n    raise OSError('Connection  reset by peer')\n\n\ndef close():\n    pass  # connection\n"
    )
    (root / "pool.py").write_text(
        "class ConnectionPool:\n    '''A pool of connections; reset when stale.'''\n"
    )
    (root / "tests" / "test_net.py").write_text(
        "def test_connect():\n    assert 'connection reset by peer'\n"
    )
    with Engine.open(root) as engine:
        yield engine


def paths(response: SearchResponse) -> list[str]:
    return sorted({result.path for result in response.results})


def test_phrase_is_required_and_white_space_may_differ(engine: Engine) -> None:
    response = engine.search('"connection reset by peer"')
    assert paths(response) == ["net.py", "tests/test_net.py"]
    assert all(result.match is Match.EXACT for result in response.results)


def test_a_phrase_that_nothing_has_is_searched_for_by_its_words(engine: Engine) -> None:
    response = engine.search('"connection pool stale"')
    assert response.relaxed
    assert response.results[0].path == "pool.py"
    assert "as written" in response.notes[0]


def test_a_filter_that_leaves_nothing_is_lifted_and_said_so(engine: Engine) -> None:
    response = engine.search('"connection reset" path:docs/**')
    assert response.relaxed
    assert paths(response)
    assert any("without them" in note for note in response.notes)
    assert not engine.search(r"/nothing_like_this/ lang:go").results, "there are no words to search for"


def test_the_filter_of_a_caller_is_never_lifted(engine: Engine) -> None:
    options = SearchOptions(filter=Filter(paths=("tests/**",)))
    assert {hit.path for hit in engine.search('"pool of nothing" reset', options).results} <= {
        "tests/test_net.py"
    }


def test_capitals_in_a_phrase_count(engine: Engine) -> None:
    assert paths(engine.search('"Connection reset"')) == ["net.py"]


def test_words_beside_a_phrase_only_weigh(engine: Engine) -> None:
    response = engine.search('pool stale "connection reset"')
    assert paths(response) == ["net.py", "tests/test_net.py"]


def test_regex(engine: Engine) -> None:
    assert paths(engine.search(r"/raise \w+Error/")) == ["net.py"]
    assert paths(engine.search(r"/^class\s/")) == ["pool.py"]
    assert paths(engine.search(r"/CONNECTIONPOOL/i")) == ["pool.py"]
    assert paths(engine.search(r"/nothing_like_this/")) == []


def test_all_patterns_are_required(engine: Engine) -> None:
    assert paths(engine.search(r'"connection" /raise/')) == ["net.py"]


def test_filters_act_on_phrases(engine: Engine) -> None:
    assert paths(engine.search('"connection reset" is:test')) == ["tests/test_net.py"]
    assert paths(engine.search('"connection reset" -path:tests')) == ["net.py"]
    assert paths(engine.search('"connection" kind:class')) == ["pool.py"]


def test_only_filters_list_what_passes_by_path(engine: Engine) -> None:
    response = engine.search("lang:py -path:tests")
    assert [hit.path for hit in response.results] == ["net.py", "pool.py"]
    assert {hit.relevance for hit in response.results} == {1.0}
    assert response.query.type == "filters"


def test_only_a_kind_lists_its_definitions(engine: Engine) -> None:
    hits = engine.search("kind:class").results
    assert hits
    assert {hit.kind for hit in hits} == {Kind.CLASS}
    assert {hit.match for hit in hits} == {Match.EXACT}
    assert engine.search("kind:cell").results == ()


def test_an_empty_phrase_asks_for_nothing(engine: Engine) -> None:
    with pytest.raises(UsageError, match="the query asks for nothing"):
        engine.search('""')


def test_a_name_pattern_is_enough(engine: Engine) -> None:
    assert [r.entity for r in engine.search("name:*pool").results] == ["ConnectionPool"]


def test_hits_point_at_the_lines_that_match(engine: Engine) -> None:
    (hit,) = engine.search(r"/raise OSError/").results
    assert hit.start_line <= 2 <= hit.end_line


SLOW = "a" * 57 + "b\n"
"""For ``/^(a+)+$/``, a day's work."""


def test_pattern_that_takes_too_long_is_an_error(engine: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    (engine.root / "slow.txt").write_text(SLOW)
    monkeypatch.setattr(regex_worker, "GROUP_SECONDS", 0.3)
    with pytest.raises(PatternTooSlow, match=r"^/\^\(a\+\)\+\$/ takes too long: .* at slow\.txt"):
        engine.search("/^(a+)+$/")
    with pytest.raises(PatternTooSlow, match="takes too long"):
        engine.explain("/^(a+)+$/ connection", "slow.txt")
    assert paths(engine.search("/^(a+)+$/ -path:slow.txt")) == []
    assert paths(engine.search("/^a+b$/")) == ["slow.txt"]  # and the next one is answered


def test_all_files_together_have_a_limit(engine: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(regex_worker, "TOTAL_SECONDS", 0.0)
    monkeypatch.setattr(regex_worker, "GROUP_BYTES", 1)
    with pytest.raises(PatternTooSlow, match="takes too long"):
        engine.search(r"/\w+/")


def test_no_process_for_patterns_is_an_error(engine: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "executable", str(engine.root / "nothing"))
    assert paths(engine.search('"connection reset"')) == ["net.py", "tests/test_net.py"]
    with pytest.raises(DowseError, match="no process can be started"):
        engine.search("/connection/")


def test_explanation_names_the_pattern_that_a_file_lacks(engine: Engine) -> None:
    told = engine.explain('"connection" /raise/ /assert/', "net.py")
    assert (told.verdict, told.detail) == (Verdict.FILTERED, "the file lacks /assert/")


@pytest.mark.parametrize("pattern", [r"\u00e9", r"\N{DIGIT ONE}", "(?u)x"])
def test_patterns_are_of_bytes(engine: Engine, pattern: str) -> None:
    with pytest.raises(UsageError, match="is not valid"):
        engine.search(f"/{pattern}/")


@pytest.mark.parametrize("question", ['"x\udcff"', "/x\ud800/"])
def test_what_is_not_text_is_not_found(engine: Engine, question: str) -> None:
    assert paths(engine.search(question)) == []


@settings(max_examples=20, deadline=None)
@given(st.lists(st.binary(max_size=300), max_size=8), st.integers(1, 5))
def test_process_finds_what_re_finds(texts: list[bytes], limit: int) -> None:
    asked = [(rb"[\x00-\x40]+", int(re.MULTILINE)), (rb"$", int(re.MULTILINE))]
    found = dict(regex_worker.search(asked, enumerate(texts), limit))
    for id, text in enumerate(texts):
        each = [[m.start() for m in re.finditer(p, text, flags)][:limit] for p, flags in asked]
        assert found.get(id) == (each if all(each) else None)
