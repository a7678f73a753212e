"""Dense retrieval (semantic search): nearest neighbours of the query embedding by cosine similarity.

Skipped for queries that are a symbol or a file name, unless hybrid search is forced.
"""

from __future__ import annotations

from collections.abc import Sequence

from dowse.errors import EmbedderError
from dowse.search.channels.request import ChannelRequest, NotRun
from dowse.types.stored import Filter, Scored

DEPTH_SHARE = 0.8
"""Candidates by meaning for each one by keywords: further down, meaning says less."""

LITERAL_TYPES = frozenset({"symbol", "file"})
"""Types of queries that mean what is written: code that is alike in meaning is not what is asked for."""


def find(request: ChannelRequest) -> Sequence[Scored] | NotRun:
    """Find the nearest chunks by embedding, or say why the channel does not run."""
    query, snapshot, embedder = request.query, request.snapshot, request.embedder
    if embedder is None:
        return NotRun("no embedder is set")
    if request.hybrid == "off":
        return NotRun("hybrid search is switched off")
    if request.hybrid == "auto" and query.type in LITERAL_TYPES:
        return NotRun(f"the query is a {query.type}, not words")
    try:
        vector = embedder.embed_query(query.text)
    except EmbedderError as error:
        return NotRun(str(error), failed=True)
    if not any(vector):
        return NotRun("the query has no words")
    hits = snapshot.dense(vector, query.filter, int(request.depth * DEPTH_SHARE))
    if not hits and not snapshot.dense(vector, Filter(), 1):
        return NotRun("the index has no vectors: 'dowse index' makes them", failed=True)
    return hits
