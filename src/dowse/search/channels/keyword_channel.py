"""Lexical retrieval (keyword search): BM25 over the weighted fields of chunks (BM25F-style), from the inverted index.

The posting lists themselves are the business of the store.
"""

from __future__ import annotations

from collections.abc import Sequence

from dowse.search.channels.request import ChannelRequest
from dowse.types.stored import Scored

FIELD_WEIGHTS = {"name": 1.5, "path": 0.75, "signature": 0.25, "doc": 0.75, "body": 2.5}
"""What a match counts by its field. Signature and doc are part of the body too: this is on top of that."""


def find(request: ChannelRequest) -> Sequence[Scored]:
    """Find chunks by the terms of a query, ranked by BM25 with field weights."""
    query = request.query
    return request.snapshot.lexical(query.terms, FIELD_WEIGHTS, query.filter, request.depth, request.bm25)
