"""Editor context: files near the cursor (``--near``) rank higher, and are always considered. Never a filter.

The file at the position and its test or source come into the first files if the query finds them at all. Near files
that it does not find come after every near file that it finds.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from dowse.search.ranking.candidates import Candidate
from dowse.search.ranking.test_partners import find_best_by_file, find_likely_partners, make_added_candidate
from dowse.stores.protocol import Snapshot
from dowse.types.queries import Query
from dowse.types.stored import StoredFile

GAIN = 1.0
"""What is added to a hit in the file at the position; to one that is farther away, less."""

ADDED_GAP = 2.0
"""How far below the best hit a near file stands that the query does not find: considered, but not first."""

FIRST_FILES = 5
"""The file at the position and its partner are among so many files, if the query finds them."""

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
    best_score = max((candidate.score for candidate in candidates), default=0.0)
    for candidate in candidates:
        if nearness := nearness_by_path.get(candidate.file.path):
            candidate.adjust("proximity", GAIN * nearness, _WHY)
    best = {candidate.file.path: candidate for candidate in find_best_by_file(candidates).values()}
    _lift_into_first_files(best, _list_own_files(snapshot, query, near[0][0]))
    lowest = min((c.score for path, c in best.items() if nearness_by_path.get(path)), default=best_score)
    for path, nearness in list(nearness_by_path.items())[:MAX_ADDED_FILES]:
        file = snapshot.file_at(path) if path not in best and nearness > 0 else None
        if file is None or not _may_be_added(snapshot, query, file):
            continue
        score = min(best_score - ADDED_GAP / nearness, lowest - STEP / nearness)
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
    found = (best[path] for path in paths if path in best)
    lifted = [candidate for candidate in found if _shares_words(candidate)][:FIRST_FILES]
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
