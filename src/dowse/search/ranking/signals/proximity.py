"""Editor context boost: files near the cursor position (``--near``) rank higher, and are always considered. Never a
filter.
"""

from __future__ import annotations

from dowse.search.ranking.candidates import Candidate
from dowse.search.ranking.signals.context import SignalContext
from dowse.search.ranking.signals.test_partner import add_candidate

GAIN = 0.5
"""A hit in the file at the position counts half as much again; one that is farther away, less."""

SCORE_SHARE = 0.3
"""Score of a near file that the query does not find, as a share of the best: enough to be looked at, not to lead."""

MAX_ADDED_FILES = 25
"""Near files that are considered though the query does not find them."""

MAX_NAMESAKES = 50
"""Files of one name among which a path is looked up."""


def apply(context: SignalContext, candidates: list[Candidate]) -> None:
    """Boost candidates near the position, and add the near files that are not among them; not for exact queries."""
    snapshot, query, options = context.snapshot, context.query, context.options
    if not options.near or "exact" in context.channels:
        return
    near = dict(options.near)
    best = max((candidate.score for candidate in candidates), default=1.0)
    for candidate in candidates:
        if nearness := near.get(candidate.file.path):
            candidate.boost("proximity", 1 + GAIN * nearness, "near the position")
    found = {candidate.file.path for candidate in candidates}
    for path, nearness in list(near.items())[:MAX_ADDED_FILES]:
        file = snapshot.file_at(path) if path not in found else None
        if file is None or not file.parsed.chunks:
            continue
        if file.id not in snapshot.find_files_named(path, query.filter, MAX_NAMESAKES):
            continue
        candidate = add_candidate(
            query, file, best * SCORE_SHARE * nearness, "proximity", "near the position"
        )
        if snapshot.chunk_passes(candidate.id, query.filter):
            candidates.append(candidate)
