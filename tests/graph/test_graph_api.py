"""Operations on the graph of a real index: by Python and by the command line."""

from __future__ import annotations

import json
import subprocess
import sys
import threading
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import pytest

from dowse import Engine
from dowse.errors import EntityAmbiguous, EntityNotFound
from dowse.graph import git_diff
from dowse.interfaces import render_graph
from dowse.interfaces.theme import plain
from dowse.types.answers import SearchOptions
from dowse.types.graph_values import Walk
from dowse.types.source import Kind
from dowse.types.stored import Filter

FILES = {
    "src/shop/__init__.py": "from .cart import Cart\n",
    "src/shop/cart.py": "from .price import total\n\n\nclass Base:\n    pass\n\n\nclass Cart(Base):\n"
    "    def checkout(self):\n        return total(self)\n\n    def run(self):\n        return self.checkout()\n",
    "src/shop/price.py": "def total(cart):\n    return rounded(1)\n\n\ndef rounded(value):\n    return value\n",
    "src/shop/one.py": "from . import two\n\n\ndef run():\n    return two.back()\n",
    "src/shop/two.py": "from . import one\n\n\ndef back():\n    return one.run()\n",
    "tests/test_cart.py": "from shop import Cart\n\n\ndef test_checkout():\n    assert Cart().checkout()\n",
}


def planted(root: Path) -> Path:
    for path, text in FILES.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text, encoding="utf-8")
    return root


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return planted(tmp_path_factory.mktemp("tree"))


@pytest.fixture(scope="module")
def engine(root: Path) -> Iterator[Engine]:
    with Engine.open(root, embedder="none") as opened:
        yield opened


def reached(answer: object) -> list[str]:
    return [step.node for step in answer.steps]  # type: ignore[attr-defined]


def test_callers_and_callees(engine: Engine) -> None:
    assert reached(engine.graph.callers("total")) == ["src/shop/cart.py:Cart.checkout"]
    assert reached(engine.graph.callers("Cart.checkout")) == [
        "src/shop/cart.py:Cart.run",
        "tests/test_cart.py:test_checkout",
    ]
    assert reached(engine.graph.callees("src/shop/price.py:total")) == ["src/shop/price.py:rounded"]


def test_dependencies_and_impact(engine: Engine) -> None:
    assert reached(engine.graph.deps("cart.py")) == ["src/shop/price.py"]
    assert set(reached(engine.graph.impact("src/shop/price.py", Walk(depth=2)))) == {
        "src/shop/cart.py",
        "src/shop/__init__.py",
        "tests/test_cart.py",
    }
    chain = reached(engine.graph.impact("rounded"))
    assert chain[:2] == ["src/shop/price.py:total", "src/shop/cart.py"]
    assert "tests/test_cart.py:test_checkout" in chain
    assert reached(engine.graph.impact("rounded", Walk(depth=1))) == ["src/shop/price.py:total"]
    assert reached(engine.graph.deps("test_cart.py")) == ["src/shop/__init__.py", "src/shop/cart.py"]
    every = reached(engine.graph.deps("test_cart.py", Walk(depth=None)))
    assert every == ["src/shop/__init__.py", "src/shop/cart.py", "src/shop/price.py"]


def test_hierarchy_path_hubs_and_cycles(engine: Engine) -> None:
    graph = engine.graph
    assert reached(graph.hierarchy("Cart")) == ["src/shop/cart.py:Base"]
    assert reached(graph.path("test_checkout", "rounded")) == [
        "src/shop/cart.py:Cart.checkout",
        "src/shop/price.py:total",
        "src/shop/price.py:rounded",
    ]
    assert reached(graph.path("rounded", "test_checkout")) == []
    assert "src/shop/cart.py:Cart" in [hub.node.id for hub in graph.hubs()]
    assert graph.cycles() == [["src/shop/one.py", "src/shop/two.py"]]


def test_a_path_may_begin_inside_of_its_start(engine: Engine) -> None:
    answer = engine.graph.path("two.py", "src/shop/one.py:run")
    assert reached(answer) == ["src/shop/two.py:back", "src/shop/one.py:run"]
    assert render_graph.tree_text(answer, plain).splitlines() == [
        "src/shop/two.py",
        "└── contains src/shop/two.py:back",
        "    └── invokes src/shop/one.py:run (from line 5)",
    ]


def test_a_name_that_two_things_have_is_not_picked(engine: Engine) -> None:
    with pytest.raises(
        EntityAmbiguous, match=r"src/shop/cart.py:Cart.run[\s\S]*src/shop/one.py:run"
    ) as raised:
        engine.graph.callers("run")
    assert raised.value.exit_code == 2
    with pytest.raises(EntityNotFound, match=r"did you mean src/shop/price\.py:rounded"):
        engine.graph.callers("roundd")


