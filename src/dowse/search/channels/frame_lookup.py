"""Source location lookup channel (``places``): chunks that a query names by file and line, as in ``file.py:12``.

The locations are frames of a stack trace, or lines of compiler and test output; ``query/stack_traces.py`` parses them.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable

from dowse.lazy_rows import read_column
from dowse.search.channels.request import ChannelRequest
from dowse.search.query.analyze import get_last_part
from dowse.stores.protocol import Snapshot
from dowse.types.queries import Frame
from dowse.types.source import Chunk
from dowse.types.stored import Filter, Scored, StoredFile, best_first, chunk_id

MAX_FILES = 5
"""Files of one name that a frame may mean; with more, it names none."""

FRAME_STEP = 0.03
"""How much less each further frame counts than the one before: the innermost comes first."""

OTHER_FOLDER_SHARE = 0.4
"""Share for a file that has only the name in common with a path, not the folders: likely another, outside the tree."""


ISSUE_SHARE = 0.125
"""Share of a frame in a report that says more than its trace: what is wrong is often not where it shows."""


def find(request: ChannelRequest) -> list[Scored]:
    """Find the chunks that the frames of a query point at, the innermost frame first; 1 is the full score."""
    query = request.query
    scores: dict[int, float] = {}
    for rank, frame in enumerate(query.frames):
        for file in _find_files(request.snapshot, frame.path, query.filter):
            chunk = chunk_id(file.id, _find_chunk(file, frame))
            sure = OTHER_FOLDER_SHARE if _is_in_other_folder(file.path, frame.path) else 1.0
            if query.type == "issue":
                sure *= ISSUE_SHARE
            scores[chunk] = max(scores.get(chunk, 0.0), sure * max(0.1, 1.0 - FRAME_STEP * rank))
    return best_first(scores.keys(), scores.values())


def find_line(frames: Iterable[Frame], file: StoredFile, chunk: Chunk) -> int:
    """Find the first line of a chunk that a frame names; 0 if none does."""
    name = file.path.rpartition("/")[2]
    lines = (frame.line for frame in frames if frame.path.rpartition("/")[2] == name)
    return next((line for line in lines if chunk.start_line <= line <= chunk.end_line), 0)


def _is_in_other_folder(path: str, named: str) -> bool:
    """Return whether the path that is named has folders, and none of them is that of the file."""
    folder, _, name = path.rpartition("/")
    above = named.rpartition("/")[0].strip("./")
    return bool(folder and above) and not named.endswith(f"{folder.rpartition('/')[2]}/{name}")


def _find_files(snapshot: Snapshot, path: str, filter: Filter) -> list[StoredFile]:
    """Find the files that the longest known end of a path belongs to."""
    parts = [part for part in path.split("/") if part not in ("", ".", "..")]
    for start in range(len(parts)):
        if ids := snapshot.find_files_named("/".join(parts[start:]), filter, MAX_FILES + 1):
            found = (snapshot.file(id) for id in ids if len(ids) <= MAX_FILES)
            return [file for file in found if file and file.parsed.chunks]
    return []


def _find_chunk(file: StoredFile, frame: Frame) -> int:
    """Find the chunk with the frame's line; without a line, the one that defines its function; else the first."""
    line = frame.line
    if not line:
        name = get_last_part(frame.function)
        line = next((entity.line for entity in file.parsed.entities if entity.name == name), 0)
    return find_chunk_at(file, line)


def find_chunk_at(file: StoredFile, line: int) -> int:
    """Find the ordinal of the chunk that a line is in, or of the next one."""
    ends = read_column(file.parsed.chunks, "end_line")
    return min(bisect_left(ends, line), len(ends) - 1)
