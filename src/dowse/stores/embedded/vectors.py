"""The vectors of an embedded store: int8 rows in memory-mapped segments, searched exhaustively.

Derived from the catalogue, like the lexical index. A segment is written once and never changed; a row
whose file is gone is passed over until segments are merged. ``segments.json`` names the segments and the
generation they belong to, and is replaced in one step.
"""

from __future__ import annotations

import json
import uuid
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from dowse.errors import IndexUnwritable
from dowse.types import ChunkVector, Scored, chunk_id

if TYPE_CHECKING:
    import numpy as np

    Rows = np.ndarray[Any, np.dtype[np.int8]]
    Ids = np.ndarray[Any, np.dtype[np.int64]]
    Flags = np.ndarray[Any, np.dtype[np.bool_]]

MANIFEST = "segments.json"

MAX_SEGMENTS = 8
"""More than this are merged into one: every segment costs a few calls per query."""

SCALE = 127.0
"""Vectors have length one, so no component is beyond plus or minus one."""

NEVER = -1
"""The generation of an index that is new or cannot be read."""


class Segment(NamedTuple):
    """Chunk ids and their quantised vectors, row by row."""

    ids: Ids
    rows: Rows


class VectorIndex:
    """The segments in one folder, all mapped at once: they stay readable when a merge deletes them."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.generation = NEVER
        self._segments: dict[str, Segment] = {}
        self._load()

    def _load(self) -> None:
        """Map what the manifest names; if that fails, once more, since a merge may have replaced it."""
        before = None
        while (manifest := self._manifest()) is not None and manifest != before:
            generation, names = manifest
            try:
                self._segments = {name: self._map(name) for name in names}
            except (OSError, ValueError):
                before = manifest
                continue
            self.generation = generation
            return

    def _manifest(self) -> tuple[int, list[str]] | None:
        try:
            manifest = json.loads((self.folder / MANIFEST).read_text(encoding="utf-8"))
            return int(manifest["generation"]), list(manifest["segments"])
        except (OSError, ValueError, KeyError, TypeError):
            return None

    def chunks(self) -> list[int]:
        """The ids of all rows, also of those whose files are gone."""
        return [int(id) for segment in self._segments.values() for id in segment.ids]

    def search(self, query: Sequence[float], limit: int, alive: Callable[[Ids], Flags]) -> list[Scored]:
        """The chunks nearest to the query among those that ``alive`` lets through."""
        import numpy as np

        wanted = np.asarray(query, dtype=np.float32)
        found: list[Scored] = []
        for ids, rows in self._segments.values():
            if rows.shape[1] != wanted.shape[0]:
                continue
            keep = alive(ids)
            scores = np.where(keep, _dots(rows, wanted), -np.inf)
            best = np.argpartition(-scores, min(limit, len(scores) - 1))[:limit]
            found += [Scored(int(ids[i]), float(scores[i])) for i in best if keep[i]]
        return sorted(found, key=lambda hit: (-hit.score, hit.chunk))[:limit]

    def append(
        self,
        generation: int,
        files: Sequence[tuple[int, Sequence[ChunkVector]]],
        kept: Callable[[Ids], Flags],
    ) -> None:
        """Add the vectors of files (each has some) as one segment; of too many segments, merge what is ``kept``."""
        try:
            if files:
                self._write(generation, _segment(files))
            if len(self._segments) > MAX_SEGMENTS:
                self._merge(generation, kept)
            self._publish(generation)
        except OSError as error:
            raise IndexUnwritable(f"the vectors at {self.folder} cannot be written: {error}") from error

    def rebuild(self, generation: int, files: Sequence[tuple[int, Sequence[ChunkVector]]]) -> None:
        """Make the index anew; like ``append``, only files that have vectors."""
        self._segments = {}
        self.append(generation, files, lambda ids: ids >= 0)
        self._sweep()

    def _publish(self, generation: int) -> None:
        """Name the segments as those of a generation, in one step."""
        self.folder.mkdir(parents=True, exist_ok=True)
        temporary = self.folder / (MANIFEST + ".new")
        manifest = {"generation": generation, "segments": list(self._segments)}
        temporary.write_text(json.dumps(manifest), encoding="utf-8")
        temporary.replace(self.folder / MANIFEST)
        self.generation = generation

    def _map(self, name: str) -> Segment:
        import numpy as np

        ids = np.lib.format.open_memmap(self.folder / f"{name}.ids.npy", mode="r")
        rows = np.lib.format.open_memmap(self.folder / f"{name}.rows.npy", mode="r")
        if ids.dtype != np.int64 or rows.dtype != np.int8 or ids.shape != rows.shape[:1] or rows.ndim != 2:
            raise ValueError(f"segment {name} is not made of ids and rows")
        return Segment(ids, rows)

    def _write(self, generation: int, segment: Segment) -> None:
        """Write a segment under a name of its own: whoever reads an older one is not disturbed."""
        import numpy as np

        self.folder.mkdir(parents=True, exist_ok=True)
        name = f"{generation:08d}-{uuid.uuid4().hex[:8]}"
        np.save(self.folder / f"{name}.ids.npy", segment.ids)
        np.save(self.folder / f"{name}.rows.npy", segment.rows)
        self._segments[name] = segment

    def _merge(self, generation: int, kept: Callable[[Ids], Flags]) -> None:
        """Replace all segments by one for each length of vectors."""
        import numpy as np

        groups: dict[int, list[Segment]] = {}
        for ids, rows in self._segments.values():
            keep = kept(ids)
            if keep.any():
                groups.setdefault(rows.shape[1], []).append(Segment(ids[keep], rows[keep]))
        self._segments = {}
        for parts in groups.values():
            ids, rows = (np.concatenate(arrays) for arrays in zip(*parts, strict=True))
            self._write(generation, Segment(ids, rows))
        self._publish(generation)
        self._sweep()

    def _sweep(self) -> None:
        """Delete the files of segments that are no longer named."""
        for path in self.folder.glob("*.npy"):
            if path.name.partition(".")[0] not in self._segments:
                try:
                    path.unlink()
                except OSError:  # still mapped by a reader on Windows: the next sweep removes it
                    continue


def _segment(files: Sequence[tuple[int, Sequence[ChunkVector]]]) -> Segment:
    import numpy as np

    ids = [chunk_id(file, ordinal) for file, vectors in files for ordinal in range(len(vectors))]
    data = b"".join(vector for _, vectors in files for _, vector in vectors)
    matrix = np.frombuffer(data, dtype="<f4").reshape(len(ids), -1)
    return Segment(np.asarray(ids, dtype=np.int64), quantise(matrix))


def quantise(matrix: Any) -> Any:
    """Vectors of length one as int8."""
    import numpy as np

    return np.clip(np.rint(matrix * SCALE), -127, 127).astype(np.int8)


def _dots(rows: Any, query: Any) -> Any:
    """Dot products of int8 rows with a query, in blocks so that no large float copy is made."""
    import numpy as np

    block = 16_384
    out = np.empty(len(rows), dtype=np.float32)
    for start in range(0, len(rows), block):
        out[start : start + block] = rows[start : start + block].astype(np.float32) @ query
    return out / SCALE
