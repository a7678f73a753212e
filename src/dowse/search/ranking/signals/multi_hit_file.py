"""A file with several good places is more likely the right one than a file with a single lucky hit.

That says which file; which lines of it, the places' own scores say. A short question names a subject: an answer
shows several files, so the further places of a file step back. A long one describes a place: the other places of
its file are as likely meant as another file, and go with their file.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

from dowse.search.ranking.candidates import Candidate, describes_a_place
from dowse.search.ranking.signals.context import SignalContext

GAIN = 0.6
"""Gain of a file's best place when its other places together weigh as much as the best place of all."""

SATURATION = 0.7
"""Each further place of a file counts this much of the one before, so that an answer shows several files."""

TOGETHER = 0.9
"""Where the question describes a place: each further place of a file counts this much of the one before, and is
lifted like the best one."""


def apply(context: SignalContext, candidates: Sequence[Candidate]) -> None:
    """Lift the best place of files with many, and let each further place of a file step back."""
    query = context.query
    by_file: dict[int, list[Candidate]] = defaultdict(list)
    for candidate in candidates:
        by_file[candidate.file.id].append(candidate)
    top = max([candidate.score for candidate in candidates], default=0.0)
    together = describes_a_place(query)
    for places in by_file.values():
        beside = [score for place in places for score in place.unranked_scores]
        if len(places) + len(beside) > 1:
            _weigh_file(sorted(places, key=lambda c: (-c.score, c.id)), beside, top, together)


def _weigh_file(places: Sequence[Candidate], beside: Sequence[float], top: float, together: bool) -> None:
    """Weigh the places of one file, best first, where the best of all weighs this much.

    ``beside`` are the scores of those that are no candidates.
    """
    best, *others = places
    rest = sum([*[place.score for place in others], *beside])
    lift = 1.0 + GAIN * min(1.0, rest / (2 * top)) if rest and top else 1.0
    if lift != 1.0:
        best.boost("file_coherence", lift, f"{len(places) + len(beside)} places in this file")
    first, step = (lift, TOGETHER) if together else (1.0, SATURATION)
    for position, place in enumerate(others, 1):
        place.boost("file_coherence", first * step**position, f"place {position + 1} of this file")
