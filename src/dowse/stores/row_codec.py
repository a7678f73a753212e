"""Encoding of parsed files (entities and chunks by column), index reports and watched paths, for stores with rows."""

from __future__ import annotations

import json
import zlib
from array import array
from collections.abc import Iterable, Sequence
from dataclasses import asdict
from functools import partial
from itertools import count, repeat
from operator import gt
from types import NoneType
from typing import Any

from dowse.errors import IndexCorrupt
from dowse.lazy_rows import LazyRows, to_columns
from dowse.serialization import pack_columns, pack_text, unpack_columns, unpack_text
from dowse.types.discovered import (
    IndexReport,
    Skipped,
    SkipReason,
    WatchedPath,
    WatchedTime,
    WatchedTimes,
    WatchKind,
)
from dowse.types.source import Chunk, Entity, Kind, ParsedFile, ParseHealth
from dowse.types.stored import make_rows

_NUMBER_COLUMNS = 5
"""Columns of numbers: as many of entities (their kind is one, by its index among those of the file) as of chunks."""

_LINE_COLUMN = Entity._fields.index("line") - Entity._fields.index("start_line")
"""Which of them is the line of an entity's name."""


def pack_parsed(parsed: ParsedFile) -> bytes:
    """Pack entities and chunks as one value, by column: names, numbers, then texts that only shown entities need."""
    name, qualified, kind, *lines, parent, signature, doc = to_columns(parsed.entities, Entity)
    *indexes, entity = to_columns(parsed.chunks, Chunk)
    kinds = {one: index for index, one in enumerate(dict.fromkeys(kind))}
    codes = map(kinds.__getitem__, kind)
    numbers = (*lines, _to_one_based(parent), codes, *indexes, _to_one_based(entity))
    return pack_columns(list(name), numbers, pack_text([*map(list, (kinds, qualified, signature, doc))]))


def unpack_parsed(language: str, health: str, data: bytes) -> ParsedFile:
    """Unpack a parsed file; its entities are read when they are needed."""
    try:
        names, columns, texts = unpack_columns(data, 2 * _NUMBER_COLUMNS)
        of_entities, of_chunks = columns[:_NUMBER_COLUMNS], columns[_NUMBER_COLUMNS:]
        if type(names) is not list or any(len(column) != len(names) for column in of_entities) or not texts:
            raise ValueError("something is missing")
        if not all(type(name) is str for name in names):
            raise ValueError("a name is no text")
        *indexes, around = of_chunks
        if max(around, default=0) > len(names):
            raise ValueError("a chunk is of a definition that is not there")
        names = tuple(names)
        return ParsedFile(
            language,
            ParseHealth(health),
            LazyRows(
                Entity,
                ready={"name": names, "line": of_entities[_LINE_COLUMN]},
                read=partial(_unpack_entities, names, of_entities, texts),
            ),
            LazyRows(Chunk, [*indexes, _from_one_based(around)]),
        )
    except (ValueError, TypeError) as error:
        raise _corrupt_entry_error(error) from error


def _unpack_entities(
    names: Sequence[str], columns: Sequence[array[int]], texts: bytes
) -> list[Sequence[Any]]:
    """Unpack all columns of entities."""
    *lines, parents, codes = columns
    try:
        kinds, qualified, signature, doc = map(tuple, unpack_text(texts))
        kind = list(map(list(map(Kind, kinds)).__getitem__, codes))
        if not len(qualified) == len(signature) == len(doc) == len(names):
            raise ValueError("some texts are missing")
        if not all(type(text) is str for text in (*qualified, *signature, *doc)):
            raise ValueError("a text is none")
        # counted from 1: a parent is before what is in it, so no circles either
        if any(map(gt, parents, count())):
            raise ValueError("a definition is in one that is not before it")
    except (ValueError, TypeError, IndexError, zlib.error) as error:
        raise _corrupt_entry_error(error) from error
    return [names, qualified, kind, *lines, _from_one_based(parents), signature, doc]


def _to_one_based(indexes: Iterable[int | None]) -> list[int]:
    """Count indexes from 1, with 0 for none."""
    return [0 if index is None else index + 1 for index in indexes]


def _from_one_based(counted: array[int]) -> list[int | None]:
    """Restore indexes that are counted from 1, with 0 for none."""
    return [index - 1 if index else None for index in counted]


def _corrupt_entry_error(why: object) -> IndexCorrupt:
    return IndexCorrupt.beyond_repair(f"a file's entry in the index is corrupt ({why})")


def pack_report(report: IndexReport) -> str:
    """Pack a report as JSON text."""
    return json.dumps(asdict(report))


def unpack_report(text: str) -> IndexReport:
    """Unpack a report from JSON text."""
    try:
        data: dict[str, Any] = json.loads(text)
        data["failures"] = tuple(
            Skipped(str(path), SkipReason(reason), str(detail)) for path, reason, detail in data["failures"]
        )
        data["repaired"] = tuple(map(str, data["repaired"]))
        report = IndexReport(**data)
        counts = (report.seen, report.indexed, report.added, report.changed, report.removed, report.unchanged)
        tables = (*report.skipped.values(), *report.skipped_folders.values())
        if not all(type(count) is int for count in (*counts, *tables, report.without_vectors)):
            raise ValueError("a count is no number")
        if type(report.seconds) not in (int, float) or not isinstance(report.why_without, str):
            raise ValueError("a value has another type")
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError) as error:
        raise IndexCorrupt.beyond_repair(f"the report in the index is corrupt ({error})") from error
    return report


def pack_watched(watched: WatchedTimes) -> str:
    """Pack what is watched as JSON text: by kind, each path with its time."""
    by_kind: dict[WatchKind, dict[str, WatchedTime]] = {kind: {} for kind in WatchKind}
    for (kind, path), time in watched.items():
        by_kind[kind][path] = time
    return json.dumps(by_kind)


def unpack_watched(text: str | None) -> dict[WatchedPath, WatchedTime]:
    """Unpack what is watched from JSON text; nothing if no run was finished."""
    try:
        by_kind: dict[str, dict[str, list[Any]]] = json.loads(text) if text else {}
        watched: dict[WatchedPath, WatchedTime] = {}
        for name, times in by_kind.items():
            paths = make_rows(WatchedPath, zip(repeat(WatchKind(name)), times))
            watched.update(zip(paths, make_rows(WatchedTime, times.values()), strict=True))
        if not all(
            len(time) == 2 and type(time[0]) in (int, NoneType) and type(time[1]) is bool
            for time in watched.values()
        ):
            raise ValueError("a value has another type")
    except (ValueError, TypeError, AttributeError, RecursionError) as error:
        raise IndexCorrupt.beyond_repair(f"the watched paths in the index are corrupt ({error})") from error
    return watched
