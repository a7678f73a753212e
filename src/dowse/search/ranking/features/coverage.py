"""Coverage features: the share of the query's terms, by their worth, that places and names of a file have."""

from __future__ import annotations

from functools import lru_cache
from itertools import chain

from dowse.code import chunk_fields, tokens
from dowse.lazy_rows import read_column
from dowse.search.ranking.candidates import Candidate, FileCandidate
from dowse.search.ranking.features.context import FeatureContext
from dowse.search.ranking.features.definition_names import split_stems
from dowse.search.ranking.features.feature import Feature, Values

FEATURES = {
    "place_coverage": Feature("coverage", 1),  # of the best place, with its path and names
    "places_coverage": Feature("coverage", 1),  # of the first places together
    "path_coverage": Feature("coverage", 1),
    "definition_coverage": Feature("coverage", 1),  # of the names of what begins in the first places
    "rarest_term": Feature("coverage", 1),  # whether the first places have the term that is worth most
}

READ_PLACES = 2
"""Places of a file whose text is read, best first: each takes time."""


@lru_cache(maxsize=20_000)
def _list_path_tokens(path: str) -> frozenset[str]:
    return frozenset(tokens.tokenize_path(path).split())


class Coverage:
    """The coverage of files and places by the terms of one query; each place is looked at once."""

    def __init__(self, context: FeatureContext) -> None:
        self._context = context
        self._found: dict[int, frozenset[str]] = {}

    def compute(self, file: FileCandidate) -> Values:
        """Compute the features of one file, in the order of the table."""
        context, places = self._context, file.places[:READ_PLACES]
        found = [self._find_terms(place) for place in places]
        together = frozenset().union(*found)
        names = read_column(file.file.parsed.entities, "name")
        defined = [split_stems(names[i]) for place in places for i in place.definition_indexes]
        share = context.compute_share
        return (
            max(map(share, found)),
            share(together),
            share(context.wanted & _list_path_tokens(file.file.path)),
            share(context.wanted.intersection(chain.from_iterable(defined))),
            float(context.rarest_term in together),
        )

    def score(self, place: Candidate) -> float:
        """Compute the share of the query that a place has, by the worth of its terms."""
        return self._context.compute_share(self._find_terms(place))

    def _find_terms(self, place: Candidate) -> frozenset[str]:
        """Find which terms of the query a place has: in its text, its path, or the names of what begins in it."""
        found = self._found.get(place.id)
        if found is None:
            file, held, context = place.file, place.definition_indexes, self._context
            qualified = read_column(file.parsed.entities, "qualified") if held else ()
            names = [qualified[i] for i in held]
            content = context.snapshot.content(file.id)
            found = self._found[place.id] = chunk_fields.find_shared_tokens(
                context.wanted, file.path, content, place.chunk, names
            )
        return found
