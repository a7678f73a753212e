"""Symbol name boost: chunks with a definition whose name shares words with the query."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

from dowse.code import tokens
from dowse.lazy_rows import read_column
from dowse.search.ranking.candidates import Candidate, list_naming_words
from dowse.search.ranking.signals.context import SignalContext

GAIN = 0.3
"""Gain when every word of the name is in the query, and the query has no others."""

MIN_SHARED_WORDS = 2
"""Words a name must share with the query, unless the query has fewer: one word is shared by chance."""

MIN_SCORE_SHARE = 0.4
"""Share of the best score below which candidates are skipped: they would not come up, and most are below."""


def apply(context: SignalContext, candidates: Sequence[Candidate]) -> None:
    """Boost chunks with a definition whose name shares words with the query; not for queries that name a file."""
    query = context.query
    wanted = list_naming_words(query)
    if not wanted or query.type == "file":
        return
    least = min(MIN_SHARED_WORDS, len(wanted))
    enough = MIN_SCORE_SHARE * max([candidate.score for candidate in candidates], default=0.0)
    worth: dict[str, float] = {}  # by name: the same one is defined in many places
    for candidate in candidates:
        if candidate.score < enough:
            continue
        held = candidate.definition_indexes
        names = read_column(candidate.file.parsed.entities, "name") if held else ()
        best, named = 0.0, ""
        for i in held:
            name = names[i]
            value = worth.get(name)
            if value is None:
                value = worth[name] = _score_overlap(_name_stems(name), wanted, least)
            if value > best:
                best, named = value, name
        if best:
            candidate.boost("entity_name", 1.0 + GAIN * best, f"defines {named}")


def _score_overlap(words: frozenset[str], wanted: frozenset[str], least: int) -> float:
    """Compute the share of a name that the query has, times the share of the query that the name has."""
    if words.isdisjoint(wanted):
        return 0.0
    shared = len(words & wanted)
    return shared * shared / (len(words) * len(wanted)) if shared >= least else 0.0


@lru_cache(maxsize=50_000)
def _name_stems(name: str) -> frozenset[str]:
    return frozenset(map(tokens.stem, tokens.split_identifier(name)))
