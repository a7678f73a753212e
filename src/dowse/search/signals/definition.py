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
    """Lift chunks in which a queried name is defined; of a dotted name, as what it is a member of if that exists."""
    names = [tuple(part.lower() for part in name_parts(name)) for name in query.names if is_identifier(name)]
    if not names:
        return
    defined = {
        (parts, candidate.id): entity
        for candidate in candidates
        for entity in candidate.beginning
        for parts in names
        if parts and entity.name.lower() == parts[-1]
    }
    factor = ASKED_FOR if query.reading == "symbol" else FACTOR
    members = {parts for (parts, _), entity in defined.items() if _is_member(entity, parts)}
    for candidate in candidates:
        for parts in names:
            entity = defined.get((parts, candidate.id))
            if entity is not None and (parts not in members or _is_member(entity, parts)):
                candidate.weigh("definition", factor, f"defines {entity.qualified}")
                break


def _is_member(entity: Entity, parts: tuple[str, ...]) -> bool:
    """Whether the end of an entity's qualified name is these parts."""
    own = tuple(part.lower() for part in name_parts(entity.qualified))
    return own[-len(parts) :] == parts
