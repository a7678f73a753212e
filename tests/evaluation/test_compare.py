"""Judging answers and comparing runs."""

from __future__ import annotations

import random

import pytest

from dowse.errors import UsageError
from dowse.evaluation import variants
from dowse.evaluation.compare import compare, estimate_difference
from dowse.evaluation.eval_types import GoldTarget, Outcome, RankedHit, Run, Variant
from dowse.evaluation.judge import judge, keep_best_per_file
from dowse.evaluation.run import summarize
from dowse.settings import Settings


def test_a_result_covers_what_it_has_a_line_of() -> None:
    places = [RankedHit("a.py", 1, 9), RankedHit("a.py", 10, 20, "f"), RankedHit("b.py", 5, 6, "g")]
    found = judge(
        [GoldTarget("a.py", 20, 30), GoldTarget("a.py"), GoldTarget("b.py", entity="g"), GoldTarget("c.py")],
        places,
    )
    assert found.ranks == (2, 1, 3, 0)
    assert found.span_ranks == (2, 3)
    assert found.file_ranks == (1, 3, 0)
    assert found.relevant == (True, True, True)


def test_paths_match_by_their_ends_only_if_asked() -> None:
    places = [RankedHit("flask/app.py", 1, 2)]
    assert judge([GoldTarget("src/flask/app.py")], places).ranks == (0,)
    assert judge([GoldTarget("src/flask/app.py")], places, suffix_paths=True).ranks == (1,)
    assert judge([GoldTarget("app.py")], places, suffix_paths=True).ranks == (1,)
    assert judge([GoldTarget("lask/app.py")], places, suffix_paths=True).ranks == (0,)


def test_files_once_each_in_order() -> None:
    places = [RankedHit("a", 1, 2), RankedHit("b", 1, 2), RankedHit("a", 3, 4), RankedHit("c", 1, 1)]
    assert keep_best_per_file(places) == [places[0], places[1], places[3]]


def run_of(name: str, values: list[float]) -> Run:
    outcomes = tuple(
        Outcome(str(n), f"q{n}", "", ("x",), (1,), {"mrr": value}, 1.0, 1, 1, ())
        for n, value in enumerate(values)
    )
    return Run(Variant(name), outcomes, summarize(outcomes, ["mrr"]))


def test_a_clear_gain_is_called_better_and_noise_is_not() -> None:
    chance = random.Random(3)
    base = [chance.random() * 0.5 for _ in range(100)]
    better = compare(run_of("a", base), run_of("b", [v + 0.1 + chance.random() / 10 for v in base]), ["mrr"])
    assert better.differences["mrr"].verdict == "better"
    assert len(better.improved) == 100
    noise = compare(run_of("a", base), run_of("b", [v + chance.uniform(-0.1, 0.1) for v in base]), ["mrr"])
    assert noise.differences["mrr"].verdict == "no difference shown"
    worse = compare(run_of("a", base), run_of("b", [v / 2 for v in base]), ["mrr"])
    assert worse.differences["mrr"].verdict == "worse"
    assert worse.regressed[0].before - worse.regressed[0].after == max(v / 2 for v in base)


def test_counts_and_order_of_changes() -> None:
    found = compare(run_of("a", [0.5, 1.0, 0.2, 0.3]), run_of("b", [1.0, 0.5, 0.2, 0.4]), ["mrr"])
    difference = found.differences["mrr"]
    assert (difference.better, difference.worse, difference.same) == (2, 1, 1)
    assert difference.mean == pytest.approx((0.5 - 0.5 + 0 + 0.1) / 4)
    assert [change.id for change in found.improved] == ["0", "3"]
    assert [change.id for change in found.regressed] == ["1"]


def test_runs_of_other_queries_do_not_compare() -> None:
    other = run_of("b", [1.0])
    renamed = Run(other.variant, tuple(_renamed(o) for o in other.outcomes), other.summary)
    with pytest.raises(UsageError, match="no query in common"):
        compare(run_of("a", [1.0]), renamed, ["mrr"])
    with pytest.raises(UsageError, match="none of these metrics"):
        compare(run_of("a", [1.0]), run_of("b", [1.0]), ["hit@1"])


def _renamed(outcome: Outcome) -> Outcome:
    from dataclasses import replace

    return replace(outcome, query="another")


def test_paired_intervals_cover() -> None:
    """The interval of a difference holds the true difference in about 95 % of cases."""
    chance = random.Random(11)
    held = 0
    for _ in range(100):
        pairs = [
            (_scored(value := chance.random()), _scored(value + chance.gauss(0.05, 0.2))) for _ in range(50)
        ]
        found = estimate_difference(pairs, "mrr")
        held += found.low <= 0.05 <= found.high
    assert 0.88 <= held / 100 <= 1.0


def _scored(value: float) -> Outcome:
    return Outcome("", "", "", (), (), {"mrr": value}, 1.0, 1, 1, ())


# --- variants ---


def test_variants_as_people_write_them() -> None:
    base = Settings(disabled_features=("file_role",))
    assert variants.parse("dense=off", base).settings == {"dense_weight": 0.0}
    assert variants.parse("fusion=rrf lexical_weight=2", base).settings == {
        "fusion": "rrf",
        "lexical_weight": 2.0,
    }
    assert variants.parse("definition=off", base).settings == {
        "disabled_features": ("file_role", "definition")
    }
    assert variants.parse("file_role=on", base).settings == {"disabled_features": ()}
    assert variants.parse("disabled_features=file_role,definition", base).settings == {
        "disabled_features": ("file_role", "definition")
    }
    assert variants.parse("", base).settings == {}


@pytest.mark.parametrize(
    "text", ["dense", "nonsense=1", "fusion=maybe", "lexical_weight=much", "=3", "'open"]
)
def test_variants_that_cannot_be(text: str) -> None:
    with pytest.raises(UsageError):
        variants.parse(text, Settings())