def test_an_id_with_an_unknown_name_gets_names_of_its_file(engine: Engine) -> None:
    with pytest.raises(EntityNotFound, match=r"did you mean src/shop/cart\.py:Cart\.run, "):
        engine.graph.callers("src/shop/cart.py:Cart.runn")
    with pytest.raises(EntityNotFound) as raised:
        engine.graph.callers("src/shop/price.py:nothing_like_it")
    suggested = str(raised.value).partition("did you mean ")[2].removesuffix("?").split(", ")
    assert {id.partition(":")[0] for id in suggested} == {"src/shop/price.py"}


def test_entities_say_which_tier_found_them(engine: Engine) -> None:
    find = partial(engine.graph.entities, content=False)
    cart = "src/shop/cart.py:Cart"

    def tiers(query: str) -> list[tuple[str, str, float]]:
        return [(hit.id, hit.tier, hit.score) for hit in find(query)]

    assert tiers(cart) == [(cart, "id", 1.0)]
    assert tiers("cart") == [(cart, "case-insensitive", 0.9), ("src/shop/cart.py", "file", 0.8)]
    assert tiers("ro*") == [("src/shop/price.py:rounded", "prefix", 0.5)]
    assert tiers("r*nd?d") == [("src/shop/price.py:rounded", "glob", 0.7)]
    assert tiers("ruonded") == [("src/shop/price.py:rounded", "fuzzy", 0.4)]
    assert tiers("tot") == [], "a prefix has a *"
    assert tiers("price.py") == [("src/shop/price.py", "file", 1.0)]
    assert tiers("price") == [("src/shop/price.py", "file", 0.8)]
    assert tiers("nothinglikeit") == []
    by_content = engine.graph.entities("where is the price rounded")[0]
    assert by_content.tier == "content" and 0 < by_content.score < 0.4


def test_folders_and_files_are_entities(engine: Engine) -> None:
    def ids(query: str, *kinds: Kind, paths: tuple[str, ...] = ()) -> list[str]:
        filter = Filter(kinds=frozenset(kinds), paths=paths)
        return [hit.id for hit in engine.graph.entities(query, filter, content=False)]

    assert ids("shop") == ["src/shop"]
    assert ids("src/shop", Kind.DIRECTORY) == ["src/shop"]
    assert ids("s*", Kind.DIRECTORY) == ["src", "src/shop"]
    assert ids("s*", Kind.DIRECTORY, paths=("docs/**",)) == []
    assert ids("c*", Kind.FILE) == ["src/shop/cart.py"]
    assert ids("src/**/p*.py") == ["src/shop/price.py"]
    assert ids("cart", Kind.CLASS) == ["src/shop/cart.py:Cart"]
    assert ids("cart", Kind.DIRECTORY) == []
    (found,) = engine.graph.entities("price rounded", Filter(kinds=frozenset({Kind.FILE})), 1)
    assert (found.id, found.kind) == ("src/shop/price.py", Kind.FILE)


def test_all_definitions_of_a_file_are_listed(engine: Engine) -> None:
    found = engine.graph.entities("src/shop/cart.py:Cart.*", content=False, limit=50)
    assert {"src/shop/cart.py:Cart.checkout", "src/shop/cart.py:Cart.run"} <= {hit.id for hit in found}
    assert {hit.tier for hit in found} == {"glob"}


def test_entities_found_by_content_have_lines_of_their_own(tmp_path: Path) -> None:
    steps = "".join(f"    total += weigh_parcel(parcels[{n}])\n" for n in range(100))
    text = f"import os\n\n\ndef pack(parcels):\n    total = 0\n{steps}    return total\n\n\ndef tiny():\n    return 1\n"
    (tmp_path / "pack.py").write_text(text, encoding="utf-8")
    with Engine.open(tmp_path, embedder="none") as engine:
        for question in ("weigh parcel total", "return one in a tiny function"):
            found = [hit for hit in engine.graph.entities(question) if ":" in hit.id]
            assert found and {hit.tier for hit in found} == {"content"}
            for hit in found:
                (code,) = engine.graph.retrieve([hit.id])
                assert (hit.start_line, hit.end_line) == (code.start_line, code.end_line)


def test_the_graph_follows_changes(tmp_path: Path) -> None:
    with Engine.open(planted(tmp_path), embedder="none") as engine:
        assert reached(engine.graph.callers("rounded")) == ["src/shop/price.py:total"]
        added = "from .price import rounded\n\n\ndef go():\n    rounded(2)\n"
        (tmp_path / "src/shop/new.py").write_text(added, encoding="utf-8")
        engine.force_check()
        assert "src/shop/new.py:go" in reached(engine.graph.callers("rounded"))


