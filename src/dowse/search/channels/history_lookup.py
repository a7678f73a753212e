"""Git history channel (``history``): files that earlier commits changed whose messages are like the query.

Of each file, the chunk that is nearest in meaning stands for it: which lines a commit changed is not known.
"""

from __future__ import annotations

from collections.abc import Sequence

from dowse.filters import file_passes, to_facts
from dowse.search.channels.request import ChannelRequest, NotRun
from dowse.types.stored import Scored, StoredFile, best_first, chunk_id

MAX_FILES = 30
"""Files that the channel brings."""


def find(request: ChannelRequest) -> list[Scored]:
    """Find the files that commits with similar messages changed; 1 is the full score."""
    query, snapshot, rated = request.query, request.snapshot, request.history_evidence
    best = sorted(rated, key=lambda path: (-rated[path].score, path))
    found: dict[int, tuple[StoredFile, float]] = {}
    for path in best:
        file = snapshot.file_at(path)  # it may be gone since
        if file is not None and file.parsed.chunks and file_passes(query.filter, to_facts(file)):
            found[file.id] = file, rated[path].score
        if len(found) >= MAX_FILES:
            break
    nearest = _find_nearest_chunks(request, list(found))
    scores = {chunk_id(id, nearest.get(id, 0)): score for id, (_, score) in found.items()}
    passing = [chunk for chunk in scores if snapshot.chunk_passes(chunk, query.filter)]
    return best_first(passing, [scores[chunk] for chunk in passing])


def _find_nearest_chunks(request: ChannelRequest, files: Sequence[int]) -> dict[int, int]:
    """Find the chunk of each file that is nearest to the query in meaning, where meaning counts."""
    if isinstance(request.vector, NotRun):
        return {}
    cosines = request.snapshot.file_cosines(request.vector, files)
    return {id: max(range(len(each)), key=each.__getitem__) for id, each in cosines.items()}
