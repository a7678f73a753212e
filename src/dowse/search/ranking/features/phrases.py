"""Phrase feature: the longest run of the query's words that a place has as it is written (word n-grams).

BM25 does not see the order of words. Not a filter: exact phrases are ``channels/phrase_match.py``.
"""

from __future__ import annotations

from collections.abc import Iterable

from dowse.code import tokens
from dowse.search.query.analyze import IDLE_WORDS
from dowse.search.ranking.candidates import Candidate
from dowse.search.ranking.features.context import FeatureContext
from dowse.search.ranking.features.feature import Feature

FEATURES = {"phrase": Feature("phrase", 1)}

MIN_RUN_WORDS = 3
MAX_QUERY_WORDS = 60


class PhraseFinder:
    """Finds runs of the words of one query in places."""

    def __init__(self, context: FeatureContext) -> None:
        self._snapshot = context.snapshot
        self._scores: dict[int, float] = {}
        self._words = tokens.split_words(context.query.text.lower())[:MAX_QUERY_WORDS]
        runs = (
            (at, self._words[at : at + MIN_RUN_WORDS]) for at in range(len(self._words) - MIN_RUN_WORDS + 1)
        )
        self._runs = [(at, " ".join(run).encode()) for at, run in runs if not IDLE_WORDS.issuperset(run)]

    def score(self, place: Candidate) -> float:
        """Score the longest run in a place as a share of the query's words; each place is looked at once."""
        score = self._scores.get(place.id)
        if score is None:
            found = self._find_longest(place)
            score = self._scores[place.id] = len(found) / len(self._words) if found else 0.0
        return score

    def describe(self, places: Iterable[Candidate]) -> str:
        """Quote the longest run in some places."""
        longest = max((self._find_longest(place) for place in places), key=len)
        return f'says "{" ".join(longest)}"'

    def _find_longest(self, place: Candidate) -> list[str]:
        if not self._runs:
            return []
        content = self._snapshot.content(place.file.id)
        text = content[place.chunk.start : place.chunk.end].lower()
        start = best_start = best_count = count = 0
        before = -2
        for at, run in self._runs:
            if run not in text:
                continue
            start, count = (start, count + 1) if at == before + 1 else (at, 1)
            before = at
            if count > best_count:
                best_start, best_count = start, count
        return self._words[best_start : best_start + best_count + MIN_RUN_WORDS - 1] if best_count else []
