"""How values that are read whole are written: one form for every store that has rows."""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import Any

from dowse.errors import IndexCorrupt
from dowse.types import Chunk, Entity, IndexReport, Kind, ParsedFile, ParseHealth, Skipped, SkipReason

_KINDS = {kind.value: kind for kind in Kind}


def packed(parsed: ParsedFile) -> str:
    """Entities and chunks as one value."""
    return json.dumps((parsed.entities, parsed.chunks), ensure_ascii=False, separators=(",", ":"))


def unpacked(language: str, health: str, text: str) -> ParsedFile:
    """What was packed."""
    try:
        entities, chunks = json.loads(text)
        return ParsedFile(
            language,
            ParseHealth(health),
            tuple(Entity(e[0], e[1], _KINDS[e[2]], *e[3:]) for e in entities),
            tuple(map(Chunk._make, chunks)),
        )
    except (ValueError, TypeError, KeyError, IndexError) as error:
        raise IndexCorrupt(
            f"a file's entry in the index is damaged ({error}): run 'dowse index --rebuild'"
        ) from error


def packed_report(report: IndexReport) -> str:
    """A report as text."""
    return json.dumps(asdict(report))


def unpacked_report(text: str) -> IndexReport:
    """What was packed."""
    data: dict[str, Any] = json.loads(text)
    data["failures"] = tuple(
        Skipped(path, SkipReason(reason), detail) for path, reason, detail in data["failures"]
    )
    return IndexReport(**data)
