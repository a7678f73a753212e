"""The entity tools under both sets of names, on a real index."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from dowse import Engine
from dowse.interfaces.locagent_tools import EntityTools

FILES = {
    "src/pool.py": "class Pool:\n    def get(self):\n        return self.open()\n\n    def open(self):\n"
    "        return Connection()\n\n\nclass Connection:\n    def send(self, text):\n        return text\n",
    "src/app.py": "from src.pool import Pool\n\n\ndef main():\n    return Pool().get()\n",
    "src/long.py": "class Long:\n"
    + "".join(f"    def step_{n}(self):\n        return {n}\n\n" for n in range(40)),
    "notes.md": "# Notes\n\nHow a connection is opened.\n",
}


@pytest.fixture(scope="module")
def tools(tmp_path_factory: pytest.TempPathFactory) -> Iterator[EntityTools]:
    root: Path = tmp_path_factory.mktemp("tree")
    for path, text in FILES.items():
        (root / path).parent.mkdir(exist_ok=True)
        (root / path).write_text(text, encoding="utf-8")
    with Engine.open(root, embedder="none") as engine:
        yield EntityTools(engine)


def test_a_name_is_found_by_its_tier_and_shown(tools: EntityTools) -> None:
    found = tools.search_entities("Connection", entity_types=["class"], use_bm25=False)
    (entity,) = found["results"][0]["entities"]
    assert (entity["id"], entity["type"], entity["source"]) == ("src/pool.py:Connection", "class", "exact")
    assert "10 |     def send(self, text):" in entity["code"]
    assert found["metadata"]["tiers"] == ["exact"]


def test_an_id_is_shown_complete_and_a_long_class_as_its_skeleton(tools: EntityTools) -> None:
    found = tools.search_entities(search_terms=["src/pool.py:Pool.get", "Long"], use_bm25=False)
    first, second, together = found["results"]
    assert first["entities"][0]["detail"] == "complete"
    long, file = second["entities"]
    assert (long["detail"], long["score"]) == ("preview", 1.0)
    assert (file["id"], file["type"], file["source"]) == ("src/long.py", "file", "file")
    assert "def step_39" in long["code"]
    assert "return 39" not in long["code"]
    assert together["term"] == "src/pool.py:Pool.get Long"


def test_folded_results_are_ids_and_a_hint(tools: EntityTools) -> None:
    (group,) = tools.search_entities("step_*", limit=3, snippet_mode="fold", use_bm25=False)["results"]
    assert [entity["code"] for entity in group["entities"]] == ["", "", ""]
    assert "retrieve_entity" in group["hint"]


def test_what_a_larger_range_shows_is_not_shown_again(tools: EntityTools) -> None:
    found = tools.search_entities(search_terms=["Connection", "Connection.send"], use_bm25=False)
    assert [len(group["entities"]) for group in found["results"][:2]] == [1, 0]


def test_lines_of_a_file(tools: EntityTools) -> None:
    found = tools.search_entities(line_nums=[3], file_pattern="src/pool.py")
    (entity,) = found["results"][0]["entities"]
    assert entity["id"] == "src/pool.py:Pool.get"


def test_traversal_in_both_directions(tools: EntityTools) -> None:
    graph = tools.traverse_graph(["src/app.py:main"], "forward", 2, ["invokes"])
    assert {(s["from"], s["relation"], s["to"]) for s in graph["steps"]} == {
        ("src/app.py:main", "invokes", "src/pool.py:Pool"),
        ("src/app.py:main", "invokes", "src/pool.py:Pool.get"),
        ("src/pool.py:Pool.get", "invokes", "src/pool.py:Pool.open"),
    }
    assert len(tools.traverse_graph(["src/app.py:main"], "forward", -1, ["invokes"])["steps"]) > 3
    tree = tools.explore_tree_structure(["src/pool.py:Pool.open"], "upstream", 2, None, ["invokes"])
    assert "invoked-by src/pool.py:Pool.get" in tree
    assert "invoked-by src/app.py:main" in tree


def test_contents_are_numbered_and_complete(tools: EntityTools) -> None:
    (entity,) = tools.retrieve_entity("src/pool.py:Pool.open")["entities"]
    assert entity["code"] == "5 |     def open(self):\n6 |         return Connection()"
    assert entity["lines"] == [5, 6]
    assert "1 | from src.pool import Pool" in tools.get_entity_contents(["src/app.py"])


def test_snippets_as_text(tools: EntityTools) -> None:
    text = tools.search_code_snippets(["Pool"])
    assert "src/pool.py:Pool (class, exact, snippet)" in text
    assert "notes.md" not in text, "the default pattern is for Python files"


@pytest.mark.parametrize(
    ("call", "code"),
    [
        (lambda t: t.traverse_graph(["src/pool.py:Poool"]), "ENTITY_NOT_FOUND"),
        (lambda t: t.traverse_graph(["src/pool.py"], "sideways"), "INVALID_ARGUMENT"),
        (lambda t: t.traverse_graph(["src/pool.py"], depth=11), "INVALID_ARGUMENT"),
        (lambda t: t.search_entities(), "INVALID_ARGUMENT"),
        (lambda t: t.search_entities("x", limit=101), "INVALID_ARGUMENT"),
        (lambda t: t.retrieve_entity("no.py:Thing")["entities"][0], "ENTITY_NOT_FOUND"),
        (lambda t: EntityTools(t._engine, seconds=-1).search_entities("x"), "TIMEOUT"),
    ],
)
def test_errors_have_codes(tools: EntityTools, call: object, code: str) -> None:
    answer = call(tools)  # type: ignore[operator]
    assert answer["error"]["code"] == code


def test_an_unknown_id_comes_with_suggestions(tools: EntityTools) -> None:
    assert "src/pool.py:Pool" in tools.explore_tree_structure(["src/pool.py:Poool"])
