"""What belongs to a place."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from dowse import Engine
from dowse.errors import UsageError
from dowse.interfaces import render


@pytest.fixture
def engine(tmp_path: Path) -> Iterator[Engine]:
    root = tmp_path / "project"
    (root / "src").mkdir(parents=True)
    (root / "tests").mkdir()
    (root / "src" / "cart.py").write_text(
        "def total_price(items, discount):\n    return sum(item.price for item in items) * discount\n"
    )
    (root / "src" / "invoice.py").write_text(
        "def invoice_price(items, discount):\n    return sum(item.price for item in items) * discount\n"
    )
    (root / "src" / "mail.py").write_text("def send(recipient):\n    connect().deliver(recipient)\n")
    (root / "tests" / "test_cart.py").write_text("def test_empty():\n    assert True\n")
    with Engine.open(root, embedder="none") as engine:
        yield engine


def test_tests_of_a_source_and_code_like_it(engine: Engine) -> None:
    response = engine.related("src/cart.py")
    assert [result.path for result in response.results[:2]] == ["tests/test_cart.py", "src/invoice.py"]
    assert [result.reasons[0].name for result in response.results[:2]] == ["partners", "similar"]
    assert all((result.path, result.start_line) != ("src/cart.py", 1) for result in response.results)


def test_a_partner_is_shown_by_its_first_definition_not_by_its_licence(engine: Engine) -> None:
    licence = "".join(f"# Line {number} of a licence that nobody reads here.\n" for number in range(60))
    body = "".join(f"    assert total_{number} == {number}\n" for number in range(60))
    path = engine.root / "tests" / "test_cart.py"
    path.write_text(f"{licence}\nimport os\n\n\ndef test_total():\n{body}")
    first = engine.related("src/cart.py").results[0]
    assert (first.path, first.entity) == ("tests/test_cart.py", "test_total")
    assert "def test_total():" in first.text
    path.write_text("# nothing is defined here\nassert True\n")
    assert engine.related("src/cart.py").results[0].path == "tests/test_cart.py"


def test_a_whole_file_is_alike_to_others_and_a_line_to_lines(tmp_path: Path) -> None:
    body = "\n\n".join(
        f"def handle_{word}(order, ledger):\n    return ledger.{word}(order.amount, order.currency)\n"
        + "    # x\n" * 40
        for word in ("refund", "charge", "settle")
    )
    (tmp_path / "orders.py").write_text("import os\n\n\n" + body)
    (tmp_path / "payments.py").write_text("import sys\n\n\n" + body)
    (tmp_path / "other.py").write_text("import os\n\n\ndef unlike():\n    return os.name\n")
    with Engine.open(tmp_path, embedder="none") as engine:
        whole = [hit.path for hit in engine.related("orders.py").results]
        assert whole[0] == "payments.py" and "orders.py" not in whole
        assert len(whole) == len(set(whole))
        assert "orders.py" in {hit.path for hit in engine.related("orders.py", 5).results}


def test_source_of_a_test(engine: Engine) -> None:
    assert engine.related("tests/test_cart.py").results[0].path == "src/cart.py"


def test_unknown_file_says_what_to_do(engine: Engine) -> None:
    with pytest.raises(UsageError, match="status --why"):
        engine.related("src/nothing.py")


def test_an_answer_brings_the_tests_of_its_first_files_along(engine: Engine) -> None:
    response = engine.search("total price discount")
    (test,) = [result for result in response.results if result.path == "tests/test_cart.py"]
    assert response.results[0].path == "src/cart.py"
    assert [(reason.name, reason.detail) for reason in test.reasons] == [
        ("partners", "belongs to src/cart.py")
    ]


def test_tests_are_not_brought_along_where_a_filter_or_a_phrase_leaves_them_out(engine: Engine) -> None:
    for query in (
        "total price discount -path:tests",
        "total price discount is:source",
        '"total_price(items"',
    ):
        assert "tests/test_cart.py" not in {result.path for result in engine.search(query).results}, query


def test_a_test_that_is_found_anyway_is_lifted_not_repeated(engine: Engine) -> None:
    (engine.root / "tests" / "test_cart.py").write_text("def test_price():\n    assert True\n")
    paths = [result.path for result in engine.search("total price discount").results]
    assert paths.count("tests/test_cart.py") == 1


def test_an_explanation_shows_what_brought_a_hit_in_as_added(engine: Engine) -> None:
    shown = render.search_text(
        engine.search("total price discount"), render.View(str(engine.root), explain=True)
    )
    assert re.search(r"^ +[+-]\d\.\d{3} partners      belongs to src/cart.py$", shown, re.M)


@pytest.fixture
def suite(tmp_path: Path) -> Iterator[Engine]:
    """A file whose tests are in a folder of its name, among files that say more of the query's words."""
    for name in ("models", "utils", *(f"other{number}" for number in range(8))):
        (tmp_path / f"{name}.py").write_text(f"def {name}_first():\n    return 'models and utils'\n")
    (tmp_path / "tests" / "models").mkdir(parents=True)
    (tmp_path / "tests" / "models" / "data.json").write_text('{"models": [1, 2, 3]}\n')
    for name in ("headers", "cookies"):
        (tmp_path / "tests" / "models" / f"test_{name}.py").write_text(
            f"def test_{name}():\n    assert '{name}'\n"
        )
    with Engine.open(tmp_path, embedder="none") as engine:
        yield engine


def test_a_file_that_is_named_brings_its_suite_along(suite: Engine) -> None:
    paths = [result.path for result in suite.search("models.py utils.py").results]
    assert set(paths[:2]) == {"models.py", "utils.py"}
    assert {"tests/models/test_headers.py", "tests/models/test_cookies.py"} <= set(paths)
    assert "tests/models/data.json" not in paths
    (test,) = [hit for hit in suite.search("models.py utils.py").results if "headers" in hit.path]
    assert "belongs to models.py" in {reason.detail for reason in test.reasons}


def test_a_suite_stays_where_filters_leave_it_out(suite: Engine) -> None:
    for filter in ("is:source", "-is:test", "lang:json", "path:*.py", "-path:tests"):
        found = {result.path for result in suite.search(f"models.py utils.py {filter}").results}
        assert not {path for path in found if path.endswith(("headers.py", "cookies.py"))}, filter
