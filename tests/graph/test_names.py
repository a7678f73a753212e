"""What a name means that several nodes have: a class and its constructor, a definition and its declarations."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from dowse.graph import build
from dowse.graph.traversal import Graph
from dowse.stores.memory import MemoryStore
from dowse.types.graph_values import Direction, GraphAnswer, Relation, Walk
from tests.stores.building import write

from .trees import calls, edges, graph_of

JAVA = {
    "a/Pool.java": "package a;\n\nclass Pool {\n  Pool() {\n    open();\n  }\n  void open() {}\n"
    "  Pool copy(Pool other) {\n    other.open();\n    return new Pool();\n  }\n}\n",
    "a/Use.java": "package a;\n\nclass Use {\n  void run() {\n    new Pool();\n  }\n}\n",
}
CSHARP = {
    "Pool.cs": "class Pool {\n  public Pool() {\n  }\n}\n",
    "Use.cs": "class Use {\n  void Run() {\n    new Pool();\n  }\n}\n",
}
CPP = {
    "pool.hpp": "class Pool {\n public:\n  Pool() {\n  }\n};\n",
    "use.cpp": '#include "pool.hpp"\n\nvoid run() {\n  new Pool();\n}\n',
}
KOTLIN = {
    "a/Pool.kt": "package a\n\nclass Pool {\n    constructor(size: Int) {\n    }\n}\n",
    "a/Use.kt": "package a\n\nfun run() {\n    Pool(1)\n}\n",
}
PHP = {
    "src/Pool.php": "<?php\nclass Pool {\n  function __construct() {\n  }\n}\n",
    "src/Use.php": "<?php\nfunction run() {\n  new Pool();\n}\n",
}
PYTHON = {
    "pool.py": "class Pool:\n    def __init__(self):\n        pass\n",
    "use.py": "from pool import Pool\n\n\ndef run():\n    Pool()\n",
}


def reached(answer: GraphAnswer) -> list[str]:
    return [step.node for step in answer.steps]


def callers(graph: Graph, id: str) -> list[str]:
    return reached(graph.find_neighbours("callers", id, Walk(), backward=True))


@pytest.mark.parametrize(
    ("tree", "made", "constructor", "user"),
    [
        (JAVA, "a/Pool.java:Pool", "Pool", "a/Use.java:Use.run"),
        (CSHARP, "Pool.cs:Pool", "Pool", "Use.cs:Use.Run"),
        (CPP, "pool.hpp:Pool", "Pool", "use.cpp:run"),
        (KOTLIN, "a/Pool.kt:Pool", "constructor", "a/Use.kt:run"),
        (PHP, "src/Pool.php:Pool", "__construct", "src/Use.php:run"),
        (PYTHON, "pool.py:Pool", "__init__", "use.py:run"),
    ],
    ids=["java", "csharp", "cpp", "kotlin", "php", "python"],
)
def test_a_class_and_its_constructor_are_one_to_who_calls_it(
    tree: Mapping[str, str], made: str, constructor: str, user: str
) -> None:
    graph = graph_of(tree)
    assert [node.id for node in graph.find_matches("Pool")] == [made]
    id = f"{made}.{constructor}"
    assert [node.id for node in graph.find_matches(f"Pool.{constructor}")] == [id]
    assert user in callers(graph, made)
    assert user in callers(graph, id)
    assert user in reached(graph.find_dependents("affected", [id], Walk(Direction.USED_BY, 1)))


def test_a_class_with_a_constructor_can_be_named_inside_of_it() -> None:
    assert calls(JAVA) == {
        ("a/Pool.java:Pool.Pool", "a/Pool.java:Pool.open"),
        ("a/Pool.java:Pool.copy", "a/Pool.java:Pool.open"),
        ("a/Pool.java:Pool.copy", "a/Pool.java:Pool"),
        ("a/Use.java:Use.run", "a/Pool.java:Pool"),
    }


def test_a_method_of_the_name_of_its_class_is_a_method_elsewhere() -> None:
    graph = graph_of({"pool.py": "class Pool:\n    def Pool(self):\n        pass\n"})
    assert len(graph.find_matches("Pool")) == 2


C = {
    "include/pool.h": "int pool_get(int x);\nint pool_put(int x);\nint elsewhere(int x);\n#define TWICE(x) x\n",
    "src/pool.c": '#include "pool.h"\n\nint pool_get(int x) {\n  return help(x);\n}\n\nint pool_put(int x) {\n'
    "  return x;\n}\n\nint TWICE(int x) {\n  return x;\n}\n",
    "src/other.c": "static int pool_put(int x) {\n  return x;\n}\n\nint own(void) {\n  return pool_put(1);\n}\n",
    "src/help.c": "int help(int x) {\n  return x;\n}\n",
    "src/main.c": '#include "pool.h"\n\nint main(void) {\n  return pool_get(1) + pool_put(2) + elsewhere(3);\n}\n',
    "src/blind.c": "int blind(void) {\n  return pool_get(1);\n}\n",
}


def test_a_declaration_means_its_definition() -> None:
    graph = graph_of(C)
    defined, declared = "src/pool.c:pool_get", "include/pool.h:pool_get"
    assert [node.id for node in graph.find_matches("pool_get")] == [defined]
    assert [node.id for node in graph.find_matches("pool.h:pool_get")] == [declared]
    assert callers(graph, defined) == callers(graph, declared) == ["src/blind.c:blind", "src/main.c:main"]
    for id in (defined, declared):
        assert reached(graph.find_neighbours("callees", id, Walk(), backward=False)) == ["src/help.c:help"]
        assert "src/main.c:main" in reached(
            graph.find_dependents("affected", [id], Walk(Direction.USED_BY, 1))
        )
    assert reached(graph.find_impact("impact", "src/pool.c", Walk(Direction.USED_BY, 1))) == [
        "src/blind.c",
        "src/main.c",
    ]
    assert "src/pool.c" not in reached(graph.find_dependencies("deps", ["include/pool.h"], Walk()))
    assert reached(graph.find_path(declared, "src/help.c:help")) == [defined, "src/help.c:help"]


def test_a_function_of_one_file_is_not_what_a_header_declares() -> None:
    graph = graph_of(C)
    assert callers(graph, "src/pool.c:pool_put") == ["src/main.c:main"]
    assert callers(graph, "src/other.c:pool_put") == ["src/other.c:own"]
    assert callers(graph, "include/pool.h:elsewhere") == ["src/main.c:main"]
    assert edges(C, Relation.DECLARES) == {
        ("include/pool.h:pool_get", "src/pool.c:pool_get"),
        ("include/pool.h:pool_put", "src/pool.c:pool_put"),
    }


def test_a_method_may_be_declared_in_a_class_and_defined_outside_of_it() -> None:
    tree = {
        "pool.hpp": "namespace a {\nclass Pool {\n public:\n  Pool();\n  static int get();\n};\n}\n",
        "pool.cpp": '#include "pool.hpp"\n\nusing namespace a;\n\nPool::Pool() {\n}\n\n'
        "int Pool::get() {\n  return 1;\n}\n",
        "use.cpp": '#include "pool.hpp"\n\nint run() {\n  new a::Pool();\n  return a::Pool::get();\n}\n',
    }
    graph = graph_of(tree)
    assert [node.id for node in graph.find_matches("Pool")] == ["pool.hpp:a.Pool"]
    assert [node.id for node in graph.find_matches("Pool.get")] == ["pool.cpp:Pool.get"]
    for id in ("pool.hpp:a.Pool", "pool.hpp:a.Pool.Pool", "pool.cpp:Pool.Pool", "pool.cpp:Pool.get"):
        assert callers(graph, id) == ["use.cpp:run"]


def test_a_new_definition_is_found_by_who_called_its_declaration() -> None:
    store = MemoryStore()
    write(store, {path: text for path, text in C.items() if path != "src/pool.c"})
    with store.snapshot() as snapshot:
        before = build.update_graph(snapshot, {})
    write(store, C)
    with store.snapshot() as snapshot:
        after = build.update_graph(snapshot, before)
    assert after == graph_of(C).files
