"""Python: which definition a name means."""

from __future__ import annotations

import pytest

from dowse.types.graph_values import Certainty, Relation

from .trees import calls, edges, graph_of, imports

POOL = """class Pool:
    @classmethod
    def make(cls):
        return cls()

    @property
    def best(self):
        return Connection()

    def get(self) -> "Connection":
        return self._open()

    def _open(self):
        return Connection()


class Connection:
    def send(self): ...
    async def close(self): ...
"""


@pytest.mark.parametrize(
    ("importing", "called"),
    [
        ("from pkg.pool import Pool\nPool().get()", "Pool.get"),
        ("from pkg.pool import Pool as P\nP().get().send()", "Connection.send"),
        ("import pkg.pool\npkg.pool.Pool().best.send()", "Connection.send"),
        ("import pkg.pool as p\nx = p.Pool.make()\nx.get()", "Pool.get"),
        ("from pkg import Pool\nPool().get()", "Pool.get"),
        ("from pkg import *\nPool().get()", "Pool.get"),
        ("from pkg import pool\ndef f(x: pool.Pool):\n    x.get()", "Pool.get"),
        ("from pkg.pool import Pool\ndef f(x: 'Pool | None' = None):\n    x.get()", "Pool.get"),
        ("from pkg.pool import Pool\ndef f(xs: list[Pool]):\n    for x in xs:\n        x.get()", "Pool.get"),
        ("from pkg.pool import Pool\nasync def f():\n    await Pool().get().close()", "Connection.close"),
        ("from pkg.pool import Pool\nwith Pool() as x:\n    x.get()", "Pool.get"),
        ("def f():\n    from pkg.pool import Pool\n    Pool().get()", "Pool.get"),
        ("from pkg.pool import Pool\nclass A(Pool):\n    def g(self):\n        self.get()", "Pool.get"),
        ("from pkg.pool import Pool\nclass A(Pool):\n    def get(self):\n        super().get()", "Pool.get"),
        (
            "from pkg.pool import Pool\nclass A:\n    def __init__(self):\n        self.p = Pool()\n"
            "    def g(self):\n        self.p.get()",
            "Pool.get",
        ),
        ("from pkg.pool import Pool\nx = None or Pool()\nx.get()", "Pool.get"),
    ],
)
@pytest.mark.parametrize("layout", ["", "src/"])
def test_calls_are_followed(importing: str, called: str, layout: str) -> None:
    tree = {
        f"{layout}pkg/__init__.py": "from .pool import Pool\n__all__ = ['Pool']\n",
        f"{layout}pkg/pool.py": POOL,
        "tests/use.py": importing + "\n",
    }
    targets = {target for source, target in calls(tree) if source.startswith("tests/use.py")}
    assert f"{layout}pkg/pool.py:{called}" in targets


def test_a_parameter_hides_a_function_of_the_module() -> None:
    assert calls({"a.py": "def send(): ...\ndef f(send):\n    send()\n"}) == set()


def test_methods_do_not_see_the_names_of_their_class() -> None:
    tree = {"a.py": "def run(): ...\nclass A:\n    def run(self):\n        run()\n"}
    assert calls(tree) == {("a.py:A.run", "a.py:run")}


def test_the_standard_library_is_not_a_file_of_the_same_name_in_a_package() -> None:
    tree = {
        "pkg/__init__.py": "",
        "pkg/logging.py": "def getLogger(): ...\n",
        "pkg/app.py": "import logging\nlogging.getLogger()\n",
    }
    assert calls(tree) == set()
    assert ("pkg/app.py", "logging.getLogger") in edges(tree, Relation.INVOKES, Certainty.EXTERNAL)


def test_members_are_looked_up_in_the_order_of_the_bases() -> None:
    tree = {
        "base.py": "class A:\n    def f(self): ...\nclass B(A): ...\nclass C(A):\n    def f(self): ...\n",
        "d.py": "from base import B, C\nclass D(B, C):\n    def g(self):\n        self.f()\n",
    }
    assert ("d.py:D.g", "base.py:C.f") in calls(tree)
    assert edges(tree, Relation.INHERITS) == {
        ("base.py:B", "base.py:A"),
        ("base.py:C", "base.py:A"),
        ("d.py:D", "base.py:B"),
        ("d.py:D", "base.py:C"),
    }


def test_a_decorator_is_called_by_what_it_decorates() -> None:
    tree = {"a.py": "def once(f): ...\nclass A:\n    @once\n    def g(self): ...\n"}
    assert calls(tree) == {("a.py:A.g", "a.py:once")}


def test_several_possible_targets_are_candidates() -> None:
    text = "class A:\n    def go(self): ...\nclass B:\n    def go(self): ...\ndef f(x):\n    (A() if x else B()).go()\n"
    (edge,) = (e for e in graph_of({"a.py": text}).files["a.py"].edges if e.target == "go")
    assert edge.certainty is Certainty.AMBIGUOUS
    assert edge.candidates == ("a.py:A.go", "a.py:B.go")


def test_an_object_of_unknown_type_is_never_resolved() -> None:
    tree = {"a.py": "class A:\n    def go(self): ...\ndef f(x):\n    x.go()\n"}
    assert calls(tree) == set()
    graph = graph_of(tree)
    assert [id for id, _ in graph.uses["a.py:f"]] == ["a.py:A.go"], "known by name only"


def test_imports_name_the_module_and_what_is_defined() -> None:
    tree = {
        "pkg/__init__.py": "from .core import run\n",
        "pkg/core.py": "from . import helper\nfrom .helper import aid\ndef run(): ...\n",
        "pkg/helper.py": "import os.path\ndef aid(): ...\n",
        "main.py": "from pkg import run\nimport pkg.helper\n",
    }
    assert imports(tree) == {
        ("pkg/__init__.py", "pkg/core.py"),
        ("pkg/__init__.py", "pkg/core.py:run"),
        ("pkg/core.py", "pkg/__init__.py"),
        ("pkg/core.py", "pkg/helper.py"),
        ("pkg/core.py", "pkg/helper.py:aid"),
        ("main.py", "pkg/__init__.py"),
        ("main.py", "pkg/core.py:run"),
        ("main.py", "pkg/helper.py"),
    }
    assert edges(tree, Relation.IMPORTS, Certainty.EXTERNAL) == {("pkg/helper.py", "os.path")}


def test_circles_of_imports_returns_and_bases_come_to_an_end() -> None:
    tree = {
        "a.py": "from b import *\nfrom b import g\nclass A(B): ...\ndef f():\n    return g()\nf().x()\n",
        "b.py": "from a import *\nfrom a import f\nclass B(A): ...\ndef g():\n    return f()\ng().x()\n",
    }
    assert ("a.py:f", "b.py:g") in calls(tree)
    assert ("b.py:B", "a.py:A") in edges(tree, Relation.INHERITS)
