"""A graph that followed every change equals one that is built again."""

from __future__ import annotations

import random

import pytest

from dowse.graph import build, graph_codec
from dowse.graph.build import FileGraphs
from dowse.stores.memory import MemoryStore
from tests.stores.building import sources, write

NAMES = ["alpha", "beta", "gamma", "delta"]
FOLDERS = ["", "pkg/", "pkg/sub/", "src/pkg/", "tests/"]
EDITS = 40


class Author:
    """Writes files that import, inherit from and call each other, at random."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)

    def path(self) -> str:
        name = self.random.choice([*NAMES, "__init__"])
        return f"{self.random.choice(FOLDERS)}{name}.py"

    def module(self) -> str:
        parts = [self.random.choice(["pkg", "pkg.sub", ".", "..", ".sub", *NAMES]), self.random.choice(NAMES)]
        return "".join(parts) if parts[0].endswith(".") else ".".join(parts)

    def text(self) -> str:
        return "".join(f"{self.statement()}\n" for _ in range(self.random.randint(0, 8)))

    def statement(self) -> str:
        name, other, third = (self.random.choice(NAMES) for _ in range(3))
        return self.random.choice([
            f"from {self.module()} import {name}",
            f"from {self.module()} import *",
            f"from . import {name}",
            f"import {self.module().lstrip('.')} as {name}",
            f"import pkg.{name}",
            f"class {name.title()}({other.title()}):\n    def {third}(self):\n        return self.{name}()",
            f"class {name.title()}:\n    def {third}(self):\n        self.i = {other.title()}()\n"
            f"        self.i.{name}()",
            f"def {name}(x: {other.title()} = None) -> {third.title()}:\n    return x.{other}().{third}()",
            f"def {name}():\n    return {other}().{third}()",
            f"{name} = {other}\n{name}.{third}()",
            f"pkg.{name}.{other}()",
        ])  # fmt: skip


def of(store: MemoryStore, known: FileGraphs) -> FileGraphs:
    with store.snapshot() as snapshot:
        return build.update_graph(snapshot, known)


@pytest.mark.parametrize("seed", range(5))
def test_the_graph_after_changes_equals_a_fresh_one(seed: int) -> None:
    author, store = Author(seed), MemoryStore()
    tree = {author.path(): author.text() for _ in range(12)}
    write(store, tree)
    graph = of(store, {})
    for _ in range(EDITS):
        path = author.random.choice(sorted(tree))
        action = author.random.choice(["edit", "edit", "append", "add", "delete", "rename"])
        removed: list[str] = []
        changed: dict[str, str] = {}
        if action in ("delete", "rename") and len(tree) > 2:
            removed = [path]
            text = tree.pop(path)
            if action == "rename":
                changed[author.path()] = text
        elif action == "add":
            changed[author.path()] = author.text()
        else:
            changed[path] = (tree[path] if action == "append" else "") + author.text()
        tree |= changed
        with store.writer() as writer:
            writer.apply([p for p in removed if p not in changed], sources(changed))
        graph = graph_codec.unpack(graph_codec.pack(of(store, graph)))
        assert graph == of(store, {})


def test_nothing_is_resolved_again_when_nothing_changed() -> None:
    store = MemoryStore()
    write(store, {"a.py": "import b\nb.f()\n", "b.py": "def f(): ...\n"})
    graph = of(store, {})
    assert of(store, graph) is graph


def test_a_change_inside_of_a_function_is_nobody_elses_business() -> None:
    store = MemoryStore()
    write(store, {"a.py": "import b\nb.f()\n", "b.py": "def f():\n    pass\n"})
    before = of(store, {})
    write(store, {"b.py": "\n\ndef f():\n    print()\n"})
    after = of(store, before)
    assert after["a.py"] is before["a.py"]
    assert after["b.py"] is not before["b.py"]


def test_a_new_definition_reaches_who_looked_for_it() -> None:
    store = MemoryStore()
    write(store, {"a.py": "import b\nb.g()\n", "b.py": "def f(): ...\n", "c.py": "import os\n"})
    before = of(store, {})
    write(store, {"b.py": "def f(): ...\ndef g(): ...\n"})
    after = of(store, before)
    assert "b.py:g" in {edge.target for edge in after["a.py"].edges}
    assert after["c.py"] is before["c.py"]


@pytest.mark.parametrize(
    ("tree", "renamed"),
    [
        (
            {
                "go.mod": "module a.org/x\n",
                "main.go": 'package main\n\nimport "b.org/x/in"\n\nfunc main() {\n\tin.F()\n}\n',
                "in/in.go": "package in\n\nfunc F() {\n}\n",
            },
            {"go.mod": "module b.org/x\n"},
        ),
        (
            {
                "in/Cargo.toml": '[package]\nname = "one"\n',
                "in/src/lib.rs": "pub fn f() {\n}\n",
                "main.rs": "fn main() {\n    two::f();\n}\n",
            },
            {"in/Cargo.toml": '[package]\nname = "two"\n'},
        ),
    ],
    ids=["go", "rust"],
)
def test_a_new_name_of_a_package_reaches_who_looked_for_it(
    tree: dict[str, str], renamed: dict[str, str]
) -> None:
    store = MemoryStore()
    write(store, tree)
    before = of(store, {})
    write(store, renamed)
    after = of(store, before)
    assert after == of(store, {})
    assert after != dict(before) | {path: after[path] for path in renamed}


def test_what_cannot_be_read_is_built_anew() -> None:
    assert graph_codec.unpack(None) == {}
    assert graph_codec.unpack(b"corrupt") == {}
