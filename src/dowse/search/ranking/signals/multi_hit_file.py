"""Multi-hit boost and diversity: files with several good hits are boosted, further hits of one file demoted.

A file with several hits is more likely right than one with a single lucky hit. A short query names a subject, so the
answer should show several files; a long query describes one piece of code, and other chunks of its file stay up.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

from dowse.search.ranking.candidates import Candidate, describes_a_place
from dowse.search.ranking.signals.context import SignalContext

GAIN = 0.6
"""Gain of a file's best hit when its other hits together score twice as much as the best hit of all."""

FURTHER_HIT_SHARE = 0.7
"""Each further hit of a file counts this much of the one before, so that an answer shows several files."""

DESCRIPTION_HIT_SHARE = 0.9
"""For a query that describes a piece of code: each further hit of a file counts this much of the one before, and is
boosted like the best one."""


def apply(context: SignalContext, candidates: Sequence[Candidate]) -> None:
    """Boost the best hit of files with several, and demote each further hit of a file."""
    query = context.query
    by_file: dict[int, list[Candidate]] = defaultdict(list)
    for candidate in candidates:
        by_file[candidate.file.id].append(candidate)
    top = max([candidate.score for candidate in candidates], default=0.0)
    together = describes_a_place(query)
    for hits in by_file.values():
        beside = [score for hit in hits for score in hit.unranked_scores]
        if len(hits) + len(beside) > 1:
            _rerank_file(sorted(hits, key=lambda c: (-c.score, c.id)), beside, top, together)


def _rerank_file(hits: Sequence[Candidate], beside: Sequence[float], top: float, together: bool) -> None:
    """Rerank the hits of one file, best first; ``top`` is the best score of all files.

    ``beside`` are the scores of chunks that are no candidates.
    """
    best, *others = hits
    rest = sum([*[hit.score for hit in others], *beside])
    factor = 1.0 + GAIN * min(1.0, rest / (2 * top)) if rest and top else 1.0
    if factor != 1.0:
        best.boost("multi_hit_file", factor, f"{len(hits) + len(beside)} places in this file")
    first, step = (factor, DESCRIPTION_HIT_SHARE) if together else (1.0, FURTHER_HIT_SHARE)
    for position, hit in enumerate(others, 1):
        hit.boost("multi_hit_file", first * step**position, f"place {position + 1} of this file")
