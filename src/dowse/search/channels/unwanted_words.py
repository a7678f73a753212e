"""Unwanted words of a query (``-word``, ``-"phrase"``): which chunks have them, so that no channel brings these."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from dowse.search.query import quoting
from dowse.stores.protocol import Snapshot
from dowse.types.stored import split_chunk_id


def make_check(snapshot: Snapshot, unwanted: Sequence[str]) -> Callable[[int], bool]:
    """Make a function that tells whether a chunk has any of some words or phrases; letter case does not count."""
    pattern = "|".join(map(quoting.make_pattern, unwanted)).encode("utf-8", "surrogatepass")
    found = re.compile(pattern, re.IGNORECASE)
    known: dict[int, bool] = {}

    def has_unwanted(chunk: int) -> bool:
        if chunk not in known:
            file, ordinal = split_chunk_id(chunk)
            stored = snapshot.file(file)
            part = stored.parsed.chunks[ordinal] if stored else None
            known[chunk] = part is not None and bool(
                found.search(snapshot.content(file), part.start, part.end)
            )
        return known[chunk]

    return has_unwanted
