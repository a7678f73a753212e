"""Vector index: k-nearest-neighbour search by cosine over int8 vectors in memory-mapped, immutable segments.

Derived from the catalogue, like the lexical index. Small and sparse segments are merged (compaction); a row whose file
is gone is skipped until then. ``segments.json`` names the segments and their generation, and is replaced atomically.
``vector_segment.py`` searches one segment. A search does without numpy, which is for writing.
"""

from __future__ import annotations

import json
import mmap
import os
import re
import time
import zlib
from array import array
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from dowse.errors import IndexUnwritable
from dowse.lazy_regex import compile_lazily
from dowse.stores.embedded.layout import checksum
from dowse.stores.embedded.quantize import INT8_LEVELS, SCALE_BYTES
from dowse.stores.embedded.vector_segment import SegmentShape, VectorSegment, quantize_int8
from dowse.types.discovered import ChunkVector
from dowse.types.stored import Scored, best_first, chunk_id

if TYPE_CHECKING:
    import numpy as np

    Ids = np.ndarray[Any, np.dtype[np.int64]]
    Flags = np.ndarray[Any, np.dtype[np.bool_]]

MANIFEST_FILE = "segments.json"
SEGMENT_SUFFIX = ".segment"

MAX_SEGMENTS = 4
"""With more than this, some are merged: every segment costs a few calls per query, a tenth of a millisecond."""

MIN_LIVE_SHARE = 0.7
"""A segment with a smaller share of live rows is rewritten when there is a merge."""

MERGE_SHARE = 0.2
"""Small segments are merged with the next larger one if together they have this share of its rows."""

REPLACE_ATTEMPTS = 50
REPLACE_PAUSE_SECONDS = 0.01
"""On Windows a file that is open cannot be replaced; who reads the manifest is done with it in a millisecond."""

COPIED_ROWS = 16_384
"""Rows that are copied at a time when segments are merged."""

_SEGMENT_NAME = compile_lazily(r"\d{8,}-[0-9a-f]{8}", re.ASCII)
"""The name of a segment; a file with any other name is never opened."""

MIN_COSINE = -1.0
"""What no cosine is below: while fewer hits are found than are wanted, every row may be one."""

NO_GENERATION = 0
"""The generation of an index that is new or cannot be read: that before the first commit."""


class _MergedSegment(NamedTuple):
    """A segment that is merged: its columns, and the indexes of the rows that are kept."""

    segment: VectorSegment
    ids: Any
    scales: Any
    kept: Any


