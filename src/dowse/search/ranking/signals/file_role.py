"""File role demotion: tests, examples, documentation, generated and vendored code rank lower, unless the query asks for
them.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence

from dowse.search.ranking.candidates import Candidate
from dowse.search.ranking.signals.context import SignalContext
from dowse.types.source import Role

FACTORS = {
    Role.TEST: 0.5,
    Role.EXAMPLE: 0.7,
    Role.GENERATED: 0.6,
    Role.VENDORED: 0.6,
    Role.DOCS: 0.35,
}

ROLE_WORDS = {
    Role.TEST: frozenset({"test", "spec", "fixtur", "mock", "assert"}),
    Role.EXAMPLE: frozenset({"exampl", "demo", "sampl", "benchmark"}),
    Role.GENERATED: frozenset({"generat"}),
    Role.VENDORED: frozenset({"vendor", "vendored"}),
    Role.DOCS: frozenset({"doc", "readm", "document", "guid", "tutori", "changelog"}),
}
"""Stems in a query that ask for files of a role."""

HOW_TO_QUERY = re.compile(r"\s*how (?:to|(?:do|can|should|would) (?:i|you))\b", re.IGNORECASE)
"""How a query begins that asks for instructions, which are in the documentation as likely as anywhere: "how do I
build this", not "how does it build" or "how do we build"."""

WORDS_PER_ROLE_WORD = 10
"""In a query with more words for each of these, it may be said in passing: such files are demoted half as far."""


def apply(context: SignalContext, candidates: Sequence[Candidate]) -> None:
    """Demote candidates by the role of their file."""
    query = context.query
    words = frozenset(query.words)
    factors = {role: choose_factor(role, words) for role in FACTORS}
    if HOW_TO_QUERY.match(query.text):
        factors[Role.DOCS] = 1.0
    for candidate in candidates:
        role = candidate.file.role
        factor = factors.get(role, 1.0)
        if factor != 1.0:
            candidate.boost("file_role", factor, f"{role.value} file")


def choose_factor(role: Role, words: frozenset[str]) -> float:
    """Choose the factor for files of a role by the words of a query; 1 if it asks for them."""
    asking = len(words & ROLE_WORDS[role])
    if not asking:
        return FACTORS[role]
    return 1.0 if len(words) <= WORDS_PER_ROLE_WORD * asking else math.sqrt(FACTORS[role])
