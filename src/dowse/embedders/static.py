"""The built-in model: one learned vector per word, no network and no download.

A text is the weighted sum of its words' vectors, brought to length one. Words are cut as for keyword search; one that
the vocabulary lacks is known by the character n-grams it is made of, so that any script gives something.
Documents and questions weigh words differently: both weights are learned. ``docs/model.md`` says how it was trained.
"""

from __future__ import annotations

import json
import threading
from collections import Counter
from collections.abc import Mapping, Sequence
from functools import cached_property, lru_cache
from importlib import resources
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple
from zlib import crc32

from dowse.code import tokens
from dowse.errors import SettingsError

if TYPE_CHECKING:
    import numpy as np

    from dowse.embedders.base import Matrix

MAGIC = b"dowse static embedding 1\n"
ALIGNMENT = 64
PIECE = 4
"""Characters of the n-grams that stand for an unknown word."""

MAX_PIECES = 10
"""N-grams of one word at the most: a long unknown word is data."""

_MEMO_LIMIT = 200_000
"""Distinct words remembered at a time: about 40 MB at the most."""


class Words(dict[str, tuple[int, ...]]):
    """Remembers for each word as written the rows of the table it stands for."""

    def __init__(self, vocabulary: Mapping[str, int], buckets: int) -> None:
        super().__init__()
        self._vocabulary = vocabulary
        self._buckets = buckets

    def __missing__(self, word: str) -> tuple[int, ...]:
        if len(self) >= _MEMO_LIMIT:
            self.clear()
        rows = self[word] = tuple(chain.from_iterable(map(self._rows, tokens.words(word))))
        return rows

    def _rows(self, word: str) -> list[int]:
        rows: list[int] = []
        whole, *parts = tokens.word_tokens(word) or [""]
        if (known := self._vocabulary.get(whole)) is not None:
            rows.append(known)
        elif not parts:  # an unknown compound is its parts
            rows.extend(self._pieces(whole))
        for part in parts:
            known = self._vocabulary.get(part)
            rows.extend(self._pieces(part) if known is None else (known,))
        return rows

    def _pieces(self, word: str) -> list[int]:
        if not word:
            return []
        marked = f"<{word}>"
        count = min(max(len(marked) - PIECE + 1, 1), MAX_PIECES)
        first = len(self._vocabulary)
        return [first + crc32(marked[i : i + PIECE].encode()) % self._buckets for i in range(count)]

    def counts(self, text: str) -> Counter[int]:
        """How often a text uses each row of the table."""
        raw = text.encode("utf-8", "replace").translate(tokens._BLANK_PUNCTUATION)
        return Counter(chain.from_iterable(map(self.__getitem__, raw.decode("utf-8", "replace").split())))

    def row(self, text: str) -> tuple[Any, Any]:
        """A text as training sees it: the rows it uses and their dampened counts."""
        import numpy as np

        found = self.counts(text)
        values = np.sqrt(np.fromiter(found.values(), dtype=np.float32, count=len(found)))
        return np.fromiter(found.keys(), dtype=np.uint16, count=len(found)), values.astype(np.float16)
