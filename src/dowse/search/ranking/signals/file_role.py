"""Tests, examples, generated and vendored files step back, unless the question is about them."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence

from dowse.search.ranking.candidates import Candidate
from dowse.search.ranking.signals.context import SignalContext
from dowse.types import Role

FACTORS = {
    Role.TEST: 0.5,
    Role.EXAMPLE: 0.7,
    Role.GENERATED: 0.6,
    Role.VENDORED: 0.6,
    Role.DOCS: 0.35,
}

ASKED_FOR = {
    Role.TEST: frozenset({"test", "spec", "fixtur", "mock", "assert"}),
    Role.EXAMPLE: frozenset({"exampl", "demo", "sampl", "benchmark"}),
    Role.GENERATED: frozenset({"generat"}),
    Role.VENDORED: frozenset({"vendor", "vendored"}),
    Role.DOCS: frozenset({"doc", "readm", "document", "guid", "tutori", "changelog"}),
}
"""Stemmed words of a question that ask for such files."""

HOW_TO = re.compile(r"\s*how (?:to|(?:do|can|should|would) (?:i|you))\b", re.IGNORECASE)
"""How a question begins that asks for instructions, which stand in the documentation as likely as anywhere: "how do I
build this", not "how does it build" or "how do we build"."""

SAID_IN_PASSING = 10
"""From this many words on, a single one of these may be said in passing: such files step back half as far."""


def apply(context: SignalContext, candidates: Sequence[Candidate]) -> None:
    """Let candidates step back by the role of their file."""
    query = context.query
    words = frozenset(query.words)
    factors = {role: factor_of(role, words) for role in FACTORS}
    if HOW_TO.match(query.text):
        factors[Role.DOCS] = 1.0
    for candidate in candidates:
        role = candidate.file.role
        factor = factors.get(role, 1.0)
        if factor != 1.0:
            candidate.boost("role", factor, f"{role.value} file")


def factor_of(role: Role, words: frozenset[str]) -> float:
    """How far files of a role step back for a question of these words; 1 if it asks for them."""
    asking = len(words & ASKED_FOR[role])
    if not asking:
        return FACTORS[role]
    return 1.0 if len(words) <= SAID_IN_PASSING * asking else math.sqrt(FACTORS[role])
