"""Editor context: files near the cursor (``--near``) rank higher, and are always considered. Never a filter.

The file at the position and its test or source come into the first files if the query finds them at all. Others near it
rise among the first files only, and what the query does not find comes after what it finds: so from the first files on,
what was found stays in, but for as many as the file at the position and its partners displace.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from dowse.search.ranking.candidates import Candidate
from dowse.search.ranking.test_partners import find_best_by_file, find_likely_partners, make_added_candidate
from dowse.stores.protocol import Snapshot
from dowse.types.queries import Query
from dowse.types.stored import StoredFile

GAIN = 1.0
"""What is added to the best hit in the file at the position; to that in one that is farther away, less."""

ADDED_GAP = 2.0
"""How far below the best hit the file at the position stands if the query does not find it: considered, not first."""

FIRST_FILES = 5
"""The file at the position and its partner are among so many files, if the query finds them, and others near it rise
among so many: the first five stay the first five."""

STEP = 0.001
"""By how much one stands before or after another where only the order matters."""

MAX_ADDED_FILES = 25
"""Near files that are considered though the query does not find them."""

MAX_NAMESAKES = 50
"""Files of one name among which a path is looked up."""

_WHY = "near the position"


def raise_near_files(
    snapshot: Snapshot, query: Query, near: Sequence[tuple[str, float]], candidates: list[Candidate]
) -> None:
    """Raise candidates near the position, and add the near files that are not among them; not for exact queries."""
    if not near or query.is_exact:
        return
    nearness_by_path = dict(near)
    position = near[0][0]
    found = sorted(find_best_by_file(candidates).values(), key=lambda c: (-c.score, c.file.path))
    best = {candidate.file.path: candidate for candidate in found}
    best_score = found[0].score if found else 0.0
    own = [path for path in _list_own_files(snapshot, query, position) if path in best]
    own = [path for path in own if path == position or _shares_words(best[path])]
    raised = {*own, *(candidate.file.path for candidate in found[:FIRST_FILES])}
    for path, candidate in best.items():  # of each file one place, so that others are not crowded out
        if path in raised and (nearness := nearness_by_path.get(path)):
            candidate.adjust("proximity", GAIN * nearness, _WHY)
    _lift_into_first_files(best, own)
    lowest = min((candidate.score for candidate in found), default=best_score)
    lowest_near = min((c.score for c in found if nearness_by_path.get(c.file.path)), default=best_score)
    for path, nearness in list(nearness_by_path.items())[:MAX_ADDED_FILES]:
        file = snapshot.file_at(path) if path not in best and nearness > 0 else None
        if file is None or not _may_be_added(snapshot, query, file):
            continue
        score = lowest - STEP / nearness
        if path == position:
            score = max(score, min(best_score - ADDED_GAP / nearness, lowest_near - STEP))
        added = make_added_candidate(query, file, score, "proximity", _WHY)
        if snapshot.chunk_passes(added.id, query.filter):
            candidates.append(added)


def _list_own_files(snapshot: Snapshot, query: Query, path: str) -> list[str]:
    """List the file at the position and its partners, most certain first."""
    file = snapshot.file_at(path)
    partners = find_likely_partners(snapshot, file, query.filter) if file else []
    return [path, *(partner.path for partner, _ in sorted(partners, key=lambda pair: -pair[1]))]


def _lift_into_first_files(best: Mapping[str, Candidate], paths: Iterable[str]) -> None:
    """Lift the best candidates of some files, of which the first comes first, among the first files.

    Not what shares no word with the query: what is only alike in meaning, or stands beside another file.
    """
    lifted = [best[path] for path in paths if _shares_words(best[path])][:FIRST_FILES]
    ids = {candidate.id for candidate in lifted}
    others = sorted((c.score for c in best.values() if c.id not in ids), reverse=True)
    room = FIRST_FILES - len(lifted)
    if room >= len(others):
        return
    for place, candidate in enumerate(reversed(lifted), 1):
        score = others[room] + STEP * place
        if candidate.score < score:
            candidate.adjust("proximity", score - candidate.score, _WHY)


def _shares_words(candidate: Candidate) -> bool:
    return not {name for name, _, _ in candidate.contributions} <= {"dense", "partners"}


def _may_be_added(snapshot: Snapshot, query: Query, file: StoredFile) -> bool:
    is_allowed = file.id in snapshot.find_files_named(file.path, query.filter, MAX_NAMESAKES)
    return bool(file.parsed.chunks) and is_allowed
