"""Soft word matching: how near the words of texts come to wanted words, by the vectors of the built-in model."""

from __future__ import annotations

import math
from array import array
from itertools import product

import pytest

from dowse.embedders.embedder import MatchesWords
from dowse.embedders.hashing import HashingEmbedder
from dowse.embedders.static import load_built_in
from dowse.embedders.word_match import MIN_COSINE, match_rows

TABLE = {
    0: (127, 0, 0, 0),
    1: (120, 40, 0, 0),
    2: (60, 110, 0, 0),
    3: (0, 0, 127, 0),
    4: (-127, 0, 0, 0),
}


def read(row: int) -> bytes:
    return array("b", TABLE[row]).tobytes()


def cosine(one: int, other: int) -> float:
    dot = sum(a * b for a, b in zip(TABLE[one], TABLE[other], strict=True))
    return dot / (math.hypot(*TABLE[one]) * math.hypot(*TABLE[other]))


def scale(value: float) -> float:
    return max(0.0, (value - MIN_COSINE) / (1 - MIN_COSINE))


def test_each_text_gives_the_cosine_of_its_nearest_word() -> None:
    texts = [frozenset(rows) for rows in ({0}, {1, 2}, {2, 3}, {3}, {4}, set[int](), {0, 1, 2, 3, 4})]
    found = match_rows([0, 3], texts, 4, read)
    for wanted, (number, rows) in product((0, 3), enumerate(texts)):
        expected = max((scale(cosine(wanted, row)) for row in rows), default=0.0)
        assert found[wanted][number] == pytest.approx(expected, abs=1e-3), (wanted, rows)


def test_nothing_is_matched_with_nothing() -> None:
    assert match_rows([], [frozenset({0})], 4, read) == {}
    assert match_rows([0], [], 4, read) == {0: []}
    assert match_rows([0], [frozenset()], 4, read) == {0: [0.0]}


def test_words_of_the_same_meaning_meet() -> None:
    embedder = load_built_in()
    texts = [b"def delete_file(path):", b"def remove(path):", b"def paint(window):"]
    (near, same, other) = embedder.match_words(["remov"], texts)["remov"]
    assert same == pytest.approx(1.0, abs=1e-3)
    assert same > near > other >= 0.0


def test_a_word_without_a_vector_is_missing() -> None:
    assert load_built_in().match_words(["xqzzyw"], [b"xqzzyw"]) == {}


def test_which_embedders_match_words() -> None:
    assert isinstance(load_built_in(), MatchesWords)
    assert not isinstance(HashingEmbedder(), MatchesWords)
