"""Tests, examples, generated and vendored files step back, unless the question is about them."""

from __future__ import annotations

from collections.abc import Sequence

from dowse.search.signals.base import Candidate
from dowse.types import AnalysedQuery, Role

FACTORS = {
    Role.TEST: 0.5,
    Role.EXAMPLE: 0.7,
    Role.GENERATED: 0.6,
    Role.VENDORED: 0.6,
    Role.DOCS: 0.6,
}

ASKED_FOR = {
    Role.TEST: frozenset({"test", "spec", "fixtur", "mock", "assert"}),
    Role.EXAMPLE: frozenset({"exampl", "demo", "sampl", "benchmark"}),
    Role.GENERATED: frozenset({"generat"}),
    Role.VENDORED: frozenset({"vendor", "vendored"}),
    Role.DOCS: frozenset({"doc", "readm", "document", "guid", "tutori", "changelog"}),
}
"""Stemmed words of a question that ask for such files."""


def weigh(query: AnalysedQuery, candidates: Sequence[Candidate]) -> None:
    """Let candidates step back by the role of their file."""
    words = frozenset(query.words)
    for candidate in candidates:
        role = candidate.file.role
        factor = FACTORS.get(role)
        if factor is not None and words.isdisjoint(ASKED_FOR[role]):
            candidate.weigh("role", factor, f"{role.value} file")
