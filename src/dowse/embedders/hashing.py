"""Feature hashing (the hashing trick): embeddings without a model, each token hashed to a few signed buckets.

Small, fast and the same on every platform: the test embedder of the dense channel. It knows no meaning, so it finds
what keyword search finds.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from functools import lru_cache
from hashlib import blake2b
from typing import TYPE_CHECKING

from dowse.code import tokens

if TYPE_CHECKING:
    from dowse.embedders.embedder import Matrix

DIMENSIONS = 256
BUCKETS_PER_TOKEN = 4
"""Buckets per token: with several, two tokens that share one are still told apart."""


class HashingEmbedder:
    """Embeds a text as a bag of hashed tokens, with dampened counts, normalized."""

    name = f"hashing-{DIMENSIONS}-{tokens.VERSION}"

    def embed_documents(self, texts: Sequence[str]) -> Matrix:
        """Embed texts, one row for each."""
        import numpy as np

        return np.array([_embed(text) for text in texts], dtype=np.float32).reshape(len(texts), DIMENSIONS)

    def embed_query(self, text: str) -> Sequence[float]:
        """Embed a query."""
        return _embed(text)


def _embed(text: str) -> list[float]:
    values = [0.0] * DIMENSIONS
    for token, count in Counter(tokens.tokenize(text).split()).items():
        weight = 1.0 + math.log(count)
        for bucket, sign in _hash_buckets(token):
            values[bucket] += sign * weight
    length = math.sqrt(sum(value * value for value in values)) or 1.0
    return [value / length for value in values]


@lru_cache(maxsize=100_000)
def _hash_buckets(token: str) -> tuple[tuple[int, int], ...]:
    digest = blake2b(token.encode(), digest_size=2 * BUCKETS_PER_TOKEN).digest()
    numbers = (int.from_bytes(digest[i : i + 2], "little") for i in range(0, len(digest), 2))
    return tuple((number % DIMENSIONS, 1 if number & 0x8000 else -1) for number in numbers)
