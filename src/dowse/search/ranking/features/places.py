"""Place features: what tells the chunks of one file apart."""

from __future__ import annotations

from collections.abc import Mapping

from dowse.search.ranking.candidates import Candidate, FileCandidate
from dowse.search.ranking.features.context import FeatureContext
from dowse.search.ranking.features.definition_names import DefinitionNames
from dowse.search.ranking.features.feature import Feature, Values
from dowse.search.ranking.features.formats import FormatFeatures
from dowse.search.ranking.features.inline_tests import is_inline_test
from dowse.search.ranking.features.phrases import PhraseFinder
from dowse.types.source import Kind

FEATURES = {
    "fused_share": Feature("place", 1),  # fused score, compared with the best of the file
    "lexical_share": Feature("place", 1),
    "cosine_gap": Feature("place", 1),  # cosine minus the best of the file
    "names_match": Feature("place", 1),
    "named_line": Feature("place", 1, prior=8.0),  # the query names a line in it
    "phrases_match": Feature("place", 1, prior=6.0),  # a literal in it gave the query's message
    "file_start": Feature("place", 1, prior=4.0),  # the query asks for the file, and it begins here
    "name_overlap": Feature("place", 1),
    "defines_name": Feature("place", 1),
    "inline_test": Feature("place", -1),
    "first_chunk": Feature(
        "place", 0
    ),  # the beginning of the file, unless it is a thing of its own (a resource, a cell)
    "has_definition": Feature("place", 0),  # a definition begins in it or is around it
    "phrase": Feature("place", 1),
    "answers_route": Feature("place", 1, prior=6.0),  # the query names the route that it has
    "kind_asked": Feature("place", 1, prior=0.3),  # the query names the kind of what it defines
}

FORMAT_KINDS = frozenset({
    Kind.CELL, Kind.COMPONENT, Kind.CONTAINER, Kind.JOB, Kind.KEY, Kind.RESOURCE, Kind.ROUTE, Kind.SERVICE, Kind.STAGE,
    Kind.STEP, Kind.TEMPLATE, Kind.WORKFLOW,
})  # fmt: skip
"""Kinds of entities that a file may begin with and go on with, in any order."""

FUSED_SHARE = list(FEATURES).index("fused_share")
"""Where the one feature is that tells the places of a file apart that is not read."""


class PlaceComparison:
    """Compares the places of a file, for one query."""

    def __init__(
        self,
        context: FeatureContext,
        definitions: DefinitionNames,
        phrases: PhraseFinder,
        formats: FormatFeatures,
    ) -> None:
        self._context = context
        self._definitions = definitions
        self._phrases = phrases
        self._formats = formats
        self._lexical, self._names, self._lines, self._phrases_found, starts = (
            _scores_by_chunk(context, name) for name in ("lexical", "names", "places", "phrases", "files")
        )
        self._starts = starts if context.query.type == "file" else {}

    def compute(self, file: FileCandidate) -> list[Values]:
        """Compute the features of every place of a file, in the order of the table."""
        context, places = self._context, file.places
        top = places[0].score or 1.0
        lexical = [self._lexical.get(place.id, 0.0) for place in places]
        top_lexical = max(lexical) or 1.0
        cosines = context.cosines.get(file.file.id) or (0.0,) * len(file.file.parsed.chunks)
        best = max(cosines)
        return [
            (
                place.score / top,
                score / top_lexical,
                cosines[place.ordinal] - best,
                self._names.get(place.id, 0.0),
                self._lines.get(place.id, 0.0),
                self._phrases_found.get(place.id, 0.0),
                self._starts.get(place.id, 0.0),
                self._definitions.score_overlap(place),
                self._definitions.score_definition(place),
                float(is_inline_test(place)),
                float(place.ordinal == 0 and not _is_thing(place)),
                float(_has_definition(place)),
                self._phrases.score(place),
                self._formats.score_route(place),
                self._formats.score_kind(place),
            )
            for place, score in zip(places, lexical, strict=True)
        ]


def _scores_by_chunk(context: FeatureContext, channel: str) -> Mapping[int, float]:
    found = context.channels.get(channel)
    return dict(found.hits) if found else {}


def _is_thing(place: Candidate) -> bool:
    """Return whether a place is one entity of a format, which is no preamble wherever it stands."""
    return place.entity is not None and place.entity.kind in FORMAT_KINDS


def _has_definition(place: Candidate) -> bool:
    return place.chunk.entity is not None or bool(place.definition_indexes)
