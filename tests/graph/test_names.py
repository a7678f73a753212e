"""What a name means that several nodes have: a class and its constructor."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from dowse.graph.walk import Graph
from dowse.types import Direction, Walk

from .trees import calls, graph_of

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


def callers(graph: Graph, id: str) -> list[str]:
    return [step.node for step in graph.neighbours("callers", id, Walk(), backward=True).steps]


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
    assert [node.id for node in graph.matches("Pool")] == [made]
    id = f"{made}.{constructor}"
    assert [node.id for node in graph.matches(f"Pool.{constructor}")] == [id]
    assert user in callers(graph, made)
    assert user in callers(graph, id)
    changed = graph.dependents("affected", [id], Walk(Direction.USED_BY, 1))
    assert user in [step.node for step in changed.steps]


def test_a_class_with_a_constructor_can_be_named_inside_of_it() -> None:
    assert calls(JAVA) == {
        ("a/Pool.java:Pool.Pool", "a/Pool.java:Pool.open"),
        ("a/Pool.java:Pool.copy", "a/Pool.java:Pool.open"),
        ("a/Pool.java:Pool.copy", "a/Pool.java:Pool"),
        ("a/Use.java:Use.run", "a/Pool.java:Pool"),
    }


def test_a_method_of_the_name_of_its_class_is_a_method_elsewhere() -> None:
    graph = graph_of({"pool.py": "class Pool:\n    def Pool(self):\n        pass\n"})
    assert len(graph.matches("Pool")) == 2
