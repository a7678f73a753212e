"""Entity search for LocAgent-style tools: map their entity types and directions to those of the code graph."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from dowse.errors import UsageError
from dowse.types.graph_values import Direction, EntityHit
from dowse.types.source import Kind
from dowse.types.stored import Filter

if TYPE_CHECKING:
    from dowse.engine import Engine

KINDS_BY_TYPE = {
    "directory": {Kind.DIRECTORY},
    "file": {Kind.FILE},
    "class": {Kind.CLASS, Kind.INTERFACE, Kind.TRAIT, Kind.STRUCT, Kind.ENUM, Kind.IMPL, Kind.TYPE},
    "function": {Kind.FUNCTION, Kind.METHOD, Kind.MACRO},
}
"""The four types of entities that these tools know, as our kinds."""

DIRECTIONS = {
    "forward": Direction.USES,
    "downstream": Direction.USES,
    "backward": Direction.USED_BY,
    "upstream": Direction.USED_BY,
    "bidirectional": Direction.BOTH,
    "both": Direction.BOTH,
}


def find_entities(
    engine: Engine, term: str, kinds: frozenset[Kind], pattern: str, limit: int | None, *, content: bool
) -> list[EntityHit]:
    """Find the entities that a term names or describes, of some kinds (none: all), in files that match a pattern."""
    filter = Filter(kinds=kinds, paths=(_build_glob(pattern),) if pattern else ())
    return engine.graph.entities(term, filter, limit, content=content)


def expand_terms(terms: Sequence[str]) -> list[str]:
    """Return every term, and all of them as one."""
    return [*terms, " ".join(terms)] if len(terms) > 1 else list(terms)


def parse_types(types: Iterable[str]) -> frozenset[Kind]:
    """Return our kinds of the given types; ``UsageError`` for an unknown one."""
    kinds: set[Kind] = set()
    for name in types:
        if name.lower() not in KINDS_BY_TYPE:
            raise UsageError(f"unknown entity type '{name}': known are {', '.join(KINDS_BY_TYPE)}")
        kinds |= KINDS_BY_TYPE[name.lower()]
    return frozenset(kinds)


def entity_type(kind: Kind) -> str:
    """Return which of the four types a kind counts as; its own name if none."""
    return next((name for name, kinds in KINDS_BY_TYPE.items() if kind in kinds), kind.value)


def _build_glob(pattern: str) -> str:
    """Return a pattern as it is, or one for any path that contains it if it has no wildcard and no dot."""
    return pattern if any(mark in pattern for mark in "*?[") or "." in pattern else f"**/*{pattern}*"
