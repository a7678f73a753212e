"""Inline test demotion: tests inside source files (``mod tests`` in Rust, ``test`` blocks in Zig) rank lower.

Not if the query is about tests. Acts before ``multi_hit_file``, so that the code that a test describes is boosted, not
the test.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from dowse.search.ranking.candidates import Candidate
from dowse.search.ranking.signals.context import SignalContext
from dowse.search.ranking.signals.file_role import choose_factor
from dowse.types.source import Entity, Kind, Role

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


def apply(context: SignalContext, candidates: Sequence[Candidate]) -> None:
    """Demote tests in source files as far as files of tests."""
    query = context.query
    factor = choose_factor(Role.TEST, frozenset(query.words))
    if factor == 1.0:
        return
    for candidate in candidates:
        is_test = TEST_PREDICATES.get(candidate.file.parsed.language)
        if is_test and candidate.file.role is not Role.TEST and _is_in_test(candidate, is_test):
            candidate.boost("inline_test", factor, "a test in a source file")


def _is_in_test(candidate: Candidate, is_test: Callable[[Entity], bool]) -> bool:
    """Return whether a chunk is in a test, or begins with one."""
    entity = candidate.entity or next(iter(candidate.definitions), None)
    return entity is not None and is_test(entity)
