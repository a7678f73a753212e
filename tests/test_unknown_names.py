"""Queries that are a name which the tree does not have, nor anything like it: meaning is asked."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from dowse import Engine
from dowse.types.answers import SearchResponse

FILES = {
    "src/disk.py": 'def rm_rf(path):\n    """Delete a folder with everything in it, recursively."""\n    erase(path)\n',
    "src/pool.py": "class SessionPool:\n    def borrow(self):\n        return self.free.pop()\n",
    "src/text.py": 'def shout(line):\n    """Write a line in capitals."""\n    return line.upper()\n',
    "src/math.py": 'def mean(values):\n    """Compute an average."""\n    return sum(values) / len(values)\n',
}
UNKNOWN = "deleteFolderRecursively"


@pytest.fixture(scope="module")
def tree(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("tree")
    for path, text in FILES.items():
        (root / path).parent.mkdir(exist_ok=True)
        (root / path).write_text(text, encoding="utf-8")
    return root


@pytest.fixture(scope="module")
def engine(tree: Path) -> Iterator[Engine]:
    with Engine.open(tree, show_low_confidence=True) as opened:
        yield opened


def ran(response: SearchResponse, channel: str) -> bool:
    return next(report.ran for report in response.channels if report.name == channel)


def notes(response: SearchResponse) -> str:
    return "\n".join(response.notes)


def test_a_name_that_nothing_has_is_found_by_meaning_and_the_answer_says_so(engine: Engine) -> None:
    response = engine.search(UNKNOWN)
    assert response.results[0].entity == "rm_rf"
    assert ran(response, "dense")
    assert f"nothing is called '{UNKNOWN}'" in notes(response)


@pytest.mark.parametrize("query", ["rm_rf", "SessionPool", "Session*", "pool.py"])
def test_a_name_that_something_has_is_meant_as_it_is_written(engine: Engine, query: str) -> None:
    response = engine.search(query)
    assert not ran(response, "dense")
    assert "nothing is called" not in notes(response)


def test_meaning_does_not_count_where_something_is_nearly_called_so(engine: Engine) -> None:
    assert not ran(engine.search("SessionPol"), "dense")


def test_a_file_that_is_not_there_is_looked_for_by_meaning(engine: Engine) -> None:
    response = engine.search("delete_folder.py")
    assert ran(response, "dense") and "nothing is called 'delete_folder.py'" in notes(response)


def test_meaning_stays_off_if_it_is_off(tree: Path) -> None:
    with Engine.open(tree, hybrid="off") as engine:
        response = engine.search(UNKNOWN)
        assert not ran(response, "dense") and "nothing is called" not in notes(response)


def test_a_name_counts_as_unknown_within_the_filter(engine: Engine) -> None:
    assert ran(engine.search("SessionPol path:src/text.py"), "dense")
