"""Definitions to mine test queries from: functions and classes of the project's own sources, not of its tests."""

from __future__ import annotations

from collections.abc import Iterator

from dowse.engine import Engine
from dowse.types.source import Entity, Kind, Role
from dowse.types.stored import StoredFile

QUERY_KINDS = frozenset(
    {Kind.FUNCTION, Kind.METHOD, Kind.CLASS, Kind.INTERFACE, Kind.TRAIT, Kind.STRUCT, Kind.ENUM, Kind.MACRO}
)
"""Kinds that somebody would search for; a constant or a section alone answers few queries."""


def iter_source_definitions(engine: Engine) -> Iterator[tuple[StoredFile, Entity]]:
    """List every definition in source files that makes a query, in the order of paths and lines."""
    for file in engine.files():
        if file.role is not Role.SOURCE:
            continue
        for entity in file.parsed.entities:
            if entity.kind in QUERY_KINDS:
                yield file, entity
