"""Places that a question itself names: frames of a stack trace, lines of compiler and test output, ``file.py:12``."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterable

from dowse.lazy_rows import column
from dowse.search.query import stack_traces
from dowse.search.query.analyze import last_part
from dowse.stores.protocol import Snapshot
from dowse.types import Chunk, Filter, Frame, Scored, StoredFile, best_first, chunk_id

MAX_FILES = 5
"""Files of one name that a frame may mean; with more, it names none."""

STEP = 0.03
"""What each further frame counts less than the one before: the innermost comes first."""

ELSEWHERE = 0.4
"""What a file counts that only shares its name with a path that has folders: likely another, outside of the tree."""

_LINE = re.compile(r"(\.\w+):\d+(?::\d+)?\b")


def find(snapshot: Snapshot, frames: list[Frame], filter: Filter) -> list[Scored]:
    """The chunks that frames point at, most relevant first; 1 is the full score."""
    scores: dict[int, float] = {}
    for rank, frame in enumerate(frames):
        for file in _files(snapshot, frame.path, filter):
            chunk = chunk_id(file.id, _ordinal(file, frame))
            sure = ELSEWHERE if _is_elsewhere(file.path, frame.path) else 1.0
            scores[chunk] = max(scores.get(chunk, 0.0), sure * max(0.1, 1.0 - STEP * rank))
    return best_first(scores.keys(), scores.values())


def question(text: str) -> tuple[str, list[Frame]]:
    """A program's output as a question: what went wrong, in which functions; and the places it names."""
    frames = stack_traces.frames(text)
    functions = dict.fromkeys(frame.function for frame in frames if frame.function)
    return " ".join([stack_traces.message(text), *functions]), frames


def named(text: str) -> tuple[str, list[Frame]]:
    """A question without the numbers of lines in it (``cart.py:12``), and the places that they name."""
    if not _LINE.search(text):
        return text, []
    return _LINE.sub(r"\1", text), [frame for frame in stack_traces.frames(text) if frame.line]


def line_in(frames: Iterable[Frame], file: StoredFile, chunk: Chunk) -> int:
    """The first line of a chunk that a frame names; 0 if none does."""
    name = file.path.rpartition("/")[2]
    lines = (frame.line for frame in frames if frame.path.rpartition("/")[2] == name)
    return next((line for line in lines if chunk.start_line <= line <= chunk.end_line), 0)


def _is_elsewhere(path: str, named: str) -> bool:
    """Whether the path that is named has folders, and none of them is that of the file."""
    folder, _, name = path.rpartition("/")
    above = named.rpartition("/")[0].strip("./")
    return bool(folder and above) and not named.endswith(f"{folder.rpartition('/')[2]}/{name}")


def _files(snapshot: Snapshot, path: str, filter: Filter) -> list[StoredFile]:
    """The files that the longest known end of a path belongs to."""
    parts = [part for part in path.split("/") if part not in ("", ".", "..")]
    for start in range(len(parts)):
        if ids := snapshot.files_named("/".join(parts[start:]), filter, MAX_FILES + 1):
            found = (snapshot.file(id) for id in ids if len(ids) <= MAX_FILES)
            return [file for file in found if file and file.parsed.chunks]
    return []


def _ordinal(file: StoredFile, frame: Frame) -> int:
    """The chunk with the frame's line; without a line, the one that defines its function; else the first."""
    line = frame.line
    if not line:
        name = last_part(frame.function)
        line = next((entity.line for entity in file.parsed.entities if entity.name == name), 0)
    return chunk_at(file, line)


def chunk_at(file: StoredFile, line: int) -> int:
    """The place of the chunk that a line is in, or of the one behind it."""
    ends = column(file.parsed.chunks, "end_line")
    return min(bisect_left(ends, line), len(ends) - 1)
