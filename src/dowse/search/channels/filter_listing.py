"""Listing by filters: where a query has filters and nothing else, what passes them, in order of path."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice

from dowse.filters import file_passes, to_facts
from dowse.search.channels.request import ChannelRequest
from dowse.stores.protocol import Snapshot
from dowse.types.stored import Filter, NameTier, Scored, chunk_id, split_chunk_id

MAX_LISTED = 5_000
"""Definitions that are put in order: those that a filter lets through are found by name."""

ANY_NAME = "**"
"""A glob that every name fits, also one with slashes."""


def find(request: ChannelRequest) -> Sequence[Scored]:
    """List the definitions that a filter asks for, or else the files that it lets through."""
    snapshot, query = request.snapshot, request.query
    listed = _list_definitions if query.filter.about_chunks else _list_files
    chunks = list(dict.fromkeys(islice(listed(snapshot, query.filter), request.depth)))
    return [Scored(chunk, 1.0 - place / (len(chunks) + 1)) for place, chunk in enumerate(chunks)]


def _list_definitions(snapshot: Snapshot, filter: Filter) -> Iterator[int]:
    hits = snapshot.names(ANY_NAME, NameTier.GLOB, filter, MAX_LISTED)
    found = {chunk_id(hit.file, hit.chunk) for hit in hits}
    paths = {
        id: file.path for id in {split_chunk_id(chunk)[0] for chunk in found} if (file := snapshot.file(id))
    }
    ordered = sorted(
        (paths[file], ordinal, file) for file, ordinal in map(split_chunk_id, found) if file in paths
    )
    return (chunk_id(file, ordinal) for _, ordinal, file in ordered)


def _list_files(snapshot: Snapshot, filter: Filter) -> Iterator[int]:
    for path in sorted(snapshot.manifest()):
        file = snapshot.file_at(path)
        if file is not None and file.parsed.chunks and file_passes(filter, to_facts(file)):
            yield chunk_id(file.id, 0)
