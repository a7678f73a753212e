"""The queries that are mined for training: from a small repository with real commits, files and tests."""

from __future__ import annotations

import json
import random
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from training.mine import copy_tree, list_train_pins, main, mine_repository
from training.mining.commits import Hunk, map_line, write_query
from training.mining.docs import mine_docs
from training.mining.errors import is_message
from training.mining.tree import MinedQuery, keep_distinct, read_tree, spread
from training.trees import Pin, load_pins

from dowse.evaluation import dataset
from dowse.evaluation.commit_history import GitCommit

CART = '''"""The cart."""


def add_discount_code(cart, code):
    """Reduce the sum of a purchase by a voucher.

    The voucher must be valid.
    """
    if not code:
        raise ValueError(f"the voucher {code} has no value left")
    return cart


class Cart:
    # Holds what a customer is going to pay for.
    def collect_pending_items(self):
        return list(self)
'''
TEST = """from shop.cart import add_discount_code


def test_add_discount_code_rejects_empty_voucher():
    assert add_discount_code([], "")
"""
GUIDE = """# Shop

## How to install the shop

You need a server and a database before you begin with this. Then copy the files to the server, and
open the page of the installer in a browser.
"""


def run_git(root: Path, *arguments: str) -> str:
    identity = ("-c", "user.name=n", "-c", "user.email=e", "-c", "commit.gpgsign=false")
    command = ["git", "-C", str(root), *identity, *arguments]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()


def commit_file(root: Path, path: str, text: str, message: str) -> None:
    (root / path).parent.mkdir(parents=True, exist_ok=True)
    (root / path).write_text(text, encoding="utf-8")
    run_git(root, "add", ".")
    run_git(root, "commit", "--quiet", "-m", message)


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """Make a tree with some history; return its folder, which is a clone as well."""
    root = tmp_path / "trees" / "some+shop"
    root.mkdir(parents=True)
    run_git(root, "init", "--quiet")
    commit_file(root, "README.txt", "shop\n", "Begin with an empty shop today")
    commit_file(root, "shop/cart.py", CART.replace("list(self)", "[]"), "Bump the cart to another version")
    commit_file(root, "shop/cart.py", CART, "fix(cart): return every pending item of customers (#12)")
    commit_file(root, "tests/test_cart.py", TEST, "Check that vouchers without value are refused")
    commit_file(root, "shop/cart.py", "import this\n\n" + CART, "Merge")
    commit_file(root, "docs/guide.md", GUIDE, "Document")
    mirror = tmp_path / "mirrors" / "some+shop"
    mirror.mkdir(parents=True)
    run_git(root, "clone", "--quiet", "--bare", ".", str(mirror / "repo"))
    return root


@pytest.fixture
def pin(tree: Path) -> Pin:
    return Pin("some/shop", run_git(tree, "rev-parse", "HEAD"), "train")


@pytest.fixture
def rows(tree: Path, pin: Pin, tmp_path: Path) -> dict[str, list[dict[str, Any]]]:
    """Mine the tree; return the rows by their kinds."""
    found, _, notes = mine_repository(pin, tree, tmp_path / "mirrors", seed=1)
    assert not notes
    by_kind: dict[str, list[dict[str, Any]]] = {}
    for row in found:
        by_kind.setdefault(row["category"], []).append(row)
    return by_kind


def test_a_commit_asks_for_what_it_changed_where_that_is_now(rows: dict[str, list[dict[str, Any]]]) -> None:
    found = {row["query"]: row["relevant"] for row in rows["commit"]}
    assert found == {
        "return every pending item of customers": [{"target": "shop/cart.py:17-19", "grade": 2}],
        "Check that vouchers without value are refused": [{"target": "tests/test_cart.py:4-5", "grade": 2}],
    }


def test_other_kinds_ask_for_definitions_and_sections(rows: dict[str, list[dict[str, Any]]]) -> None:
    function = {"target": "shop/cart.py:6-13", "grade": 2}
    assert [row["query"] for row in rows["test"]] == ["add discount code rejects empty voucher"]
    assert rows["test"][0]["relevant"] == [function, "tests/test_cart.py:4-5"]
    assert {row["query"] for row in rows["name"]} == {"add discount code", "collect pending items"}
    assert rows["error"][0]["relevant"] == [function]
    assert rows["heading"][0]["query"].startswith("How to install the shop You need a server")
    assert rows["heading"][0]["relevant"] == [{"target": "docs/guide.md:3-6", "grade": 2}]


