"""Place features: what tells the chunks of one file apart."""

from __future__ import annotations

import math
from collections.abc import Mapping

from dowse.lazy_rows import read_column
from dowse.search.ranking.candidates import Candidate, FileCandidate
from dowse.search.ranking.features.context import FeatureContext
from dowse.search.ranking.features.coverage import Coverage
from dowse.search.ranking.features.definition_names import DefinitionNames
from dowse.search.ranking.features.feature import Feature, Values
from dowse.search.ranking.features.formats import FormatFeatures
from dowse.search.ranking.features.inline_tests import is_inline_test
from dowse.search.ranking.features.phrases import PhraseFinder
from dowse.search.ranking.features.soft_coverage import SoftCoverage
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
    ),  # the beginning of the file, unless it is a resource, a cell or the like
    "in_function": Feature("place", 0),  # what is around it, or else the first thing that begins in it
    "in_type": Feature("place", 0),
    "in_section": Feature("place", 0),
    "in_other_definition": Feature("place", 0),
    "length": Feature("place", 0),  # logarithm of its lines
    "coverage": Feature("place", 1),
    "soft_coverage": Feature("place", 1),
    "phrase": Feature("place", 1),
    "answers_route": Feature("place", 1, prior=6.0),  # the query names the route that it has
    "kind_asked": Feature("place", 1, prior=0.3),  # the query names the kind of what it defines
}

FUNCTION_KINDS = frozenset({Kind.FUNCTION, Kind.METHOD, Kind.MACRO})
TYPE_KINDS = frozenset(
    {Kind.CLASS, Kind.INTERFACE, Kind.TRAIT, Kind.STRUCT, Kind.ENUM, Kind.TYPE, Kind.IMPL, Kind.MODULE}
)
SECTION_KINDS = frozenset({Kind.SECTION, Kind.BLOCK})

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
        coverage: Coverage,
        soft: SoftCoverage,
        formats: FormatFeatures,
    ) -> None:
        self._context = context
        self._coverage = coverage
        self._soft = soft
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
                *_describe_kind(place),
                math.log1p(place.chunk.end_line - place.chunk.start_line),
                self._coverage.score(place),
                self._soft.score(place),
                self._phrases.score(place),
                self._formats.score_route(place),
                self._formats.score_kind(place),
            )
            for place, score in zip(places, lexical, strict=True)
        ]


def _scores_by_chunk(context: FeatureContext, channel: str) -> Mapping[int, float]:
    found = context.channels.get(channel)
    return dict(found.hits) if found else {}


def _describe_kind(place: Candidate) -> tuple[float, float, float, float]:
    """Say whether a function, a type, a section or another definition is around a place, or else begins in it."""
    index = place.chunk.entity
    if index is None:
        index = next(iter(place.definition_indexes), None)
    if index is None:
        return 0.0, 0.0, 0.0, 0.0
    kind = read_column(place.file.parsed.entities, "kind")[index]
    found = kind in FUNCTION_KINDS, kind in TYPE_KINDS, kind in SECTION_KINDS
    function, type, section = map(float, found)
    return function, type, section, float(not any(found))


def _is_thing(place: Candidate) -> bool:
    """Return whether a place is one entity of a format, which is no preamble wherever it stands."""
    return place.entity is not None and place.entity.kind in FORMAT_KINDS
