"""The vectors of an embedded store: int8 rows in memory-mapped segments.

Derived from the catalogue, like the lexical index. A segment is written once and never changed; a row
whose file is gone is passed over until its segment is merged with others. ``segments.json`` names the
segments and the generation they belong to, and is replaced in one step.

Every row is compared, with SIMD on int8: no filter can make a search miss anything, as it does where an index is a
graph. A large segment has ``sketches`` too, which are shorter and choose the rows that are compared: there a search is
bound by how fast memory is read. Where a filter leaves few rows, these alone are compared. A search does without numpy
(see ``best``), which is for writing.
"""

from __future__ import annotations

import json
import math
import mmap
import os
import re
import struct
import time
import zlib
from array import array
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from itertools import accumulate, chain, starmap
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from dowse.errors import IndexUnwritable
from dowse.stores.embedded import pca_prefilter
from dowse.stores.embedded.checksums import checksum
from dowse.stores.embedded.pca_prefilter import Sketches
from dowse.stores.embedded.topk import LEVELS, MIDDLE, largest, rounded, rounded_rows
from dowse.types import CHUNK_BITS, ChunkVector, Scored, best_first, chunk_id

if TYPE_CHECKING:
    import numpy as np

    Ids = np.ndarray[Any, np.dtype[np.int64]]
    Flags = np.ndarray[Any, np.dtype[np.bool_]]

MANIFEST = "segments.json"
SUFFIX = ".segment"

MAX_SEGMENTS = 4
"""With more than this, some are merged: every segment costs a few calls per query, a tenth of a millisecond."""

KEPT_SHARE = 0.7
"""A segment of which less is still in use is written anew when there is a merge."""

NEXT_SHARE = 0.2
"""Small segments are merged with the next larger one if together they are so much of it."""

SKETCHED_ROWS = 40_000
"""A segment with at least so many has sketches, unless they would lose much: with fewer, comparing all is as fast."""

CHOSEN = 8
CHOSEN_SHARE = 1 / 1000
"""Rows that sketches choose: so many for each that is wanted, and this share of all."""

FEW = 1 / 32
"""If a filter leaves at most this share of the rows, they are copied together and compared."""

MANY = 1 / 20
"""If sketches would choose more than this share of the rows (there may be many copies of one text), all are compared:
to pick a row takes as long as to compare so many."""

REPLACE_ATTEMPTS = 50
REPLACE_PAUSE = 0.01
"""On Windows a file that is open cannot be replaced; who reads the manifest is done with it in a millisecond."""

_NAME = re.compile(r"\d{8,}-[0-9a-f]{8}", re.ASCII)
"""Of a segment; a file whose name is another is never opened."""

SCALE_BYTES = 4

NEVER = 0
"""The generation of an index that is new or cannot be read: that before the first commit."""


class Column(NamedTuple):
    """Numbers that lie one after the other in a segment's file."""

    format: Literal["q", "f", "b"]
    shape: tuple[int, ...]

    @property
    def size(self) -> int:
        """Bytes."""
        return math.prod(self.shape) * struct.calcsize(self.format)

    def of(self, data: memoryview) -> Any:
        """The numbers that these bytes are."""
        return data.cast(self.format, self.shape)


class Shape(NamedTuple):
    """How a segment's file is to be read."""

    name: str
    rows: int
    dimensions: int
    sketched: bool = False
    checksum: int = 0  # of the file, looked at when somebody asks whether it is whole

    @property
    def columns(self) -> dict[str, Column]:
        """What the file has, in order: ids, scales, axes and scales of sketches if it has some, rows, sketches."""
        rows, whole, short = self.rows, self.dimensions, pca_prefilter.width(self.dimensions)
        every = {
            "ids": Column("q", (rows,)),
            "scales": Column("f", (rows,)),
            "axes": Column("f", (short, whole)),
            "sketch_scales": Column("f", (rows,)),
            "rows": Column("b", (rows, whole)),
            "sketches": Column("b", (rows, short)),
        }
        return every if self.sketched else {name: every[name] for name in ("ids", "scales", "rows")}

    @property
    def size(self) -> int:
        """Bytes of the file."""
        return sum(column.size for column in self.columns.values())


