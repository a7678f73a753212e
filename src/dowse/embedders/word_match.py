"""Soft word matching: the cosine of each word of a query with the nearest word of each text, by static word vectors.

A keyword search counts a word or does not. Here "remove" in a query meets "delete" in a text, as far as their vectors
do. All texts are compared in one go: a vector is compared once, however many texts have its word.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import simsimd

MIN_COSINE = 0.25
"""Words that are less near than this have nothing to do with each other: most pairs of words are."""


def match_rows(
    wanted: Sequence[int], texts: Sequence[frozenset[int]], size: int, read: Callable[[int], bytes]
) -> Mapping[int, Sequence[float]]:
    """Match rows of a table of int8 vectors with the rows of texts: for each of them, a cosine for each text.

    A cosine is scaled, so that the least that counts is 0, and the same word 1.
    """
    texts_by_row: dict[int, int] = {}
    for number, rows in enumerate(texts):
        for row in rows:
            texts_by_row[row] = texts_by_row.get(row, 0) | 1 << number
    if not wanted or not texts_by_row:
        return {row: [0.0] * len(texts) for row in wanted}
    known = list(texts_by_row)
    distances: Any = simsimd.cdist(
        memoryview(b"".join(map(read, wanted))).cast("b", [len(wanted), size]),
        memoryview(b"".join(map(read, known))).cast("b", [len(known), size]),
        "cos",
        dtype="int8",
        out_dtype="float32",
    )
    flat = memoryview(distances).cast("B").cast("f").tolist()
    everywhere = (1 << len(texts)) - 1
    found = {}
    for n, row in enumerate(wanted):
        own = flat[n * len(known) : (n + 1) * len(known)]
        near = sorted([(d, i) for i, d in enumerate(own) if d < 1.0 - MIN_COSINE])
        best, done = [0.0] * len(texts), 0
        for distance, i in near:
            new = texts_by_row[known[i]] & ~done
            if not new:
                continue
            share = min(1.0, (1.0 - distance - MIN_COSINE) / (1.0 - MIN_COSINE))
            for number in _list_bits(new):
                best[number] = share
            done |= new
            if done == everywhere:
                break
        found[row] = best
    return found


def _list_bits(number: int) -> list[int]:
    """List the positions of the bits that are set."""
    found = []
    while number:
        low = number & -number
        found.append(low.bit_length() - 1)
        number ^= low
    return found