def test_drawings(engine: Engine) -> None:
    answer = engine.graph.callers("total")
    assert (
        '"src/shop/cart.py:Cart.checkout" -> "src/shop/price.py:total" [label="invokes"];'
        in render_graph.dot(answer)
    )
    assert "n1 -->|invokes| n0" in render_graph.mermaid(answer)
    assert "└── invoked-by src/shop/cart.py:Cart.checkout (line 10)" in render_graph.tree_text(answer, plain)
    calls = render_graph.tree_text(engine.graph.callees("Cart.checkout"), plain)
    assert "└── invokes src/shop/price.py:total (from line 10)" in calls


def test_the_cursor_lifts_and_never_filters(engine: Engine) -> None:
    plain_hits = {hit.path for hit in engine.search("checkout cart").results}
    near = engine.search("checkout cart", SearchOptions(near=engine.near("src/shop/two.py:4")))
    assert plain_hits <= {hit.path for hit in near.results}
    (two,) = [hit for hit in near.results if hit.path == "src/shop/two.py"][:1]
    assert "proximity" in [reason.name for reason in two.reasons]


def test_hits_with_their_neighbours(engine: Engine) -> None:
    response = engine.search("Cart.checkout", SearchOptions(neighbours=True))
    hit = next(hit for hit in response.results if hit.entity == "Cart.checkout")
    assert hit.uses == ("src/shop/price.py:total",)
    assert hit.used_by == ("src/shop/cart.py:Cart.run", "tests/test_cart.py:test_checkout")
    assert hit.tests == ("tests/test_cart.py",)


def test_what_a_diff_affects(engine: Engine) -> None:
    diff = "--- a/src/shop/price.py\n+++ b/src/shop/price.py\n@@ -6 +6 @@\n-    return 1\n+    return value\n"
    found = engine.graph.find_affected(diff=diff)
    assert [node.id for node in found.changed] == ["src/shop/price.py:rounded"]
    assert "src/shop/cart.py:Cart.checkout" in reached(found.dependents)
    assert [path for path, _ in found.tests] == ["tests/test_cart.py"]


def test_a_change_in_a_function_that_is_announced_above_is_a_change_of_it(tmp_path: Path) -> None:
    text = "int f(int x);\n\nint main(void) {\n  return f(1);\n}\n\nint f(int x) {\n  return x;\n}\n"
    (tmp_path / "a.c").write_text(text, encoding="utf-8")
    with Engine.open(tmp_path, embedder="none") as engine:
        found = engine.graph.find_affected(
            diff="--- a/a.c\n+++ b/a.c\n@@ -8 +8 @@\n-  return 1;\n+  return x;\n"
        )
        assert [node.id for node in found.changed] == ["a.c:f"]
        assert reached(found.dependents) == ["a.c:main"]
        assert [(code.start_line, code.end_line) for code in engine.graph.retrieve(["f"])] == [(7, 9)]


def test_a_diff_is_read_by_its_new_lines() -> None:
    diff = "--- a/x\n+++ /dev/null\n@@ -1 +0,0 @@\n-a\n--- /dev/null\n+++ b/y z\n@@ -0,0 +3,2 @@\n+a\n+b\n"
    assert git_diff.parse_diff(diff) == ({"y z": [(3, 4)]}, ["x"])


def test_files_change_together_by_commits() -> None:
    commits = [frozenset("ab"), frozenset("abc"), frozenset("bc"), frozenset(map(str, range(99))) | {"a"}]
    assert git_diff.count_co_changes(commits, frozenset("a")) == [("b", 1.0, 2)]


def test_the_command_line(root: Path) -> None:
    def run(*args: str) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-m", "dowse", *args, "--root", str(root)]
        return subprocess.run(command, capture_output=True, text=True, encoding="utf-8", check=False)

    done = run("callers", "total")
    assert (done.returncode, "invoked-by src/shop/cart.py:Cart.checkout" in done.stdout) == (0, True)
    values = json.loads(run("impact", "src/shop/price.py", "--json").stdout)
    assert values["steps"][0]["relation"] == "imported-by"
    every = json.loads(run("deps", "test_cart.py", "--depth", "-1", "--json").stdout)
    assert len(every["steps"]) == 3
    assert every == json.loads(run("deps", "test_cart.py", "--transitive", "--json").stdout)
    assert run("callers", "nothing_like_it").returncode == 2
    assert run("callers", "src/shop/price.py:total", "--format", "dot").stdout.startswith(
        'digraph "callers" {'
    )
    assert "6 |     return value" in run("show", "rounded").stdout


def test_threads_that_ask_at_once_share_one_graph(root: Path) -> None:
    start = threading.Barrier(4)
    with Engine.open(root) as engine:
        engine.index()
        found: list[object] = []

        def ask() -> None:
            start.wait()
            found.append(engine.graph.load())

        threads = [threading.Thread(target=ask) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert len(found) == 4 and len(set(map(id, found))) == 1
