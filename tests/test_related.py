"""What belongs to a place."""

from pathlib import Path

import pytest

from dowse import Engine
from dowse.errors import UsageError


@pytest.fixture
def engine(tmp_path: Path) -> Engine:
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
    return Engine.open(root)


def test_tests_of_a_source_and_code_like_it(engine: Engine) -> None:
    response = engine.related("src/cart.py")
    assert [result.path for result in response.results[:2]] == ["tests/test_cart.py", "src/invoice.py"]
    assert [result.reasons[0].name for result in response.results[:2]] == ["partners", "similar"]
    assert all((result.path, result.start_line) != ("src/cart.py", 1) for result in response.results)


def test_source_of_a_test(engine: Engine) -> None:
    assert engine.related("tests/test_cart.py").results[0].path == "src/cart.py"


def test_unknown_file_says_what_to_do(engine: Engine) -> None:
    with pytest.raises(UsageError, match="status --why"):
        engine.related("src/nothing.py")
