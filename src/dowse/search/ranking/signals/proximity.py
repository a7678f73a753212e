"""What lies near the caller's cursor: lifted where the question finds it, and always considered. Never a filter."""

from __future__ import annotations

from collections.abc import Sequence

from dowse.search.output.similar import brought
from dowse.search.ranking.signals.candidates import Candidate
from dowse.stores.protocol import Snapshot
from dowse.types import AnalysedQuery, SearchOptions

LIFT = 0.5
"""A hit in the file of the cursor counts half as much again; one that is farther away, less."""

SHARE = 0.3
"""What a near file that the question does not find is worth of the best hit: enough to be looked at, not to lead."""

CONSIDERED = 25
"""Near files that are considered though the question does not find them."""

ALIKE_NAMES = 50
"""Files of one name among which a path is looked up."""


def with_near(
    snapshot: Snapshot, query: AnalysedQuery, candidates: Sequence[Candidate], options: SearchOptions
) -> list[Candidate]:
    """The candidates, those near the cursor lifted, and the near files that were not among them."""
    near = dict(options.near)
    best = max((candidate.score for candidate in candidates), default=1.0)
    for candidate in candidates:
        if nearness := near.get(candidate.file.path):
            candidate.weigh("cursor", 1 + LIFT * nearness, "near the cursor")
    found = {candidate.file.path for candidate in candidates}
    added = []
    for path, nearness in list(near.items())[:CONSIDERED]:
        file = snapshot.file_at(path) if path not in found else None
        if file is None or not file.parsed.chunks:
            continue
        if file.id not in snapshot.files_named(path, options.filter, ALIKE_NAMES):
            continue
        candidate = brought(query, file, best * SHARE * nearness, "cursor", "near the cursor")
        if snapshot.chunk_passes(candidate.id, options.filter):
            added.append(candidate)
    return [*candidates, *added]
