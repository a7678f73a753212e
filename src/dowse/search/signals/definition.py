"""A place that defines a queried name is what the question is about."""

from __future__ import annotations

from collections.abc import Sequence

from dowse.search.analyse import is_identifier, last_part
from dowse.search.signals.base import Candidate
from dowse.types import AnalysedQuery

IDENTIFIER = 2.0
"""For a name that can only be a name."""

PLAIN = 1.0
"""For a plain word that happens to be the name of something."""


def weigh(query: AnalysedQuery, candidates: Sequence[Candidate]) -> None:
    """Lift chunks in which a queried name is defined."""
    factors = {last_part(name).lower(): IDENTIFIER if is_identifier(name) else PLAIN for name in query.names}
    if not factors:
        return
    for candidate in candidates:
        found = [
            (factors[e.name.lower()], e.qualified) for e in candidate.beginning if e.name.lower() in factors
        ]
        if found:
            factor, name = max(found)
            candidate.weigh("definition", factor, f"defines {name}")
