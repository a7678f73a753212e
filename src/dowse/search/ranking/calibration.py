"""Relevance calibration: a logistic regression that turns a hit into a probability of being right, from 0 to 1.

A fused score only orders the hits of one query; relevance means the same for every query. Features: how much of the
query the hit covers (weighted by inverse document frequency), whether it or its file has a name of the query, its rank.
Fitted on queries with known answers and on queries about other trees, which have none (``benchmarks/calibrate.py``). Of
the hits with 0.8, four of five are right where every second query has an answer.
"""

from __future__ import annotations

import math
from operator import mul
from typing import NamedTuple

from dowse.code import chunk_fields
from dowse.lazy_rows import read_column
from dowse.search.channels.retrieve import EXACT_WEIGHT, PLACES_WEIGHT
from dowse.search.query.analyze import find_lone_name, get_last_part, is_identifier
from dowse.search.query.keywords import inverse_frequency
from dowse.search.ranking.candidates import Candidate, describes_a_place, list_naming_words
from dowse.search.ranking.signals import definition, file_name
from dowse.stores.protocol import Snapshot
from dowse.types.queries import Query

WEAK_RELEVANCE = 0.1
"""An answer whose best hit is below this is a guess: so are one in a hundred of the answers to real queries, and
half of those to queries about something else."""

FULL_COVERAGE = 0.5
"""The share of a query that a place has to cover; nobody's words are all in the code."""

FIRST_HIT_WEIGHTS = {
    "intercept": -5.01,
    "coverage": 2.53,
    "amount": 0.94,
    "depth": 0.0,
    "named": 1.7,
    "file": 2.71,
}
LATER_HIT_WEIGHTS = {
    "intercept": -5.43,
    "coverage": 0.57,
    "amount": 1.39,
    "depth": -0.19,
    "named": 0.5,
    "file": 3.72,
}
"""Weights of the evidence for the first hit and for those below it, as ``benchmarks/calibrate.py`` fits them; to be
fitted again when a signal changes."""

_FIRST_HIT_MODEL, _LATER_HIT_MODEL = (
    (weights["intercept"], tuple(weights.values())[1:]) for weights in (FIRST_HIT_WEIGHTS, LATER_HIT_WEIGHTS)
)

MIN_CHUNKS = 50
"""In an index of fewer chunks, how rare a word is says little, and looking through the hits costs little."""

WORD_MODELS = frozenset({"none", "static", "hashing"})
"""Embedders that know meaning by words alone, of one language: where an index has no word of a query, they guess."""

DIRECT_CHANNELS = {"exact": EXACT_WEIGHT, "places": PLACES_WEIGHT, "files": 1.0}
"""Channels that bring what a query names in so many words, and what they give to a hit that they are sure of: it is
as relevant as they say, at least."""


class Features(NamedTuple):
    """The features of a hit: what speaks for it being right."""

    coverage: float  # share of the query that the place has, each term by how much it tells; 1 from FULL_COVERAGE on
    amount: float  # logarithm of how much that is
    depth: float  # logarithm of its rank
    named: float  # 1 if it defines an identifier of the query
    file: float  # what its file's name adds to the score, 1 at the most


class RelevanceModel:
    """Estimates the relevance (calibrated probability) of the hits of one query."""

    def __init__(self, snapshot: Snapshot, query: Query) -> None:
        chunks = snapshot.chunk_count()
        known = {term: snapshot.document_frequency(term.text) for term in query.terms}
        self.worth = {
            term.text: term.weight * inverse_frequency(seen, chunks) for term, seen in known.items()
        }
        self._knows_words = any(known.values())
        self._is_large = chunks >= MIN_CHUNKS
        self._whole = sum(self.worth.values())
        self._wanted = frozenset(self.worth)
        self._lone = find_lone_name(query)
        self._names = {
            get_last_part(name).lower() for name in query.names if self._lone or is_identifier(name)
        }
        self._naming = list_naming_words(query) if describes_a_place(query) else frozenset()
        self._snapshot = snapshot

    def can_tell(self, embedder: str) -> bool:
        """Return whether relevance tells that nothing is good; another language is for a model that knows it."""
        if not self._wanted:  # a pattern of names, a phrase: whatever has it is what was asked for
            return False
        return self._is_large if self._knows_words else embedder in WORD_MODELS

    def relevance(self, candidate: Candidate, rank: int) -> float:
        """Return how likely a hit is right; where a query has no words, whatever is found is what was asked for."""
        if not self._wanted:
            return 1.0
        likely = probability(self.extract_features(candidate, rank))
        for name, value, _ in candidate.contributions:
            if name in DIRECT_CHANNELS:
                likely = max(likely, min(1.0, value / DIRECT_CHANNELS[name]))
        return likely

    def extract_features(self, candidate: Candidate, rank: int) -> Features:
        """Extract the features of a hit."""
        has = self._find_terms(candidate)
        covered = sum([self.worth[term] for term in has])
        defined = candidate.find_definitions(self._names) if self._names else ()
        named = any(not self._lone or definition.is_meant(entity, self._lone) for entity in defined)
        if self._naming:  # no signal for the order, but still evidence
            file = file_name.compute_gain(candidate.file.path, self._naming)
        else:
            file = sum([factor - 1.0 for name, factor, _ in candidate.contributions if name == "file_name"])
        return Features(
            coverage=min(1.0, covered / self._whole / FULL_COVERAGE) if self._whole else 0.0,
            amount=math.log1p(covered),
            depth=math.log(rank),
            named=float(named),
            file=min(1.0, max(0.0, file)),
        )

    def _find_terms(self, candidate: Candidate) -> frozenset[str]:
        file, held = candidate.file, candidate.definition_indexes
        qualified = read_column(file.parsed.entities, "qualified") if held else ()
        names = [qualified[i] for i in held]
        return chunk_fields.find_shared_tokens(
            self._wanted, file.path, self._snapshot.content(file.id), candidate.chunk, names
        )


def probability(features: Features) -> float:
    """Apply the logistic function to the weighted features."""
    intercept, weights = _LATER_HIT_MODEL if features.depth else _FIRST_HIT_MODEL
    return logistic(intercept + sum(map(mul, weights, features)))


def logistic(x: float) -> float:
    """Map any number to a share between 0 and 1."""
    return 1.0 / (1.0 + math.exp(-x))
