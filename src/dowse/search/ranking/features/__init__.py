"""Ranking features: named numbers about a file or a place, the input of the learned model; their tables, by group."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from dowse.search.ranking.candidates import FileCandidate
from dowse.search.ranking.features import (
    channel_scores,
    coverage,
    definition_names,
    file_names,
    file_shape,
    file_vectors,
    formats,
    phrases,
    places,
    roles,
    soft_coverage,
)
from dowse.search.ranking.features.channel_scores import ChannelScores
from dowse.search.ranking.features.context import FeatureContext
from dowse.search.ranking.features.coverage import Coverage
from dowse.search.ranking.features.definition_names import DefinitionNames
from dowse.search.ranking.features.feature import Feature, Values
from dowse.search.ranking.features.file_names import FileNames
from dowse.search.ranking.features.file_shape import FileShapes
from dowse.search.ranking.features.file_vectors import FileCosines
from dowse.search.ranking.features.formats import FormatFeatures
from dowse.search.ranking.features.phrases import PhraseFinder
from dowse.search.ranking.features.places import PlaceComparison
from dowse.search.ranking.features.roles import RoleFeatures
from dowse.search.ranking.features.soft_coverage import SoftCoverage

FILE_FEATURES: Mapping[str, Feature] = {
    **channel_scores.FEATURES,
    **file_names.FEATURES,
    **definition_names.FEATURES,
    **roles.FEATURES,
    **formats.FEATURES,
    **file_shape.FEATURES,
    **file_vectors.FEATURES,
}
"""The features of every file under consideration."""

TEXT_FEATURES: Mapping[str, Feature] = {
    **coverage.FEATURES,
    **soft_coverage.FEATURES,
    **phrases.FEATURES,
}
"""The features of those whose text is read, since it takes time: the first by the features above."""

PLACE_FEATURES: Mapping[str, Feature] = places.FEATURES
"""The features of the places of one file."""


def _slice_groups(features: Iterable[Feature]) -> dict[str, slice]:
    """Find where the features of each group stand; they stand together."""
    groups = [feature.group for feature in features]
    firsts = {group: groups.index(group) for group in groups}
    return {group: slice(first, first + groups.count(group)) for group, first in firsts.items()}


FILE_GROUPS: Mapping[str, slice] = _slice_groups([*FILE_FEATURES.values(), *TEXT_FEATURES.values()])
"""The groups of features of files, and where they stand in both tables together."""

NO_TEXT: Values = (0.0,) * len(TEXT_FEATURES)
PLACES_COVERAGE = list(TEXT_FEATURES).index("places_coverage")


class FeatureExtractor:
    """Computes the features of the files and places of one query."""

    def __init__(self, context: FeatureContext) -> None:
        self.context = context
        self._channels = ChannelScores(context)
        self._cosines = FileCosines(context)
        self._names = FileNames(context)
        self._definitions = DefinitionNames(context)
        self._phrases = PhraseFinder(context)
        self._roles = RoleFeatures(context.query)
        self._formats = FormatFeatures(context.query)
        self._coverage, self._soft = Coverage(context), SoftCoverage(context)
        self._places = PlaceComparison(
            context, self._definitions, self._phrases, self._coverage, self._soft, self._formats
        )
        self._shapes = FileShapes(context.query)

    def compute_file(self, file: FileCandidate) -> Values:
        """Compute ``FILE_FEATURES`` of a file."""
        return (
            *self._channels.compute(file),
            *self._names.compute(file),
            *self._definitions.compute(file),
            *self._roles.compute(file),
            *self._formats.compute(file),
            *self._shapes.compute(file),
            *self._cosines.compute(file),
        )

    def read(self, files: Sequence[FileCandidate]) -> None:
        """Read the text of some files together, which costs less than one by one."""
        self.context.snapshot.prefetch([file.file.id for file in files])
        self._soft.read(files)

    def compute_text(self, file: FileCandidate) -> Values:
        """Compute ``TEXT_FEATURES`` of a file."""
        read = file.places[: coverage.READ_PLACES]
        return (
            *self._coverage.compute(file),
            *self._soft.compute(file),
            max([self._phrases.score(place) for place in read]),
        )

    def compute_places(self, file: FileCandidate) -> list[Values]:
        """Compute ``PLACE_FEATURES`` of every place of a file."""
        return self._places.compute(file)

    def describe(self, group: str, file: FileCandidate, text: Values) -> str:
        """Say in words what a group of features found in a file, whose ``TEXT_FEATURES`` are known."""
        match group:
            case "file_name":
                return self._names.describe(file)
            case "definition":
                return self._definitions.describe(file)
            case "file_role":
                return self._roles.describe(file)
            case "format":
                return self._formats.describe(file)
            case "file_shape":
                return self._shapes.describe(file)
            case "phrase":
                return self._phrases.describe(file.places[: coverage.READ_PLACES])
            case "history":
                return self._channels.describe_history(file)
            case "fused":
                return f"{len(file.places)} places in this file"
            case "file_vectors":
                return "meaning of the whole file"
            case "coverage":
                return f"{text[PLACES_COVERAGE]:.0%} of the query by the worth of its terms"
            case "soft_coverage":
                return "words of the same meaning"
            case _:
                return "another place of the file"
