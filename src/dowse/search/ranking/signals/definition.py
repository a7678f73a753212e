"""Definition boost: chunks that define a name of the query rank above those that only mention it."""

from __future__ import annotations

from collections.abc import Sequence

from dowse.code import tokens
from dowse.search.query.analyze import find_lone_name, is_identifier, split_name
from dowse.search.ranking.candidates import Candidate
from dowse.search.ranking.signals.context import SignalContext
from dowse.types.source import Entity, Kind

SYMBOL_QUERY_FACTOR = 1.75
"""Factor where the query is an identifier."""

LONE_NAME_FACTOR = 2.5
"""Factor where the query is a plain word that names a definition (``Session``): files of that name gain as much."""

MENTION_FACTOR = 1.25
"""Factor for an identifier among other words. A plain word that happens to be a name gets nothing more than from the
names channel, which finds the definition of either. A higher factor would put names mentioned in passing first."""


COMMON_WORD_KINDS = frozenset({Kind.VARIABLE, Kind.SECTION})
"""Kinds of definitions that have a plain word as their name by chance."""


def apply(context: SignalContext, candidates: Sequence[Candidate]) -> None:
    """Boost chunks that define a name of the query.

    Definitions spelled as in the query win over others, and of a dotted name, members of what it names.
    """
    query = context.query
    lone = find_lone_name(query)
    names = [parts for name in query.names if is_identifier(name) and (parts := split_name(name))]
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
    factor = LONE_NAME_FACTOR if lone else SYMBOL_QUERY_FACTOR if query.type == "symbol" else MENTION_FACTOR
    boosted: set[int] = set()
    for parts in names:
        for candidate, entity in _choose_best_spelled(parts, defined):
            if candidate.id not in boosted:
                boosted.add(candidate.id)
                candidate.boost("definition", factor, f"defines {entity.qualified}")


def is_meant(entity: Entity, word: str) -> bool:
    """Return whether a plain word can only mean this definition: the same spelling, or a name of several words."""
    if entity.kind in COMMON_WORD_KINDS:
        return False
    return entity.name == word or len(tokens.split_identifier(entity.name)) > 1


def _choose_best_spelled(
    parts: tuple[str, ...], defined: Sequence[tuple[Candidate, Entity]]
) -> list[tuple[Candidate, Entity]]:
    """Choose the definitions of a name, in any case and as a member of anything, that are spelled most like it."""
    last = parts[-1].lower()
    own = [(_compare_spelling(one[1], parts), one) for one in defined if one[1].name.lower() == last]
    best = max((how for how, _ in own), default=(False, False))
    return [one for how, one in own if how == best]


def _compare_spelling(entity: Entity, parts: tuple[str, ...]) -> tuple[bool, bool]:
    """Return whether a qualified name ends with these parts in any case, and whether the name itself is the same."""
    own = tuple(part.lower() for part in split_name(entity.qualified))
    return own[-len(parts) :] == tuple(part.lower() for part in parts), entity.name == parts[-1]
