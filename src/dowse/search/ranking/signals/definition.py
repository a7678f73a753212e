"""A place that defines a queried name is what the question is about."""

from __future__ import annotations

from collections.abc import Sequence

from dowse.code import tokens
from dowse.search.query.analyze import is_identifier, lone_name, name_parts
from dowse.search.ranking.candidates import Candidate
from dowse.search.ranking.signals.context import SignalContext
from dowse.types import Entity, Kind

ASKED_FOR = 1.75
"""Where the question is a name."""

LONE = 2.5
"""Where it is a plain word that something is named by (``Session``): files that are named with it gain as much."""

FACTOR = 1.25
"""For a name among other words, if it can only be a name; a plain word that happens to be one says no more than the
names channel, which brings the definition of either. More would put what is named in passing above what is asked."""


BY_CHANCE = frozenset({Kind.VARIABLE, Kind.SECTION})
"""What is called by a plain word as likely as not by chance."""


def apply(context: SignalContext, candidates: Sequence[Candidate]) -> None:
    """Lift chunks in which a queried name is defined: what is written as in the question if that exists, and of a
    dotted name, as what it is a member of if that exists.
    """
    query = context.query
    lone = lone_name(query)
    names = [parts for name in query.names if is_identifier(name) and (parts := name_parts(name))]
    if lone:
        names.append((lone,))
    if not names:
        return
    lasts = {parts[-1].lower() for parts in names}
    defined = [
        (candidate, entity)
        for candidate in candidates
        for entity in candidate.find_definitions(lasts)
        if not lone or is_meant(entity, lone)
    ]
    factor = LONE if lone else ASKED_FOR if query.reading == "symbol" else FACTOR
    lifted: set[int] = set()
    for parts in names:
        for candidate, entity in _best_written(parts, defined):
            if candidate.id not in lifted:
                lifted.add(candidate.id)
                candidate.boost("definition", factor, f"defines {entity.qualified}")


def is_meant(entity: Entity, word: str) -> bool:
    """Whether a plain word can only mean this definition: it is written so, or no word of English."""
    if entity.kind in BY_CHANCE:
        return False
    return entity.name == word or len(tokens.split_identifier(entity.name)) > 1


def _best_written(
    parts: tuple[str, ...], defined: Sequence[tuple[Candidate, Entity]]
) -> list[tuple[Candidate, Entity]]:
    """Where a name is defined, in any case and as a member of anything; only the best of these if there are better."""
    last = parts[-1].lower()
    own = [(_written(one[1], parts), one) for one in defined if one[1].name.lower() == last]
    best = max((how for how, _ in own), default=(False, False))
    return [one for how, one in own if how == best]


def _written(entity: Entity, parts: tuple[str, ...]) -> tuple[bool, bool]:
    """Whether the end of an entity's qualified name is these parts in any case, and whether its name is in this one."""
    own = tuple(part.lower() for part in name_parts(entity.qualified))
    return own[-len(parts) :] == tuple(part.lower() for part in parts), entity.name == parts[-1]
