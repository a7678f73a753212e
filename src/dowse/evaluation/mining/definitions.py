"""The definitions that questions are made about: of the project's own sources, not of its tests."""

from __future__ import annotations

from collections.abc import Iterator

from dowse.engine import Engine
from dowse.types import Entity, Kind, Role, StoredFile

ASKED_KINDS = frozenset(
    {Kind.FUNCTION, Kind.METHOD, Kind.CLASS, Kind.INTERFACE, Kind.TRAIT, Kind.STRUCT, Kind.ENUM, Kind.MACRO}
)
"""Kinds that somebody would ask for; a constant or a section answers few questions by itself."""


def of_sources(engine: Engine) -> Iterator[tuple[StoredFile, Entity]]:
    """Every definition of a source file that can be asked for, in the order of paths and lines."""
    for file in engine.files():
        if file.role is not Role.SOURCE:
            continue
        for entity in file.parsed.entities:
            if entity.kind in ASKED_KINDS:
                yield file, entity
