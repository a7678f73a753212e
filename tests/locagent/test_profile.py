"""The profile ``locagent``: how it cuts files, how it scores, and every way to ask for it."""

from __future__ import annotations

import json
import math
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from dowse import Engine
from dowse.code import parsing
from dowse.code.languages import load_builtin
from dowse.errors import UsageError
from dowse.interfaces.locagent_tools import EntityTools
from dowse.search.locagent.blocks import MAX_DEPTH, build_blocks
from dowse.search.locagent.chunks import LocAgentChunk, cut_chunks
from dowse.search.locagent.ranking import K1, B, split_words
from dowse.search.locagent.token_count import estimate_tokens
from dowse.types.answers import Match, SearchOptions
from dowse.types.source import Kind
from tests.source_trees import write_tree


def long_body(words: str, lines: int = 30) -> str:
    return "".join(f"        {words}_{n} = make({n})\n" for n in range(lines))


def cut(source: str) -> list[LocAgentChunk]:
    content = source.encode()
    tree, _ = parsing.parse(load_builtin().by_name["python"], content)
    assert tree is not None
    return cut_chunks("pkg/mod.py", build_blocks(content, tree, estimate_tokens))


def places(chunks: list[LocAgentChunk]) -> list[tuple[int, int]]:
    return [(chunk.start_line, chunk.end_line) for chunk in chunks]


def test_a_long_method_is_a_chunk_and_a_constructor_stays_with_its_class() -> None:
    constructor = f"class Pool:\n    def __init__(self):\n{long_body('size')}"
    first, second = cut(f"{constructor}\n    def fill(self):\n{long_body('item')}")
    assert (first.start_line, first.end_line) == (1, 32)
    assert [d.qualified for d in first.definitions] == ["Pool", "Pool.__init__"]
    assert (second.start_line, [d.qualified for d in second.definitions]) == (34, ["Pool.fill"])
    assert second.definitions[0].kind is Kind.METHOD


def test_what_is_small_joins_the_smaller_neighbour() -> None:
    big = "def big():\n" + "".join(f"    value_{n} = make({n})\n" for n in range(40))
    less = "def less():\n" + "".join(f"    value_{n} = make({n})\n" for n in range(25))
    assert places(cut(f"{big}\nX = 1\n\n{less}")) == [(1, 41), (43, 71)]
    assert places(cut(f"{less}\nX = 1\n\n{big}")) == [(1, 28), (30, 71)]


def test_a_chunk_is_searched_with_its_path_names_and_the_headers_around_it() -> None:
    source = f"class Pool(Base):\n    def open(self):\n{long_body('door')}\n    def fill(self):\n"
    chunk = cut(source + long_body("item"))[-1]
    assert chunk.text.startswith("file_path: pkg/mod.py\ncategory: implementation\nspan_ids: ['Pool.fill']\n")
    assert "class Pool(Base):" in chunk.text
    assert "def open" not in chunk.text


def test_legal_notices_at_the_top_level_are_left_out() -> None:
    chunks = cut('"""Copyright by somebody."""\n\nimport os\n\n# the author said so\n# and more\nprint(os)\n')
    assert places(chunks) == [(3, 8)]
    assert not any(word in chunks[0].text for word in ("opyright", "author", "more"))
    assert "print(os)" in chunks[0].text


def test_statements_may_nest_as_deeply_as_anybody_likes() -> None:
    depth = 3 * MAX_DEPTH
    source = "".join(f"{' ' * n}if x:\n" for n in range(depth)) + " " * depth + "y = 1\n"
    assert places(cut(source)) == [(1, depth + 2)]


def test_words_are_those_of_two_letters_in_lower_case_stemmed_without_stop_words() -> None:
    assert split_words("The get_UserId is a Running x of tests") == ["get_userid", "run", "test"]


FILES = {
    "src/pool.py": "def borrow():\n    return connection\n",
    "src/other.py": "def unrelated():\n    return 1\n",
    "src/third.py": "def also_unrelated():\n    return 2\n",
    "tests/test_pool.py": "def test_borrow():\n    borrow(connection)\n",
    "README.md": "How to borrow a connection.\n",
}