class VectorIndex:
    """The vector segments in one folder, all memory-mapped: they stay readable when a merge deletes them."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.generation = NO_GENERATION
        self._segments: dict[str, VectorSegment] = {}
        self._load()

    def _load(self) -> None:
        """Map what the manifest names; if that fails, once more, since a merge may have replaced it."""
        before = None
        while (manifest := self._read_manifest()) is not None and manifest != before:
            generation, shapes = manifest
            try:
                self._segments = {shape.name: self._map(shape) for shape in shapes}
            except (OSError, ValueError, TypeError):
                before = manifest
                continue
            self.generation = generation
            return

    def _read_manifest(self) -> tuple[int, list[SegmentShape]] | None:
        try:
            manifest = json.loads((self.folder / MANIFEST_FILE).read_text(encoding="utf-8"))
            shapes = [_parse_shape(*values) for values in manifest["segments"]]
            generation = manifest["generation"]
            if (
                type(generation) is not int
                or generation < NO_GENERATION
                or (shapes and generation == NO_GENERATION)
            ):
                return None  # what has segments was committed
            return generation, shapes
        except (OSError, ValueError, KeyError, TypeError, RecursionError):
            return None

    def is_intact(self) -> bool:
        """Whether the segments have the bytes that were written; reads all of them."""
        return all(_has_valid_checksum(self.folder, segment.shape) for segment in self._segments.values())

    def discard(self) -> None:
        """Discard all segments, as if they were lost."""
        self._segments, self.generation = {}, NO_GENERATION

    def __len__(self) -> int:
        """Count the rows, also of files that are gone."""
        return sum(segment.shape.rows for segment in self._segments.values())

    def chunks(self) -> list[int]:
        """List the ids of all rows, also of those whose files are gone."""
        return [id for segment in self._segments.values() for id in segment.ids]

    def search(self, query: Sequence[float], limit: int, files: frozenset[int] | None = None) -> list[Scored]:
        """Find the chunks nearest to the query by cosine, also of files that are gone; or those of some files."""
        quantized, unit = _quantize_query(query)
        if not unit or limit < 1:
            return []
        found: list[Scored] = []
        for segment in sorted(self._segments.values(), key=lambda segment: -segment.shape.rows):
            if segment.shape.dimensions == len(quantized):
                floor = found[-1].score if len(found) == limit else MIN_COSINE
                ids, scores = segment.find_nearest(quantized, unit, limit, files, floor)
                found = best_first(
                    [*(hit.chunk for hit in found), *ids], [*(hit.score for hit in found), *scores]
                )[:limit]
        return found

    def score_files(self, query: Sequence[float], files: Sequence[int]) -> dict[int, list[float]]:
        """Compare the query with all rows of some files: the cosines of each, in order."""
        quantized, unit = _quantize_query(query)
        found: dict[int, list[float]] = {}
        for segment in self._segments.values() if unit else ():
            if segment.shape.dimensions == len(quantized):
                found |= segment.score_files(quantized, unit, files)
        return found

    def append(
        self,
        generation: int,
        files: Sequence[tuple[int, Sequence[ChunkVector]]],
        is_live: Callable[[Ids], Flags],
    ) -> None:
        """Add the packed vectors of files (each has some) as one segment; merge what ``is_live`` of too many."""
        try:
            if files:
                ids, scales, rows = _stack_columns(files)
                self._write(generation, ids, scales, [rows], rows.shape[1])
            if len(self._segments) > MAX_SEGMENTS:
                self._merge(generation, is_live)
            self._publish(generation)
        except OSError as error:
            raise IndexUnwritable.because(f"the vectors at {self.folder}", error) from error

    def rebuild(self, generation: int, files: Sequence[tuple[int, Sequence[ChunkVector]]]) -> None:
        """Rebuild the index from files that have vectors."""
        self._segments = {}
        self.append(generation, files, lambda ids: ids >= 0)
        self._sweep()

    def _publish(self, generation: int) -> None:
        """Name the segments as those of a generation, in one step."""
        self.folder.mkdir(parents=True, exist_ok=True)
        temporary = self.folder / (MANIFEST_FILE + ".new")
        manifest = {"generation": generation, "segments": [s.shape for s in self._segments.values()]}
        temporary.write_text(json.dumps(manifest), encoding="utf-8")
        _replace(temporary, self.folder / MANIFEST_FILE)
        self.generation = generation

    def _map(self, shape: SegmentShape) -> VectorSegment:
        with open(self.folder / (shape.name + SEGMENT_SUFFIX), "rb") as file:
            return VectorSegment(shape, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ))

    def _write(self, generation: int, ids: Any, scales: Any, rows: Iterable[Any], dimensions: int) -> None:
        """Write a segment, its rows in parts, under a name of its own: whoever reads an older one is not disturbed."""
        import numpy as np

        self.folder.mkdir(parents=True, exist_ok=True)
        name, crc = f"{generation:08d}-{os.urandom(4).hex()}", 0
        shape = SegmentShape(name, len(ids), dimensions)
        with open(self.folder / (name + SEGMENT_SUFFIX), "wb") as file:
            for part in chain([ids, scales], rows):
                data: Any = np.ascontiguousarray(part).view("u1").reshape(-1)  # not a copy
                crc = zlib.crc32(data, crc)
                file.write(data)
        self._segments[name] = self._map(shape._replace(checksum=crc))

    def _merge(self, generation: int, is_live: Callable[[Ids], Flags]) -> None:
        """Replace small segments, and those of which much is gone, by one for each length of vectors."""
        import numpy as np

        ids = {name: np.frombuffer(s.ids, dtype=np.int64) for name, s in self._segments.items()}
        keep = {name: is_live(found) for name, found in ids.items()}
        rows = {name: int(flags.sum()) for name, flags in keep.items()}
        merged = _choose_merge({name: (rows[name], len(ids[name])) for name in ids})
        groups: dict[int, list[_MergedSegment]] = {}
        for name in merged:
            segment = self._segments.pop(name)
            if rows[name]:
                scales = np.frombuffer(segment.scales, dtype=np.float32)
                source = _MergedSegment(segment, ids[name], scales, np.flatnonzero(keep[name]))
                groups.setdefault(segment.shape.dimensions, []).append(source)
        for dimensions, sources in groups.items():
            self._write(generation, *_join_in_order(sources), dimensions)
        self._publish(generation)
        self._sweep()

    def _sweep(self) -> None:
        """Delete the files of segments that are no longer named."""
        for path in self.folder.glob("*" + SEGMENT_SUFFIX):
            if path.stem not in self._segments:
                try:
                    path.unlink()
                except OSError:  # still mapped by a reader on Windows: the next sweep removes it
                    continue


def _quantize_query(query: Sequence[float]) -> tuple[array[int], float]:
    """Quantize a query to int8; return it with the value of one level, 0 if it has no direction."""
    unit = max(max(query, default=0.0), -min(query, default=0.0)) / INT8_LEVELS
    return array("b", quantize_int8(query, 1 / unit) if unit else b""), unit


def _parse_shape(name: Any, rows: Any, dimensions: Any, crc: Any) -> SegmentShape:
    """Make a shape of what a manifest says; ``ValueError`` for what was not written here, above all a path."""
    if not isinstance(name, str) or not _SEGMENT_NAME.fullmatch(name):
        raise ValueError("a segment has a name that none has")
    if not all(type(number) is int for number in (rows, dimensions, crc)) or rows < 1 or dimensions < 1:
        raise ValueError(f"segment {name} has a size that none has")
    return SegmentShape(name, rows, dimensions, crc)


def _has_valid_checksum(folder: Path, shape: SegmentShape) -> bool:
    try:
        return checksum(folder / (shape.name + SEGMENT_SUFFIX), shape.size) == shape.checksum
    except OSError:
        return False


def _replace(temporary: Path, target: Path) -> None:
    """Replace a file by another, as soon as no reader has it open."""
    for _ in range(REPLACE_ATTEMPTS):
        try:
            temporary.replace(target)
        except PermissionError:
            time.sleep(REPLACE_PAUSE_SECONDS)
        else:
            return
    temporary.replace(target)


def _choose_merge(segments: Mapping[str, tuple[int, int]]) -> set[str]:
    """Choose the segments to merge, given how many rows of each are live and how many there are.

    Those with many rows that are gone, and the smallest while together they have a fair share of the next: so a row
    is written again as many times as the logarithm of all rows, not once for every few changes.
    """
    chosen = {name for name, (live, rows) in segments.items() if live < MIN_LIVE_SHARE * rows}
    total = 0
    for name in sorted(segments, key=lambda name: segments[name][0]):
        live, _ = segments[name]
        if total < MERGE_SHARE * live and len(segments) - len(chosen) < MAX_SEGMENTS:
            break
        chosen.add(name)
        total += live
    return chosen


def _join_in_order(sources: Sequence[_MergedSegment]) -> tuple[Any, Any, Iterator[Any]]:
    """Join ids, scales and rows of segments, of each the rows that are kept, in order of ids."""
    import numpy as np

    ids = np.concatenate([source.ids[source.kept] for source in sources])
    order = np.argsort(ids, kind="stable")
    scales = np.concatenate([source.scales[source.kept] for source in sources])
    return ids[order], scales[order], _copy_rows(sources, order)


def _copy_rows(sources: Sequence[_MergedSegment], order: Any) -> Iterator[Any]:
    """Copy the rows that are kept, in an order, some at a time: all of a large tree are hundreds of megabytes.

    What was read of the segments is not kept in memory either.
    """
    import numpy as np

    ends = np.cumsum([len(source.kept) for source in sources])
    for start in range(0, len(order), COPIED_ROWS):
        some = order[start : start + COPIED_ROWS]
        owners = np.searchsorted(ends, some, side="right")
        rows = np.empty((len(some), sources[0].segment.shape.dimensions), dtype=np.int8)
        for owner in np.unique(owners).tolist():
            segment, *_, kept = sources[owner]
            places = np.flatnonzero(owners == owner)
            rows[places] = np.asarray(segment.rows)[kept[some[places] - (ends[owner] - len(kept))]]
            segment.release_pages()
        yield rows


def _stack_columns(files: Sequence[tuple[int, Sequence[ChunkVector]]]) -> tuple[Any, Any, Any]:
    """Stack the packed vectors of files: ids, scales and rows."""
    import numpy as np

    ids = [chunk_id(file, ordinal) for file, vectors in sorted(files) for ordinal in range(len(vectors))]
    data = b"".join(vector for _, vectors in sorted(files) for _, vector in vectors)
    table = np.frombuffer(data, dtype=np.int8).reshape(len(ids), -1)
    scales = np.ascontiguousarray(table[:, :SCALE_BYTES]).view("<f4").astype(np.float32).ravel()
    return np.asarray(ids, dtype=np.int64), scales, table[:, SCALE_BYTES:]
