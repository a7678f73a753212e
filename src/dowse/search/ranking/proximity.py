"""Editor context: files near the cursor (``--near``) rank higher, and are always considered. Never a filter."""

from __future__ import annotations

from collections.abc import Sequence

from dowse.search.ranking.candidates import Candidate
from dowse.search.ranking.test_partners import make_added_candidate
from dowse.stores.protocol import Snapshot
from dowse.types.queries import Query

GAIN = 1.0
"""What is added to a hit in the file at the position; to one that is farther away, less."""

ADDED_GAP = 2.0
"""How far below the best hit a near file stands that the query does not find: considered, but not first."""

MAX_ADDED_FILES = 25
"""Near files that are considered though the query does not find them."""

MAX_NAMESAKES = 50
"""Files of one name among which a path is looked up."""


def raise_near_files(
    snapshot: Snapshot, query: Query, near: Sequence[tuple[str, float]], candidates: list[Candidate]
) -> None:
    """Raise candidates near the position, and add the near files that are not among them; not for exact queries."""
    if not near or query.is_exact:
        return
    nearness_by_path = dict(near)
    best = max((candidate.score for candidate in candidates), default=0.0)
    for candidate in candidates:
        if nearness := nearness_by_path.get(candidate.file.path):
            candidate.adjust("proximity", GAIN * nearness, "near the position")
    found = {candidate.file.path for candidate in candidates}
    for path, nearness in list(nearness_by_path.items())[:MAX_ADDED_FILES]:
        file = snapshot.file_at(path) if path not in found else None
        if file is None or not file.parsed.chunks or nearness <= 0:
            continue
        if file.id not in snapshot.find_files_named(path, query.filter, MAX_NAMESAKES):
            continue
        score = best - ADDED_GAP / nearness
        added = make_added_candidate(query, file, score, "proximity", "near the position")
        if snapshot.chunk_passes(added.id, query.filter):
            candidates.append(added)
