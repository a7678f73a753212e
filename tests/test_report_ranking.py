"""Report ranking: the functions of the first files are ranked on their own, by the views of a report."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from dowse import Engine, SearchOptions
from dowse.search.query import views
from dowse.search.ranking.report_ranking import FEATURES, GROUPS, load_weights

REPORT = """Prices with a discount are wrong

When two discounts are given for the same cart, the second is taken from the price before the first one, and not from
what is left after it. So a customer who has ten percent and then twenty percent pays too little. It happens with
`Cart.checkout()` in every release since the summer.
"""
CART = '''class Cart:
    """What a customer is about to buy."""

    def __init__(self, lines):
        self.lines = lines

    def checkout(self):
        """Take the money."""
        total = sum(line.price for line in self.lines)
        return pay(reduce_price(total, [line.percent for line in self.lines]))

    def clear(self):
        self.lines = []


def reduce_price(price, percents):
    """Take every discount off a price, each from what the price was before."""
    reduced = price
    for percent in percents:
        reduced -= price * percent / 100
    return reduced


def pay(amount):
    return amount
'''


@pytest.fixture
def engine(tmp_path: Path) -> Iterator[Engine]:
    root = tmp_path / "tree"
    root.mkdir()
    (root / "cart.py").write_text(CART)
    for number in range(8):
        (root / f"module_{number}.py").write_text(
            f"def run_{number}(customer):\n    return customer.release({number})\n"
        )
    with Engine.open(root, index_dir=str(tmp_path / "index"), embedder="none") as engine:
        engine.index()
        yield engine


def test_the_function_to_mend_comes_before_the_one_that_is_named_beside_it(engine: Engine) -> None:
    found = [hit.entity for hit in engine.search(REPORT).results if hit.path == "cart.py"]
    assert found[0] in ("reduce_price", "Cart.checkout")
    assert set(found[:2]) == {"reduce_price", "Cart.checkout"}


def test_functions_of_one_chunk_are_hits_of_their_own(engine: Engine) -> None:
    hits = [hit for hit in engine.search(REPORT).results if hit.path == "cart.py" and hit.entity]
    lines = {hit.entity: (hit.start_line, hit.end_line) for hit in hits}
    assert lines["reduce_price"] == (16, 21)
    assert lines["Cart.checkout"] == (7, 10)
    assert len({hit.entity for hit in hits}) == len(hits)


def test_contributions_add_up_and_name_the_views(engine: Engine) -> None:
    for hit in engine.search(REPORT).results:
        assert sum(reason.value for reason in hit.reasons) == pytest.approx(hit.score)
    first = engine.search(REPORT).results[0]
    assert {"title", "prose", "function"} <= {reason.name for reason in first.reasons}
    assert engine.explain(REPORT, "cart.py", 16).result is not None


def test_relevance_never_rises(engine: Engine) -> None:
    found = [hit.relevance for hit in engine.search(REPORT, SearchOptions(limit=30)).results]
    assert found == sorted(found, reverse=True)
    assert all(0.0 <= relevance <= 1.0 for relevance in found)


def test_it_can_be_switched_off_and_is_for_reports_only(engine: Engine) -> None:
    def list_reasons(engine: Engine, text: str) -> set[str]:
        return {reason.name for hit in engine.search(text).results for reason in hit.reasons}

    assert "function" in list_reasons(engine, REPORT)
    assert "function" not in list_reasons(engine, "discounts of a cart are wrong")
    assert "function" not in list_reasons(engine, f"{REPORT.splitlines()[2]} kind:function")
    with Engine.open(
        engine.root, index_dir=engine.settings.index_dir, embedder="none", disabled_features=("report",)
    ) as without:
        assert "function" not in list_reasons(without, REPORT)


def test_weights_only_help_and_every_feature_belongs_to_a_group() -> None:
    weights = load_weights()
    assert tuple(weights) == FEATURES
    assert all(weights[name] >= 0 for name in FEATURES if name not in ("length", "is_function", "is_special"))
    assert sorted(name for names in GROUPS.values() for name in names) == sorted(FEATURES[1:])


def test_the_views_of_a_text_without_markup() -> None:
    found = {view.name: view.text for view in views.split_text(REPORT)}
    assert found["title"] == "Prices with a discount are wrong"
    assert found["prose"].startswith("\nWhen two discounts")
    assert found["code"] == "Cart.checkout()\nCart.checkout"
    assert "message" not in found
    assert views.split_text("discounts of a cart are wrong") == ()


def test_the_views_are_in_the_answer_and_in_what_is_explained(engine: Engine) -> None:
    answer = engine.search(REPORT)
    assert [view.name for view in answer.query.views] == ["title", "prose", "code"]