@pytest.fixture(scope="module")
def tree(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_tree(tmp_path_factory.mktemp("tree"), FILES)


@pytest.fixture(scope="module")
def engine(tree: Path) -> Iterator[Engine]:
    with Engine.open(tree, profile="locagent", embedder="none") as opened:
        yield opened


def test_it_says_whether_there_are_more(engine: Engine) -> None:
    assert engine.search("implementation", SearchOptions(limit=2)).has_more
    assert not engine.search("implementation", SearchOptions(limit=3)).has_more


def test_python_files_without_tests_are_ranked_and_only_those_that_share_a_word(engine: Engine) -> None:
    response = engine.search("borrow a connection")
    assert [hit.path for hit in response.results] == ["src/pool.py"]
    assert [(channel.name, channel.hits) for channel in response.channels] == [("locagent", 1)]
    (hit,) = response.results
    assert (hit.entity, hit.kind, hit.match) == ("borrow", Kind.FUNCTION, Match.KEYWORD)
    assert [(reason.name, reason.value) for reason in hit.reasons] == [("bm25", hit.score)]
    assert 0 < hit.relevance < 1


def test_the_score_is_bm25_by_its_formula(engine: Engine) -> None:
    texts = [chunk.text for path in FILES if path.startswith("src") for chunk in _chunks_of(path)]
    lengths = [len(split_words(text)) for text in texts]
    (hit,) = engine.search("connection").results
    idf = math.log(1 + (3 - 1 + 0.5) / (1 + 0.5))
    norm = K1 * (1 - B + B * lengths[0] / (sum(lengths) / 3))
    assert hit.score == pytest.approx(idf * 1 / (1 + norm))


def _chunks_of(path: str) -> list[LocAgentChunk]:
    content = FILES[path].encode()
    tree, _ = parsing.parse(load_builtin().by_name["python"], content)
    assert tree is not None
    return cut_chunks(path, build_blocks(content, tree, estimate_tokens))


def test_filters_and_what_is_below_the_wanted_relevance(engine: Engine) -> None:
    assert not engine.search("connection -path:src/pool.py").results
    assert not engine.search("connection kind:class").results
    assert engine.search("connection kind:function").results
    assert not engine.search("connection", SearchOptions(min_relevance=0.99)).results


def test_what_the_profile_cannot_do_is_said(engine: Engine) -> None:
    assert any("phrases" in note for note in engine.search('"return connection" borrow').notes)
    listed = engine.search("kind:function")
    assert not listed.results and any("lists by filters" in note for note in listed.notes)
    with pytest.raises(UsageError, match="profile 'dowse'"):
        engine.explain("connection", "src/pool.py")


def test_a_change_is_seen(tmp_path: Path) -> None:
    (tmp_path / "one.py").write_text("def first():\n    return alpha\n")
    with Engine.open(tmp_path, profile="locagent", embedder="none") as engine:
        assert engine.search("alpha").results and not engine.search("beta").results
        (tmp_path / "two.py").write_text("def second():\n    return beta\n")
        engine.force_check()
        assert [hit.path for hit in engine.search("beta").results] == ["two.py"]


def test_entities_use_it_below_their_names(engine: Engine) -> None:
    (group,) = EntityTools(engine).search_entities("connection of the pool")["results"]
    assert [(entity["id"], entity["source"]) for entity in group["entities"]] == [
        ("src/pool.py:borrow", "content")
    ]


def test_the_command_line_and_eval_know_it(tree: Path, tmp_path: Path) -> None:
    def run(*arguments: str) -> str:
        command = [sys.executable, "-m", "dowse", *arguments, "-p", str(tree), "--embedder", "none", "--json"]
        return subprocess.run(command, capture_output=True, text=True, check=True).stdout

    found = json.loads(run("search", "borrow a connection", "--profile", "locagent"))
    assert [hit["path"] for hit in found["results"]] == ["src/pool.py"]
    listed = json.loads(run("entities", "borrow a connection", "--profile", "locagent"))
    assert [entity["id"] for entity in listed["entities"]] == ["src/pool.py:borrow"]
    truth = tmp_path / "truth.jsonl"
    truth.write_text('{"query": "borrow a connection", "relevant": ["src/pool.py"]}\n')
    report = json.loads(run("eval", str(truth), "--compare", "profile=locagent"))
    assert "profile=locagent" in json.dumps(report)
