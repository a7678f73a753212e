"""A definition named with the words of the question is likely what the question describes."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

from dowse.code import tokens
from dowse.lazy_rows import column
from dowse.search.ranking.candidates import Candidate, naming_words
from dowse.search.ranking.signals.context import SignalContext

GAIN = 0.3
"""Gain when every word of the name is in the question, and the question is nothing else."""

LEAST = 2
"""Words a name must share with the question, unless the question has fewer: one word is shared by chance."""

IN_REACH = 0.4
"""Share of the best score below which a place stays where it is, whatever is defined there: most are, and looking at
their names takes time."""


def apply(context: SignalContext, candidates: Sequence[Candidate]) -> None:
    """Lift chunks with a definition whose name shares words with the question; not where a file is asked for."""
    query = context.query
    wanted = naming_words(query)
    if not wanted or query.reading == "file":
        return
    least = min(LEAST, len(wanted))
    enough = IN_REACH * max([candidate.score for candidate in candidates], default=0.0)
    worth: dict[str, float] = {}  # by name: the same one is defined in many places
    for candidate in candidates:
        if candidate.score < enough:
            continue
        held = candidate.definition_indexes
        names = column(candidate.file.parsed.entities, "name") if held else ()
        best, named = 0.0, ""
        for i in held:
            name = names[i]
            value = worth.get(name)
            if value is None:
                value = worth[name] = _share(_name_stems(name), wanted, least)
            if value > best:
                best, named = value, name
        if best:
            candidate.boost("entity_name", 1.0 + GAIN * best, f"defines {named}")


def _share(words: frozenset[str], wanted: frozenset[str], least: int) -> float:
    """The share of a name that the question has, times the share of the question that the name has."""
    if words.isdisjoint(wanted):
        return 0.0
    shared = len(words & wanted)
    return shared * shared / (len(words) * len(wanted)) if shared >= least else 0.0


@lru_cache(maxsize=50_000)
def _name_stems(name: str) -> frozenset[str]:
    return frozenset(map(tokens.stem, tokens.split_identifier(name)))
