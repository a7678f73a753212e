"""Dense retrieval (semantic search): nearest neighbours of the query embedding by cosine similarity.

Skipped for queries that are a symbol or a file name, unless hybrid search is forced.
"""

from __future__ import annotations

from dowse.search.channels.request import ChannelRequest, Noted, NotRun
from dowse.types.stored import Filter

DEPTH_SHARE = 0.8
"""Candidates by meaning for each one by keywords: further down, meaning says less."""


def find(request: ChannelRequest) -> Noted | NotRun:
    """Find the nearest chunks by embedding, or say why the channel does not run."""
    vector, snapshot = request.vector, request.snapshot
    if isinstance(vector, NotRun):
        return vector
    hits = snapshot.dense(vector, request.query.filter, int(request.depth * DEPTH_SHARE))
    if not hits and not snapshot.dense(vector, Filter(), 1):
        return NotRun("the index has no vectors: 'dowse index' makes them", failed=True)
    unknown = ", ".join(f"'{name}'" for name in request.query.unknown)
    return Noted(
        hits, f"nothing is called {unknown}: found by its words and their meaning" if unknown else ""
    )
