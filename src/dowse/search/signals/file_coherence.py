"""A file with several good places is more likely the right one than a file with a single lucky hit."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

from dowse.search.signals.base import Candidate
from dowse.types import AnalysedQuery

GAIN = 0.6
"""Gain of a file's best place when its other places together weigh as much as the best place of all."""

SATURATION = 0.7
"""Each further place of a file counts this much of the one before, so that an answer shows several files."""


def weigh(query: AnalysedQuery, candidates: Sequence[Candidate]) -> None:
    """Lift the best place of files with many, and let each further place of a file step back."""
    by_file: dict[int, list[Candidate]] = defaultdict(list)
    for candidate in candidates:
        by_file[candidate.file.id].append(candidate)
    top = max([candidate.score for candidate in candidates], default=0.0)
    for places in by_file.values():
        if len(places) > 1:
            _weigh_file(sorted(places, key=lambda c: (-c.score, c.id)), top)


def _weigh_file(places: Sequence[Candidate], top: float) -> None:
    """Weigh the places of one file, best first, where the best of all weighs this much."""
    best, *others = places
    rest = sum([place.score for place in others])
    if rest and top:
        gain = GAIN * min(1.0, rest / (2 * top))
        best.weigh("file_coherence", 1.0 + gain, f"{len(places)} places in this file")
    for position, place in enumerate(others, 1):
        place.weigh("file_coherence", SATURATION**position, f"place {position + 1} of this file")
