"""Relevance calibration: turn the order of hits into probabilities of being right, from 0 to 1.

A score only orders the hits of one query; relevance means the same for every query. That of the first hit is a logistic
regression over evidence that does not depend on the other hits: how much of the query its file covers, how near it is
in meaning, whether it has a name of the query. Each further hit has less, by how far its score is behind. Fitted
together with the ranking, on queries with known answers and on queries about other trees, which have none.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

from dowse.search.channels.retrieve import EXACT_WEIGHT, PHRASES_WEIGHT, PLACES_WEIGHT
from dowse.search.ranking.candidates import Candidate
from dowse.search.ranking.features import FILE_FEATURES, TEXT_FEATURES
from dowse.search.ranking.features.context import FeatureContext
from dowse.search.ranking.features.feature import Values

WEAK_RELEVANCE = 0.1
"""An answer whose best hit is below this is a guess."""

MIN_CHUNKS = 50
"""In an index of fewer chunks, how rare a word is says little, and looking through the hits costs little."""

WORD_MODELS = frozenset({"none", "static", "hashing"})
"""Embedders that know meaning by words alone, of one language: where an index has no word of a query, they guess."""

DIRECT_CHANNELS = {"exact": EXACT_WEIGHT, "places": PLACES_WEIGHT, "phrases": PHRASES_WEIGHT, "files": 1.0}
"""Channels that bring what a query names in so many words, and what they give to a hit that they are sure of: it is
as relevant as they say, at least."""

EVIDENCE = (
    "lexical_strength", "names_match", "files_match", "stem_share", "stem_query_share", "defines_name", "name_overlap",
    "best_cosine", "mean_cosine", "place_coverage", "places_coverage", "rarest_term", "phrase",
)  # fmt: skip
"""The features of its file that tell how likely the first hit is right."""

_NAMES = (*FILE_FEATURES, *TEXT_FEATURES)
_EVIDENCE_INDEXES = tuple(_NAMES.index(name) for name in EVIDENCE)


class RelevanceModel(NamedTuple):
    """The fitted weights for a query: of the evidence for its first hit, and of how far a hit's score is behind it."""

    intercept: float
    weights: Values
    gap_weight: float

    def estimate_first(self, features: Values) -> float:
        """Estimate how likely the first hit is right, by all the features of its file."""
        evidence = [features[i] for i in _EVIDENCE_INDEXES]
        return logistic(
            self.intercept + sum(w * value for w, value in zip(self.weights, evidence, strict=True))
        )

    def estimate(self, first: float, candidates: Sequence[Candidate]) -> dict[tuple[int, int | None], float]:
        """Estimate how likely each hit is right, by its key: never more than the one before."""
        found: dict[tuple[int, int | None], float] = {}
        bound = 1.0
        for candidate in candidates:
            behind = candidates[0].score - candidate.score
            likely = first * math.exp(-self.gap_weight * behind)
            bound = found[candidate.key] = min(bound, max(likely, _find_least(candidate)))
        return found


def _find_least(candidate: Candidate) -> float:
    """Find the least relevance of a hit: what the channels are sure of that bring what the query names."""
    sure = [
        min(1.0, value / DIRECT_CHANNELS[name])
        for name, value, _ in candidate.contributions
        if name in DIRECT_CHANNELS
    ]
    return max(sure, default=0.0)


def can_tell_weak(context: FeatureContext, embedder: str) -> bool:
    """Return whether relevance tells that nothing is good; another language is for a model that knows it."""
    if not context.wanted:  # a pattern of names, a phrase: whatever has it is what was asked for
        return False
    # of a name in another spelling the answer says how the index writes it: what has it so was asked for
    if any(spelling.asked == context.query.text for spelling in context.query.spellings):
        return False
    if any(context.frequencies.values()):
        return context.snapshot.chunk_count() >= MIN_CHUNKS
    return embedder in WORD_MODELS


def logistic(x: float) -> float:
    """Map any number to a share between 0 and 1."""
    return 1.0 / (1.0 + math.exp(-x))
