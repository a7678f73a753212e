"""Tests inside source files: ``mod tests`` in Rust, ``test`` blocks in Zig."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from dowse.search.ranking.candidates import Candidate
from dowse.types.source import Entity, Kind

RUST_TEST_MODULES = frozenset({"tests", "test"})
ZIG_TEST_PREFIX = 'test "'


def _is_rust_test(entity: Entity) -> bool:
    *around, last = entity.qualified.split(".")
    return not RUST_TEST_MODULES.isdisjoint(around) or (
        entity.kind is Kind.MODULE and last in RUST_TEST_MODULES
    )


def _is_zig_test(entity: Entity) -> bool:
    return entity.signature.startswith(ZIG_TEST_PREFIX)


TEST_PREDICATES: Mapping[str, Callable[[Entity], bool]] = {"rust": _is_rust_test, "zig": _is_zig_test}
"""How to tell a test, by the languages that have tests in source files."""


def is_inline_test(place: Candidate) -> bool:
    """Return whether a chunk is in a test, or begins with one."""
    is_test = TEST_PREDICATES.get(place.file.parsed.language)
    if is_test is None:
        return False
    entity = place.entity or next(iter(place.definitions), None)
    return entity is not None and is_test(entity)
