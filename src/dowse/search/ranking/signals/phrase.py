"""A place that says words of the question one after the other says what the question says: an error message, a sentence
of a comment. Keywords do not see it, since to them the order of words is nothing.

A stage of its own among the signals, since it reads what places say.
"""

from __future__ import annotations

from collections.abc import Sequence

from dowse.code import tokens
from dowse.search.query.analyze import IDLE_WORDS
from dowse.search.ranking.signals.candidates import Candidate, describes_a_place
from dowse.stores.protocol import Snapshot
from dowse.types import AnalysedQuery

GAIN = 0.4
"""Gain of a place that says the whole question as it is written."""

LEAST = 4
"""Words in a row that are no chance: three are ("a progress bar")."""

LOOKED_AT = 10
"""Candidates that are looked at, best first: those further down would not come up, and each takes time."""

READINGS = frozenset({"words", "mixed"})
"""Readings of a question that is text; others are names and places."""

ASKING = frozenset({"how", "where", "which", "who"})
"""What begins so asks about code, and no code says it; what an error means, or why it comes, is another matter."""


def weigh(snapshot: Snapshot, query: AnalysedQuery, candidates: Sequence[Candidate]) -> None:
    """Lift places, of candidates best first, by the longest run of the question's words on one line, in any case.

    Not where it describes a place: so many words are nobody's text.
    """
    if query.reading not in READINGS or describes_a_place(query):
        return
    words = tokens.words(query.text.lower())
    runs = _runs(words) if words and words[0] not in ASKING else []
    if not runs:
        return
    first = candidates[:LOOKED_AT]
    snapshot.expect([candidate.file.id for candidate in first])
    for candidate in first:
        chunk = candidate.chunk
        said = snapshot.content(candidate.file.id)[chunk.start : chunk.end].lower()
        start, count = _longest([place for place, run in runs if run in said])
        if count:
            share = count / (len(words) - LEAST + 1)
            text = " ".join(words[start : start + count + LEAST - 1])
            candidate.weigh("verbatim", 1.0 + GAIN * share, f'says "{text}"')


def _runs(words: Sequence[str]) -> list[tuple[int, bytes]]:
    """Each ``LEAST`` words in a row, by place; not those that say nothing about code."""
    found = ((place, words[place : place + LEAST]) for place in range(len(words) - LEAST + 1))
    return [(place, " ".join(run).encode()) for place, run in found if not IDLE_WORDS.issuperset(run)]


def _longest(places: Sequence[int]) -> tuple[int, int]:
    """The start and the length of the longest row of numbers that follow each other; the first of equals."""
    best = (0, 0)
    start = end = -2
    for place in places:
        start, end = (start if place == end + 1 else place), place
        if end - start + 1 > best[1]:
            best = (start, end - start + 1)
    return best