def test_a_comment_that_is_a_query_is_blanked_and_lines_stay(tree: Path, tmp_path: Path) -> None:
    mined = mine_docs(read_tree(tree), 5, random.Random(1))
    targets = {query.query: query.primary for query in mined.queries}
    assert targets == {
        "Reduce the sum of a purchase by a voucher": ("shop/cart.py:6-13",),
        "Holds what a customer is going to pay for": ("shop/cart.py:18-19",),
    }
    copy_tree(tree, tmp_path / "copy", mined.contents)
    before = (tree / "shop" / "cart.py").read_text().splitlines()
    after = (tmp_path / "copy" / "shop" / "cart.py").read_text().splitlines()
    assert [(old, new) for old, new in zip(before, after, strict=True) if old != new] == [
        (line, "") for line in [*before[6:9], before[9], before[16]] if line
    ]
    assert not (tmp_path / "copy" / ".git").exists()
    assert (tmp_path / "copy" / "docs" / "guide.md").read_text() == GUIDE


def test_a_sentence_that_stands_elsewhere_is_no_query(tree: Path) -> None:
    (tree / "docs" / "api.md").write_text("It can *reduce the sum of\na purchase* by a voucher.\n")
    mined = mine_docs(read_tree(tree), 5, random.Random(1))
    assert [query.query for query in mined.queries] == ["Holds what a customer is going to pay for"]


def test_without_history_only_commits_are_missing(tree: Path, pin: Pin, tmp_path: Path) -> None:
    rows, _, notes = mine_repository(pin, tree, tmp_path / "nowhere", seed=1)
    assert {row["category"] for row in rows} == {"doc", "error", "test", "heading", "name"}
    assert len(notes) == 1 and notes[0].startswith("no commits")


def test_the_same_seed_gives_the_same_rows(tree: Path, pin: Pin, tmp_path: Path) -> None:
    first, second = (mine_repository(pin, tree, tmp_path / "mirrors", seed=3) for _ in range(2))
    assert first == second
    file = tmp_path / "queries.jsonl"
    file.write_text("".join(json.dumps(row) + "\n" for row in first[0]))
    assert len(dataset.load(file).queries) == len(first[0])


def test_only_the_training_split_is_mined() -> None:
    assert {pin.split for pin in list_train_pins()} == {"train"}
    forbidden = next(pin.repository for pin in load_pins() if pin.split == "test")
    assert not list_train_pins([forbidden])


def test_nothing_is_written_into_the_project(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    inside = str(Path(__file__).parent / "mined")
    options = {"--from": tmp_path, "--mirrors": tmp_path, "--to": inside, "--trees": tmp_path}
    monkeypatch.setattr(sys, "argv", ["mine", *(str(part) for pair in options.items() for part in pair)])
    with pytest.raises(SystemExit):
        main()
    assert not Path(inside).exists()


@pytest.mark.parametrize(
    ("subject", "body", "query"),
    [
        ("feat(ui): show the number of hits (#3)", "", "show the number of hits"),
        (
            "Fix crash",
            "A query without words crashed. It is empty now.",
            "Fix crash. A query without words crashed",
        ),
        ("Fix crash on start", "Signed-off-by: A <a@b>", "Fix crash on start"),
        ("Keep order (fixes #7)", "", "Keep order"),
    ],
)
def test_the_query_of_a_message(subject: str, body: str, query: str) -> None:
    assert write_query(GitCommit("c", "p", "a", subject, body, ())) == query


def test_lines_move_with_later_changes() -> None:
    hunks = [Hunk(old=3, old_length=0, new=3, new_length=2), Hunk(old=6, old_length=2, new=8, new_length=1)]
    assert [map_line(hunks, line) for line in (2, 3, 5, 6, 7, 8)] == [2, 5, 7, None, None, 9]


def test_a_message_has_words_beside_its_placeholders() -> None:
    assert is_message("cannot open the file %s")
    assert not is_message("%s: %s (%d of %d)")
    assert not is_message("{name} failed")


def test_queries_are_spread_and_distinct() -> None:
    queries = [MinedQuery(f"q{n}", (f"{path}:1-2",)) for n, path in enumerate(["a/x", "a/x", "a/y", "b/z"])]
    chosen = [query.primary[0] for query in spread(queries, random.Random(1))]
    assert {path[0] for path in chosen[:2]} == {"a", "b"} and len(set(chosen[:3])) == 3
    twice = [MinedQuery("Same words", ("a:1-2",)), MinedQuery("same, words", ("b:1-2",))]
    assert not keep_distinct(twice)
