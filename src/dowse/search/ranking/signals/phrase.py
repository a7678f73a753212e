"""Phrase boost: chunks that have words of the query in a row (word n-grams): an error message, a comment.

BM25 does not see the order of words. Not a filter: exact phrases are ``channels/phrase_match.py``.
"""

from __future__ import annotations

from collections.abc import Sequence

from dowse.code import tokens
from dowse.search.query.analyze import IDLE_WORDS
from dowse.search.ranking.candidates import Candidate, describes_a_place
from dowse.search.ranking.signals.context import SignalContext

GAIN = 0.4
"""Gain of a chunk that has the whole query as it is written."""

MIN_RUN_WORDS = 4
"""Words in a row that are no chance: three are ("a progress bar")."""

MAX_CANDIDATES = 10
"""Candidates that are looked at, best first: those further down would not come up, and each takes time."""

TEXT_TYPES = frozenset({"words", "mixed"})
"""Types of a query that is text; others are names and places."""

INTERROGATIVES = frozenset({"how", "where", "which", "who"})
"""What begins so asks about code, and no code says it; what an error means, or why it comes, is another matter."""


def apply(context: SignalContext, candidates: Sequence[Candidate]) -> None:
    """Boost the first candidates by the longest run of the query's words on one line, in any case.

    Not where it describes a place: so many words are nobody's text.
    """
    snapshot, query = context.snapshot, context.query
    if query.type not in TEXT_TYPES or describes_a_place(query):
        return
    words = tokens.split_words(query.text.lower())
    runs = _list_runs(words) if words and words[0] not in INTERROGATIVES else []
    if not runs:
        return
    first = candidates[:MAX_CANDIDATES]
    snapshot.prefetch([candidate.file.id for candidate in first])
    for candidate in first:
        chunk = candidate.chunk
        said = snapshot.content(candidate.file.id)[chunk.start : chunk.end].lower()
        start, count = _find_longest_row([place for place, run in runs if run in said])
        if count:
            share = count / (len(words) - MIN_RUN_WORDS + 1)
            text = " ".join(words[start : start + count + MIN_RUN_WORDS - 1])
            candidate.boost("phrase", 1.0 + GAIN * share, f'says "{text}"')


def _list_runs(words: Sequence[str]) -> list[tuple[int, bytes]]:
    """List each ``MIN_RUN_WORDS`` words in a row, by place; not those that say nothing about code."""
    found = ((place, words[place : place + MIN_RUN_WORDS]) for place in range(len(words) - MIN_RUN_WORDS + 1))
    return [(place, " ".join(run).encode()) for place, run in found if not IDLE_WORDS.issuperset(run)]


def _find_longest_row(places: Sequence[int]) -> tuple[int, int]:
    """Find the start and the length of the longest row of numbers that follow each other; the first of equals."""
    best = (0, 0)
    start = end = -2
    for place in places:
        start, end = (start if place == end + 1 else place), place
        if end - start + 1 > best[1]:
            best = (start, end - start + 1)
    return best
