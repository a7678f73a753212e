"""Message places: within a file, the lines that a program's message was printed from come before all others."""

from __future__ import annotations

from collections.abc import Mapping

from dowse.search.channels.request import Retrieved
from dowse.search.ranking.candidates import Candidate
from dowse.search.ranking.test_partners import find_best_by_file
from dowse.types.queries import Query

SURE_MATCH = 0.35
"""Score of the phrases channel from which on a literal is taken for that of the message."""

STEP = 1e-6


def lead_with_messages(query: Query, channels: Mapping[str, Retrieved], candidates: list[Candidate]) -> None:
    """Lift the place with the literal of a message above the others of its file; not of reports and traces."""
    found = channels.get("phrases")
    if found is None or query.views or query.frames:
        return
    matches = {chunk: score for chunk, score in found.hits if score >= SURE_MATCH}
    if not matches:
        return
    printing: dict[int, Candidate] = {}
    for candidate in candidates:
        known = printing.get(candidate.file.id)
        match = matches.get(candidate.id, 0.0)
        if match and (known is None or match > matches[known.id]):
            printing[candidate.file.id] = candidate
    for best in find_best_by_file(candidates).values():
        lifted = printing.get(best.file.id)
        if lifted is not None and matches.get(best.id, 0.0) < matches[lifted.id]:
            gap = best.score - lifted.score + STEP
            lifted.adjust("phrases", gap, "the message is printed from here")
