"""Plain BM25 over windows of 30 lines: what a search finds that knows nothing of languages, formats or names.

The files are those that dowse indexes, with their lines as they are on disk (a notebook is JSON); tokens are dowse's.
"""

from __future__ import annotations

import math
import os
from collections import Counter, defaultdict
from collections.abc import Iterator
from heapq import nlargest
from pathlib import Path
from typing import NamedTuple

from dowse.code import tokens
from dowse.indexing.discover import Rules, discover
from dowse.types.discovered import FoundFile

WINDOW_LINES = 30
K1, B = 1.2, 0.75
"""The usual parameters of BM25."""


class Index(NamedTuple):
    """Windows as (path, first line, last line, number of tokens), and the windows of each token with its frequency."""

    windows: list[tuple[str, int, int, int]]
    postings: dict[str, list[tuple[int, int]]]


def index(path: str) -> Index:
    """Split every file into windows, and count the tokens of each."""
    windows: list[tuple[str, int, int, int]] = []
    postings: dict[str, list[tuple[int, int]]] = defaultdict(list)
    for name, first, lines in _split_files(Path(path)):
        counted = Counter(tokens.tokenize("\n".join(lines)).split())
        for token, count in counted.items():
            postings[token].append((len(windows), count))
        windows.append((name, first, first + len(lines) - 1, counted.total()))
    return Index(windows, postings)


def _split_files(root: Path) -> Iterator[tuple[str, int, list[str]]]:
    for found in discover(root, Rules()):
        if isinstance(found, FoundFile):
            lines = (root / os.fsdecode(found.path)).read_text("utf-8", "replace").split("\n")
            for first in range(0, len(lines), WINDOW_LINES):
                yield found.path, first + 1, lines[first : first + WINDOW_LINES]


def search(index: Index, query: str, k: int) -> list[tuple[str, int, int]]:
    """Return path, first and last line of the best windows."""
    count = len(index.windows)
    average = sum(window[3] for window in index.windows) / max(1, count)
    scores: dict[int, float] = defaultdict(float)
    for token in set(tokens.tokenize(query).split()):
        found = index.postings.get(token, [])
        weight = math.log(1 + (count - len(found) + 0.5) / (len(found) + 0.5))
        for window, frequency in found:
            length = K1 * (1 - B + B * index.windows[window][3] / average)
            scores[window] += weight * frequency * (K1 + 1) / (frequency + length)
    return [index.windows[window][:3] for window in nlargest(k, scores, key=scores.__getitem__)]
