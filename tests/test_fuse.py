"""Fusion by its formulas, spelled out."""

import statistics

import pytest

from dowse.search.ranking.fusion import BOUNDED_CHANNELS, FULL_SPREAD_DEVIATIONS, METHODS, RRF_K, fuse
from dowse.settings import Settings
from dowse.types.stored import Scored


def totals(
    method: str, channels: dict[str, list[tuple[int, float]]], weights: dict[str, float]
) -> dict[int, float]:
    """The score of each chunk."""
    hits = {name: [Scored(*hit) for hit in found] for name, found in channels.items()}
    scores, given = fuse(method, hits, weights)
    assert scores == pytest.approx({chunk: sum(value for _, value, _ in given[chunk]) for chunk in given})
    return scores


def test_reciprocal_ranks() -> None:
    channels = {"lexical": [(1, 9.0), (2, 8.0), (3, 1.0)], "dense": [(3, 0.9), (4, 0.8)]}
    scores = totals("rrf", channels, {"lexical": 1.0, "dense": 1.0})
    assert RRF_K == 60
    assert scores[3] == pytest.approx((60 + 1) * (1 / (60 + 3) + 1 / (60 + 1)))
    assert scores[1] == pytest.approx((60 + 1) * (1 / (60 + 1)))
    assert scores[2] == pytest.approx((60 + 1) * (1 / (60 + 2)))
    assert scores[4] == pytest.approx((60 + 1) * (1 / (60 + 2)))
    assert max(scores, key=lambda chunk: scores[chunk]) == 3


def test_reciprocal_ranks_with_weights() -> None:
    channels = {"lexical": [(1, 5.0), (2, 4.0)], "dense": [(2, 0.5), (1, 0.4)]}
    scores = totals("rrf", channels, {"lexical": 2.0, "dense": 0.5})
    assert scores[1] == pytest.approx(61 * (2.0 / 61 + 0.5 / 62))
    assert scores[2] == pytest.approx(61 * (2.0 / 62 + 0.5 / 61))


def test_scores_are_shares_of_the_best_of_their_channel() -> None:
    channels = {"lexical": [(1, 8.0), (2, 2.0)], "dense": [(2, 0.5), (3, -0.1)]}
    scores = totals("scores", channels, {"lexical": 1.0, "dense": 2.0})
    assert scores == pytest.approx({1: 8 / 8, 2: 2 / 8 + 2 * 0.5 / 0.5, 3: 0.0})


def test_scores_that_have_a_bound_are_taken_as_they_are() -> None:
    for channel in BOUNDED_CHANNELS:
        scores = totals("scores", {channel: [(1, 0.7), (2, 0.4)]}, {channel: 0.5})
        assert scores == pytest.approx({1: 0.35, 2: 0.2})


def test_distance_from_the_mean_of_the_channel() -> None:
    lexical = [9.0, 5.0, 2.0, 1.0]
    channels = {"lexical": list(enumerate(lexical, 1)), "dense": [(3, 0.9), (1, 0.5)], "names": [(2, 0.9)]}
    scores = totals("zscore", channels, {"lexical": 1.0, "dense": 0.5, "names": 0.3})
    z = {score: (score - 4.25) / 9.6875**0.5 for score in lexical}  # mean and variance by hand
    assert statistics.NormalDist.from_samples(lexical).zscore(9.0) == pytest.approx(z[9.0] * (3 / 4) ** 0.5)
    assert FULL_SPREAD_DEVIATIONS == 6
    assert scores[2] == pytest.approx((z[5.0] - z[1.0]) / 6 + 0.3 * 0.9)
    assert scores[1] == pytest.approx((z[9.0] - z[1.0]) / 6)
    assert scores[3] == pytest.approx(
        (z[2.0] - z[1.0]) / 6 + 0.5 * 2 / 6
    )  # two values are two deviations apart
    assert scores[4] == 0.0


@pytest.mark.parametrize("method", METHODS)
def test_a_channel_contributes_at_most_its_weight(method: str) -> None:
    channels = {"lexical": [(i, 100.0 / i) for i in range(1, 20)], "names": [(7, 1.0)]}
    scores = totals(method, channels, {"lexical": 1.0, "names": 0.3})
    assert scores[1] == pytest.approx(1.0) or method == "zscore"
    assert all(0 <= score <= 1.3 for score in scores.values())


@pytest.mark.parametrize("method", METHODS)
def test_every_contribution_has_a_name_and_a_rank(method: str) -> None:
    hits = {"lexical": [Scored(5, 2.0), Scored(6, 1.0)], "dense": [Scored(6, 0.5)]}
    given = fuse(method, hits, {"lexical": 1.0, "dense": 1.0}).contributions
    assert [(channel, rank) for channel, _, rank in given[6]] == [("lexical", 2), ("dense", 1)]
    assert [channel for channel, _, _ in given[5]] == ["lexical"]


@pytest.mark.parametrize("method", METHODS)
def test_nothing_found_is_nothing_fused(method: str) -> None:
    assert fuse(method, {"lexical": [], "dense": []}, {"lexical": 1.0, "dense": 1.0}) == ({}, {})


def test_scores_of_nothing_but_zero_do_no_harm() -> None:
    assert totals("scores", {"dense": [(1, 0.0), (2, -0.5)]}, {"dense": 1.0}) == {1: 0.0, 2: 0.0}


def test_the_default_is_one_of_the_methods() -> None:
    assert Settings().fusion in METHODS
