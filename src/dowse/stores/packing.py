"""How values that are read whole are written: one form for every store that has rows."""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import Any

from dowse.columns import Rows, by_column
from dowse.compact import as_json
from dowse.errors import IndexCorrupt
from dowse.types import Chunk, Entity, IndexReport, Kind, ParsedFile, ParseHealth, Skipped, SkipReason

_KINDS = {kind.value: kind for kind in Kind}
_KIND = Entity._fields.index("kind")


def packed(parsed: ParsedFile) -> str:
    """Entities and chunks as one value, by column."""
    columns = by_column(parsed.entities, Entity), by_column(parsed.chunks, Chunk)
    return as_json(columns).decode()


def unpacked(language: str, health: str, text: str) -> ParsedFile:
    """What was packed."""
    try:
        entities, chunks = json.loads(text)
        entities[_KIND] = [_KINDS[kind] for kind in entities[_KIND]]
        return ParsedFile(language, ParseHealth(health), Rows(Entity, entities), Rows(Chunk, chunks))
    except (ValueError, TypeError, KeyError, IndexError) as error:
        raise IndexCorrupt.beyond_repair(f"a file's entry in the index is damaged ({error})") from error


def packed_report(report: IndexReport) -> str:
    """A report as text."""
    return json.dumps(asdict(report))


def unpacked_report(text: str) -> IndexReport:
    """What was packed."""
    data: dict[str, Any] = json.loads(text)
    data["failures"] = tuple(
        Skipped(path, SkipReason(reason), detail) for path, reason, detail in data["failures"]
    )
    data["repaired"] = tuple(data["repaired"])
    return IndexReport(**data)
