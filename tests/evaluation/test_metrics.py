"""Formulas spelled out, and held against another implementation (ir-measures, that is trec_eval)."""

from __future__ import annotations

import math
import random

import ir_measures
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from ir_measures import RR, P, R, Success, nDCG

from dowse.errors import UsageError
from dowse.evaluation import metrics
from dowse.evaluation.eval_types import GoldTarget, Judgement, RankedHit
from dowse.evaluation.judge import judge


def judged(
    ranks: tuple[int, ...] = (),
    grades: tuple[int, ...] | None = None,
    relevant: tuple[bool, ...] = (),
    costs: tuple[int, ...] = (),
) -> Judgement:
    return Judgement(grades or (1,) * len(ranks), ranks, relevant, costs, (), ranks)


def test_ndcg_spelled_out() -> None:
    assert metrics.ndcg(judged((2, 5)), 10) == pytest.approx(
        (1 / math.log2(3) + 1 / math.log2(6)) / (1 / math.log2(2) + 1 / math.log2(3))
    )
    assert metrics.ndcg(judged((1, 2, 3)), 10) == 1.0
    assert metrics.ndcg(judged((0, 11)), 10) == 0.0


def test_two_targets_at_one_rank_count_once() -> None:
    best = 1 / math.log2(2) + 1 / math.log2(3)
    assert metrics.ndcg(judged((1, 1)), 10) == pytest.approx(1 / best)


def test_grades_weigh() -> None:
    found = metrics.ndcg(judged((2, 1), grades=(3, 1)), 10)
    assert found == pytest.approx(
        (1 / math.log2(2) + 3 / math.log2(3)) / (3 / math.log2(2) + 1 / math.log2(3))
    )


def test_ranks_and_shares() -> None:
    answer = judged((4, 0), relevant=(False, False, False, True, True))
    assert metrics.reciprocal_rank(answer, 10) == 1 / 4
    assert metrics.reciprocal_rank(answer, 3) == 0.0
    assert (metrics.hit(answer, 3), metrics.hit(answer, 4)) == (0.0, 1.0)
    assert metrics.recall(answer, 10) == 1 / 2
    assert metrics.precision(answer, 5) == 2 / 5
    assert metrics.precision(answer, 10) == 2 / 10


def test_token_recall_counts_the_results_that_fit() -> None:
    answer = judged((1, 3), costs=(100, 300, 200))
    assert metrics.token_recall(answer, 99) == 0.0
    assert metrics.token_recall(answer, 100) == 1 / 2
    assert metrics.token_recall(answer, 599) == 1 / 2
    assert metrics.token_recall(answer, 600) == 1.0


def test_span_recall_applies_only_where_there_are_spans() -> None:
    assert "span_recall@10" not in metrics.compute_metrics(judged((1,)), ["span_recall@10", "hit@1"])
    spans = Judgement((1,), (1,), (True,), (5,), (2,), (1,))
    assert metrics.compute_metrics(spans, ["span_recall@1", "span_recall@2"]) == {
        "span_recall@1": 0.0,
        "span_recall@2": 1.0,
    }


@pytest.mark.parametrize("name", ["ndcg", "ndcg@", "ndcg@0", "bleu@10", "", "hit@-1", "hit@x"])
def test_unknown_metrics_are_named(name: str) -> None:
    with pytest.raises(UsageError, match="there are"):
        metrics.parse_metric(name)


@pytest.mark.parametrize("seed", range(20))
def test_values_equal_those_of_ir_measures(seed: int) -> None:
    """On lists of distinct documents, where both definitions speak of the same thing."""
    chance = random.Random(seed)
    documents = [f"d{n}.py" for n in range(40)]
    grades = {name: chance.randint(1, 3) for name in chance.sample(documents, chance.randint(1, 8))}
    listed = chance.sample(documents, chance.randint(1, 30))
    answer = judge(
        [GoldTarget(name, grade=grade) for name, grade in grades.items()],
        [RankedHit(name, 1, 1) for name in listed],
    )
    run = {"q": {name: float(100 - rank) for rank, name in enumerate(listed)}}
    for k in (1, 3, 5, 10, 20):
        wanted = {
            nDCG @ k: metrics.ndcg,
            R @ k: metrics.recall,
            P @ k: metrics.precision,
            RR @ k: metrics.reciprocal_rank,
            Success @ k: metrics.hit,
        }
        theirs = ir_measures.calc_aggregate(list(wanted), {"q": grades}, run)
        for measure, ours in wanted.items():
            assert ours(answer, k) == pytest.approx(theirs[measure], abs=1e-9), str(measure)


# --- intervals ---


def test_percentile_is_the_nearest_rank() -> None:
    values = [float(n) for n in range(1, 101)]
    assert metrics.percentile(values, 0.5) == 50.0
    assert metrics.percentile(values, 0.95) == 95.0
    assert metrics.percentile([3.0], 0.95) == 3.0
    assert metrics.percentile([], 0.5) == 0.0


def test_intervals_cover_the_true_mean() -> None:
    """Of 95 % intervals over samples from a known distribution, about 95 % hold its mean."""
    random_numbers = np.random.default_rng(5)
    held = 0
    for _ in range(200):
        sample = random_numbers.beta(2.0, 1.0, 60).tolist()
        low, high = metrics.bootstrap_interval(sample, resamples=500)
        held += low <= 2 / 3 <= high
    assert 0.90 <= held / 200 <= 0.99


def test_the_same_values_give_the_same_interval_in_blocks_or_not(monkeypatch: pytest.MonkeyPatch) -> None:
    values = [n / 50 for n in range(50)]
    whole = metrics.bootstrap_interval(values)
    monkeypatch.setattr(metrics, "MAX_BLOCK_VALUES", 1000)
    assert metrics.bootstrap_interval(values) == pytest.approx(whole, abs=0.01)


@given(st.lists(st.floats(0, 1), min_size=1, max_size=30))
def test_the_mean_lies_in_its_interval_of_possible_values(values: list[float]) -> None:
    found = metrics.estimate(values)
    assert min(values) - 1e-9 <= found.low <= found.high <= max(values) + 1e-9
    assert found.queries == len(values)


def test_no_spread_no_interval() -> None:
    assert metrics.bootstrap_interval([0.5, 0.5]) == (0.5, 0.5)
    assert metrics.bootstrap_interval([]) == (0.0, 0.0)
