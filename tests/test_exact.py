"""Exact phrases and patterns: a hit must have them."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from dowse import Engine
from dowse.errors import UsageError
from dowse.types import Match, SearchResponse


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


def test_only_filters_is_an_error_that_says_what_to_add(engine: Engine) -> None:
    with pytest.raises(UsageError, match="only has filters"):
        engine.search("lang:py path:src")


def test_a_name_pattern_is_enough(engine: Engine) -> None:
    assert [r.entity for r in engine.search("name:*pool").results] == ["ConnectionPool"]


def test_hits_point_at_the_lines_that_match(engine: Engine) -> None:
    (hit,) = engine.search(r"/raise OSError/").results
    assert hit.start_line <= 2 <= hit.end_line
