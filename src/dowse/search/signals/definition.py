"""A place that defines a queried name is what the question is about."""

from __future__ import annotations

from collections.abc import Sequence

from dowse.search.analyse import is_identifier, name_parts
from dowse.search.signals.base import Candidate
from dowse.types import AnalysedQuery, Entity

ASKED_FOR = 1.75
"""Where the question is a name."""

FACTOR = 1.25
"""For a name among other words, if it can only be a name; a plain word that happens to be one says no more than the
names channel, which brings the definition of either. More would put what is named in passing above what is asked."""


def weigh(query: AnalysedQuery, candidates: Sequence[Candidate]) -> None:
    """Lift chunks in which a queried name is defined: what is written as in the question if that exists, and of a
    dotted name, as what it is a member of if that exists.
    """
    factor = ASKED_FOR if query.reading == "symbol" else FACTOR
    lifted: set[int] = set()
    for parts in [name_parts(name) for name in query.names if is_identifier(name)]:
        for candidate, entity in _best_written(parts, candidates) if parts else ():
            if candidate.id not in lifted:
                lifted.add(candidate.id)
                candidate.weigh("definition", factor, f"defines {entity.qualified}")


def _best_written(parts: tuple[str, ...], candidates: Sequence[Candidate]) -> list[tuple[Candidate, Entity]]:
    """Where a name is defined, in any case and as a member of anything; only the best of these if there are better."""
    last = parts[-1].lower()
    defined = [
        (_written(entity, parts), candidate, entity)
        for candidate in candidates
        for entity in candidate.beginning
        if entity.name.lower() == last
    ]
    best = max((how for how, _, _ in defined), default=(False, False))
    return [(candidate, entity) for how, candidate, entity in defined if how == best]


def _written(entity: Entity, parts: tuple[str, ...]) -> tuple[bool, bool]:
    """Whether the end of an entity's qualified name is these parts in any case, and whether its name is in this one."""
    own = tuple(part.lower() for part in name_parts(entity.qualified))
    return own[-len(parts) :] == tuple(part.lower() for part in parts), entity.name == parts[-1]
