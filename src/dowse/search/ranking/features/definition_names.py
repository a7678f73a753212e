"""Definition features: whether places define what the query names, or something of a similar name."""

from __future__ import annotations

from functools import lru_cache

from dowse.code import tokens
from dowse.lazy_rows import read_column
from dowse.search.query.analyze import split_name
from dowse.search.query.name_spelling import list_spelled_names
from dowse.search.ranking.candidates import Candidate, FileCandidate
from dowse.search.ranking.features.context import FeatureContext
from dowse.search.ranking.features.feature import Feature, Values
from dowse.types.source import Entity, Kind

FEATURES = {
    "defines_name": Feature("definition", 1),  # how surely a place defines a name of the query
    "name_overlap": Feature("definition", 1),  # share of the best name that the query has, times the converse
}

COMMON_WORD_KINDS = frozenset({Kind.VARIABLE, Kind.SECTION})
"""Kinds of definitions that have a plain word as their name by chance."""

COMPARED_PLACES = 4
"""Places of a file whose names are compared with the words of the query, best first."""


class DefinitionNames:
    """Compares the names of definitions with one query; each place is looked at once."""

    def __init__(self, context: FeatureContext) -> None:
        self._identifiers = context.identifiers
        spelled = list_spelled_names(context.query)
        self._names = [parts for name in spelled if (parts := split_name(name))]
        self._wanted = context.naming_words
        self._overlaps: dict[int, float] = {}
        self._by_name: dict[str, float] = {}

    def compute(self, file: FileCandidate) -> Values:
        """Compute the features of one file, in the order of the table."""
        return (
            max([self.score_definition(place) for place in file.places]) if self._identifiers else 0.0,
            max([self.score_overlap(place) for place in file.places[:COMPARED_PLACES]]),
        )

    def score_definition(self, place: Candidate) -> float:
        """Score how surely a place defines a name of the query, from 0 to 1."""
        found = place.find_definitions(self._identifiers) if self._identifiers else ()
        if not found:
            return 0.0
        return max(
            [_compare_spelling(entity, parts) for entity in found for parts in self._names], default=0.0
        )

    def score_overlap(self, place: Candidate) -> float:
        """Score how much the best name of what begins in a place shares with the query, from 0 to 1."""
        score = self._overlaps.get(place.id)
        if score is None:
            held = place.definition_indexes
            names = read_column(place.file.parsed.entities, "name") if held else ()
            score = self._overlaps[place.id] = max([self._compare_words(names[i]) for i in held], default=0.0)
        return score

    def _compare_words(self, name: str) -> float:
        """Return the share of a name that the query has, times the share of the query that the name has."""
        score = self._by_name.get(name)
        if score is None:
            words, wanted = split_stems(name), self._wanted
            shared = len(words & wanted)
            score = self._by_name[name] = shared * shared / (len(words) * len(wanted)) if shared else 0.0
        return score

    def describe(self, file: FileCandidate) -> str:
        """Say which definitions of a file have a name of the query."""
        found = (entity for place in file.places for entity in place.find_definitions(self._identifiers))
        names = list(dict.fromkeys(entity.qualified for entity in found))
        return f"defines {', '.join(names[:3])}" if names else "a definition shares words with the query"


def _compare_spelling(entity: Entity, parts: tuple[str, ...]) -> float:
    """Compare a definition with a name: 1 if it is written so and a member of what the name says, else less."""
    if entity.name.lower() != parts[-1].lower():
        return 0.0
    own = tuple(part.lower() for part in split_name(entity.qualified))
    is_member = own[-len(parts) :] == tuple(part.lower() for part in parts)
    sure = 0.4 + 0.3 * is_member + 0.3 * (entity.name == parts[-1])
    return sure / 2 if entity.kind in COMMON_WORD_KINDS else sure


@lru_cache(maxsize=50_000)
def split_stems(name: str) -> frozenset[str]:
    """Split a name into its words, and stem them."""
    return frozenset(map(tokens.stem, tokens.split_identifier(name)))