class Segment:
    """Chunk ids, ascending, and their vectors: int8 components, and for each row what to multiply them by."""

    def __init__(self, shape: Shape, data: Any) -> None:
        self.shape = shape
        if memoryview(data).nbytes != shape.size:
            raise ValueError(f"segment {shape.name} is not of the size it should be")
        columns = shape.columns
        ends = accumulate(column.size for column in columns.values())
        self._bytes = {
            name: memoryview(data)[end - column.size : end]
            for (name, column), end in zip(columns.items(), ends, strict=True)
        }
        views: dict[str, Any] = {name: column.of(self._bytes[name]) for name, column in columns.items()}
        self.ids, self.scales, self.rows = views["ids"], views["scales"], views["rows"]
        self._sketches: Sketches | None = None
        if shape.sketched:
            self._sketches = Sketches(views["axes"], views["sketch_scales"], views["sketches"])
        self._last_among: tuple[frozenset[int], list[range]] | None = None

    def nearest(
        self, query: array[int], unit: float, limit: int, files: frozenset[int] | None, floor: float
    ) -> tuple[list[int], list[float]]:
        """Ids and cosines with an int8 query of the best rows, and of a few more, in no order.

        ``unit`` is what a level of the query stands for; ``files`` limits it to some; rows below ``floor`` may lack.
        """
        among = None if files is None else self._among(files)
        runs = self._runs(query, unit, limit, among)
        if runs == []:
            return [], []
        if runs is None:
            found, cosines = self._best(query, unit, self.rows, self.scales, limit, among, floor)
        else:
            scales, rows = self._cut(runs)
            places = list(chain.from_iterable(starmap(range, runs)))
            best, cosines = self._best(query, unit, rows, scales, limit, None, floor)
            found = [places[place] for place in best]
        return [self.ids[row] for row in found], cosines

    def _runs(
        self, query: array[int], unit: float, limit: int, among: list[range] | None
    ) -> list[tuple[int, int]] | None:
        """First and end of each run of rows that are to be compared; None for all, or all of a filter."""
        rows = self.shape.rows
        if among is not None and sum(map(len, among)) <= rows * FEW:
            return [(run.start, run.stop) for run in among]
        wanted = limit * CHOSEN + int(rows * CHOSEN_SHARE)
        if self._sketches is None or wanted > rows * MANY:
            return None
        runs = pca_prefilter.nearest(self._sketches, query, unit, wanted, among)
        return runs if sum(end - first for first, end in runs) <= rows * MANY else None

    def _cut(self, runs: Sequence[tuple[int, int]]) -> tuple[Any, Any]:
        """Scales and rows of some runs."""
        scales, rows, size = self._bytes["scales"], self._bytes["rows"], self.shape.dimensions
        cut_scales = b"".join([scales[first * SCALE_BYTES : end * SCALE_BYTES] for first, end in runs])
        cut_rows = b"".join([rows[first * size : end * size] for first, end in runs])
        return memoryview(cut_scales).cast("f"), memoryview(cut_rows).cast("b", [len(cut_rows) // size, size])

    def _best(
        self,
        query: array[int],
        unit: float,
        rows: Any,
        scales: Any,
        limit: int,
        among: list[range] | None,
        floor: float,
    ) -> tuple[Sequence[int], list[float]]:
        """Places and cosines of the best of some rows, and of a few more."""
        import simsimd

        asked = memoryview(query).cast("B").cast("b", [1, len(query)])
        dots: Any = simsimd.cdist(asked, rows, "dot", dtype="int8", out_dtype="float32")
        flat: Any = memoryview(dots).cast("B").cast("f")
        ones: Any = self._ones if rows is self.rows else array("f", [1.0]) * len(scales)
        scaled: Any = simsimd.fma(flat, scales, ones, alpha=unit, beta=MIDDLE)
        found = largest(memoryview(scaled).tobytes(), limit, among, floor + MIDDLE)
        return found, [flat[row] * scales[row] * unit for row in found]

    def _among(self, files: frozenset[int]) -> list[range]:
        """The rows of some files; remembered, since one question after another is asked of the same files."""
        known = self._last_among
        if known is None or known[0] is not files:
            found: list[range] = []
            for file, rows in self._rows_by_file.items():
                if file not in files:
                    continue
                if found and found[-1].stop == rows.start:
                    found[-1] = range(found[-1].start, rows.stop)
                else:
                    found.append(rows)
            known = self._last_among = files, found
        return known[1]

    @cached_property
    def _ones(self) -> Any:
        return array("f", [1.0]) * self.shape.rows

    @cached_property
    def _rows_by_file(self) -> dict[int, range]:
        """Where the rows of each file are: they lie together, since ids ascend."""
        starts: dict[int, int] = {}
        for row, id in enumerate(self.ids):
            starts.setdefault(id >> CHUNK_BITS, row)
        ends = [*starts.values(), self.shape.rows][1:]
        return {file: range(start, end) for (file, start), end in zip(starts.items(), ends, strict=True)}


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
            generation, shapes = manifest
            try:
                self._segments = {shape.name: self._map(shape) for shape in shapes}
            except (OSError, ValueError, TypeError):
                before = manifest
                continue
            self.generation = generation
            return

    def _manifest(self) -> tuple[int, list[Shape]] | None:
        try:
            manifest = json.loads((self.folder / MANIFEST).read_text(encoding="utf-8"))
            shapes = [_checked_shape(*values) for values in manifest["segments"]]
            generation = manifest["generation"]
            if type(generation) is not int or generation < NEVER or (shapes and generation == NEVER):
                return None  # what has segments was committed
            return generation, shapes
        except (OSError, ValueError, KeyError, TypeError, RecursionError):
            return None

    def is_intact(self) -> bool:
        """Whether the segments have the bytes that were written; reads all of them."""
        return all(_is_whole(self.folder, segment.shape) for segment in self._segments.values())

    def lose(self) -> None:
        """Take what there is for lost."""
        self._segments, self.generation = {}, NEVER

    def __len__(self) -> int:
        """How many rows there are, also of files that are gone."""
        return sum(segment.shape.rows for segment in self._segments.values())

    def chunks(self) -> list[int]:
        """The ids of all rows, also of those whose files are gone."""
        return [id for segment in self._segments.values() for id in segment.ids]

    def search(self, query: Sequence[float], limit: int, files: frozenset[int] | None = None) -> list[Scored]:
        """The chunks nearest to the query by cosine, also of files that are gone; or those of some files."""
        highest = max(max(query, default=0.0), -min(query, default=0.0))
        if not highest or limit < 1:
            return []
        unit = highest / LEVELS
        asked = array("b", rounded(query, 1 / unit))
        found: list[Scored] = []
        for segment in sorted(self._segments.values(), key=lambda segment: -segment.shape.rows):
            if segment.shape.dimensions == len(asked):
                floor = found[-1].score if len(found) == limit else -1.0
                ids, scores = segment.nearest(asked, unit, limit, files, floor)
                found = best_first(
                    [*(hit.chunk for hit in found), *ids], [*(hit.score for hit in found), *scores]
                )[:limit]
        return found

    def append(
        self,
        generation: int,
        files: Sequence[tuple[int, Sequence[ChunkVector]]],
        kept: Callable[[Ids], Flags],
    ) -> None:
        """Add the packed vectors of files (each has some) as one segment; merge what is ``kept`` of too many."""
        try:
            if files:
                self._write(generation, *_columns(files))
            if len(self._segments) > MAX_SEGMENTS:
                self._merge(generation, kept)
            self._publish(generation)
        except OSError as error:
            raise IndexUnwritable.because(f"the vectors at {self.folder}", error) from error

    def rebuild(self, generation: int, files: Sequence[tuple[int, Sequence[ChunkVector]]]) -> None:
        """Make the index anew; like ``append``, only files that have vectors."""
        self._segments = {}
        self.append(generation, files, lambda ids: ids >= 0)
        self._sweep()

    def _publish(self, generation: int) -> None:
        """Name the segments as those of a generation, in one step."""
        self.folder.mkdir(parents=True, exist_ok=True)
        temporary = self.folder / (MANIFEST + ".new")
        manifest = {"generation": generation, "segments": [s.shape for s in self._segments.values()]}
        temporary.write_text(json.dumps(manifest), encoding="utf-8")
        _replace(temporary, self.folder / MANIFEST)
        self.generation = generation

    def _map(self, shape: Shape) -> Segment:
        with open(self.folder / (shape.name + SUFFIX), "rb") as file:
            return Segment(shape, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ))

    def _write(self, generation: int, ids: Any, scales: Any, rows: Any) -> None:
        """Write a segment under a name of its own: whoever reads an older one is not disturbed."""
        self.folder.mkdir(parents=True, exist_ok=True)
        columns = {"ids": ids, "scales": scales, "rows": rows}
        drawn = pca_prefilter.drawn(rows, scales) if len(rows) >= SKETCHED_ROWS else None
        if drawn is not None:
            columns |= {"axes": drawn.axes, "sketch_scales": drawn.scales, "sketches": drawn.rows}
        name, crc = f"{generation:08d}-{os.urandom(4).hex()}", 0
        shape = Shape(name, len(rows), rows.shape[1], drawn is not None)
        with open(self.folder / (name + SUFFIX), "wb") as file:
            for column in shape.columns:
                data = columns[column].tobytes()
                crc = zlib.crc32(data, crc)
                file.write(data)
        self._segments[name] = self._map(shape._replace(checksum=crc))

    def _merge(self, generation: int, kept: Callable[[Ids], Flags]) -> None:
        """Replace small segments, and those of which much is gone, by one for each length of vectors."""
        import numpy as np

        ids = {name: np.frombuffer(s.ids, dtype=np.int64) for name, s in self._segments.items()}
        keep = {name: kept(found) for name, found in ids.items()}
        rows = {name: int(flags.sum()) for name, flags in keep.items()}
        merged = _to_merge({name: (rows[name], len(ids[name])) for name in ids})
        groups: dict[int, list[tuple[Any, ...]]] = {}
        for name in merged:
            segment, flags = self._segments.pop(name), keep[name]
            if rows[name]:
                scales = np.frombuffer(segment.scales, dtype=np.float32)
                columns = ids[name][flags], scales[flags], np.asarray(segment.rows)[flags]
                groups.setdefault(segment.shape.dimensions, []).append(columns)
        for parts in groups.values():
            whole = [np.concatenate(column) for column in zip(*parts, strict=True)]
            order = np.argsort(whole[0], kind="stable")
            self._write(generation, *(column[order] for column in whole))
        self._publish(generation)
        self._sweep()

    def _sweep(self) -> None:
        """Delete the files of segments that are no longer named."""
        for path in self.folder.glob("*" + SUFFIX):
            if path.stem not in self._segments:
                try:
                    path.unlink()
                except OSError:  # still mapped by a reader on Windows: the next sweep removes it
                    continue


def _checked_shape(name: Any, rows: Any, dimensions: Any, sketched: Any, crc: Any) -> Shape:
    """Make a shape of what a manifest says; ``ValueError`` for what was not written here, above all a path."""
    if not isinstance(name, str) or not _NAME.fullmatch(name):
        raise ValueError("a segment has a name that none has")
    if not all(type(number) is int for number in (rows, dimensions, crc)) or rows < 1 or dimensions < 1:
        raise ValueError(f"segment {name} has a size that none has")
    return Shape(name, rows, dimensions, sketched is True, crc)


def _is_whole(folder: Path, shape: Shape) -> bool:
    try:
        return checksum(folder / (shape.name + SUFFIX), shape.size) == shape.checksum
    except OSError:
        return False


def _replace(temporary: Path, target: Path) -> None:
    """Put a file in the place of another, as soon as no reader has that one open."""
    for _ in range(REPLACE_ATTEMPTS):
        try:
            temporary.replace(target)
        except PermissionError:
            time.sleep(REPLACE_PAUSE)
        else:
            return
    temporary.replace(target)


def _to_merge(segments: Mapping[str, tuple[int, int]]) -> set[str]:
    """Which segments to merge, given how many rows of each are kept and how many there are.

    Those with many rows that are gone, and the smallest while together they have a fair share of the next: so a row
    is written again as many times as the logarithm of all rows, not once for every few changes.
    """
    chosen = {name for name, (kept, rows) in segments.items() if kept < KEPT_SHARE * rows}
    total = 0
    for name in sorted(segments, key=lambda name: segments[name][0]):
        kept, _ = segments[name]
        if total < NEXT_SHARE * kept and len(segments) - len(chosen) < MAX_SEGMENTS:
            break
        chosen.add(name)
        total += kept
    return chosen


# --- packed vectors: a scale (float32), then int8 components ---------------------------------------


def packed(vectors: Sequence[ChunkVector]) -> list[ChunkVector]:
    """Vectors of one length in a quarter of the space, each with the scale that suits it."""
    if not vectors:
        return []
    import numpy as np

    matrix = np.frombuffer(b"".join(v.vector for v in vectors), dtype="<f4").reshape(len(vectors), -1)
    rows, scales = rounded_rows(matrix)
    data = np.concatenate(
        [scales.astype("<f4").view(np.int8).reshape(-1, SCALE_BYTES), rows], axis=1
    ).tobytes()
    size = len(data) // len(vectors)
    return [ChunkVector(v.key, data[i * size : (i + 1) * size]) for i, v in enumerate(vectors)]


def unpacked(rows: Sequence[bytes]) -> list[bytes]:
    """Packed vectors in float32 again."""
    if not rows:
        return []
    if len(set(map(len, rows))) > 1:  # of models that differ under one name
        return [vector for row in rows for vector in unpacked([row])]
    import numpy as np

    table = np.frombuffer(b"".join(rows), dtype=np.int8).reshape(len(rows), -1)
    scales = np.ascontiguousarray(table[:, :SCALE_BYTES]).view("<f4")
    matrix = (table[:, SCALE_BYTES:] * scales).astype("<f4")
    return [row.tobytes() for row in matrix]


def _columns(files: Sequence[tuple[int, Sequence[ChunkVector]]]) -> tuple[Any, Any, Any]:
    """Ids, scales and rows of files with packed vectors."""
    import numpy as np

    ids = [chunk_id(file, ordinal) for file, vectors in sorted(files) for ordinal in range(len(vectors))]
    data = b"".join(vector for _, vectors in sorted(files) for _, vector in vectors)
    table = np.frombuffer(data, dtype=np.int8).reshape(len(ids), -1)
    scales = np.ascontiguousarray(table[:, :SCALE_BYTES]).view("<f4").astype(np.float32).ravel()
    return np.asarray(ids, dtype=np.int64), scales, table[:, SCALE_BYTES:]
