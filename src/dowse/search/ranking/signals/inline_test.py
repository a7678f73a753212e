"""Tests that stand in the file of what they test step back behind it, unless the question is about tests.

Before the places of a file are weighed together: so what a test describes is lifted, not the test.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from dowse.search.ranking.candidates import Candidate
from dowse.search.ranking.signals.context import SignalContext
from dowse.search.ranking.signals.file_role import factor_of
from dowse.types import Entity, Kind, Role

RUST_MODULES = frozenset({"tests", "test"})
ZIG_TEST = 'test "'


def _is_rust_test(entity: Entity) -> bool:
    *around, last = entity.qualified.split(".")
    return not RUST_MODULES.isdisjoint(around) or (entity.kind is Kind.MODULE and last in RUST_MODULES)


def _is_zig_test(entity: Entity) -> bool:
    return entity.signature.startswith(ZIG_TEST)


IS_TEST: Mapping[str, Callable[[Entity], bool]] = {"rust": _is_rust_test, "zig": _is_zig_test}
"""By language, of those whose custom it is."""


def apply(context: SignalContext, candidates: Sequence[Candidate]) -> None:
    """Let tests in source files step back as far as files of tests do."""
    query = context.query
    factor = factor_of(Role.TEST, frozenset(query.words))
    if factor == 1.0:
        return
    for candidate in candidates:
        is_test = IS_TEST.get(candidate.file.parsed.language)
        if is_test and candidate.file.role is not Role.TEST and _is_within(candidate, is_test):
            candidate.boost("inline_test", factor, "a test in a source file")


def _is_within(candidate: Candidate, is_test: Callable[[Entity], bool]) -> bool:
    """Whether a place is in a test, or begins with one."""
    entity = candidate.entity or next(iter(candidate.definitions), None)
    return entity is not None and is_test(entity)
