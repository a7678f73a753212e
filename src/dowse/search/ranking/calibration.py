"""How relevant a hit is, from 0 to 1, so that it means the same for every question: a calibrated probability.

A fused score only orders the hits of one question. Here a logistic model says how likely a hit is right, by what it
shares with the question: how much of what the question asks for it has, how much that is in all, whether it defines
a name that is asked for, whether its file is called so, and how far down it stands. Fitted on questions with known
answers, and on questions about other trees, which have none (``benchmarks/calibrate.py``). Of the hits that are said to
be 0.8, four of five are right where every second question has an answer.
"""

from __future__ import annotations

import math
from operator import mul
from typing import NamedTuple

from dowse.code import chunk_fields
from dowse.lazy_rows import column
from dowse.search.channels.retrieve import EXACT_WEIGHT, PLACES_WEIGHT
from dowse.search.query.analyze import is_identifier, last_part, lone_name
from dowse.search.query.keywords import inverse_frequency
from dowse.search.ranking.signals import definition, file_name
from dowse.search.ranking.signals.candidates import Candidate, describes_a_place, naming_words
from dowse.stores.protocol import Snapshot
from dowse.types import AnalysedQuery

WEAK = 0.1
"""An answer whose best hit is below this is a guess: so are one in a hundred of the answers to real questions, and
half of those to questions about something else."""

ENOUGH = 0.5
"""The share of a question that a place has to cover; nobody's words are all in the code."""

FIRST = {"intercept": -5.01, "coverage": 2.53, "amount": 0.94, "depth": 0.0, "named": 1.7, "file": 2.71}
LATER = {"intercept": -5.43, "coverage": 0.57, "amount": 1.39, "depth": -0.19, "named": 0.5, "file": 3.72}
"""Weights of the evidence for the first hit and for those below it, as ``benchmarks/calibrate.py`` fits them; to be
fitted again when a signal changes."""

_FIRST, _LATER = ((weights["intercept"], tuple(weights.values())[1:]) for weights in (FIRST, LATER))

FEW = 50
"""In an index of fewer chunks, how rare a word is says little, and looking through the hits costs little."""

WORD_MODELS = frozenset({"none", "static", "hashing"})
"""Embedders that know meaning by words alone, of one language: where an index has no word of a question, they guess."""

DIRECT = {"exact": EXACT_WEIGHT, "places": PLACES_WEIGHT, "files": 1.0}
"""Channels that bring what a question names in so many words, and what they give to a hit that they are sure of: it is
as relevant as they say, at least."""


class Evidence(NamedTuple):
    """What speaks for a hit."""

    coverage: (
        float  # share of the question that the place has, each term by how much it tells; 1 from ENOUGH on
    )
    amount: float  # logarithm of how much that is
    depth: float  # logarithm of its rank
    named: float  # 1 if it defines an identifier of the question
    file: float  # what its file's name adds to the score, 1 at the most


class Judge:
    """Judges the hits of one question."""

    def __init__(self, snapshot: Snapshot, query: AnalysedQuery) -> None:
        chunks = snapshot.chunk_count()
        known = {term: snapshot.frequency(term.text) for term in query.terms}
        self.worth = {
            term.text: term.weight * inverse_frequency(seen, chunks) for term, seen in known.items()
        }
        self._knows_words = any(known.values())
        self._is_large = chunks >= FEW
        self._whole = sum(self.worth.values())
        self._wanted = frozenset(self.worth)
        self._lone = lone_name(query)
        self._names = {last_part(name).lower() for name in query.names if self._lone or is_identifier(name)}
        self._naming = naming_words(query) if describes_a_place(query) else frozenset()
        self._snapshot = snapshot

    def can_tell(self, embedder: str) -> bool:
        """Whether relevance tells that nothing is good; another language is for a model that knows it."""
        if not self._wanted:  # a pattern of names, a phrase: whatever has it is what was asked for
            return False
        return self._is_large if self._knows_words else embedder in WORD_MODELS

    def relevance(self, candidate: Candidate, rank: int) -> float:
        """How likely a hit is right; where a question has no words, whatever is found is what was asked for."""
        if not self._wanted:
            return 1.0
        likely = probability(self.evidence(candidate, rank))
        for name, value, _ in candidate.given:
            if name in DIRECT:
                likely = max(likely, min(1.0, value / DIRECT[name]))
        return likely

    def evidence(self, candidate: Candidate, rank: int) -> Evidence:
        """What speaks for a hit."""
        has = self._has(candidate)
        covered = sum([self.worth[term] for term in has])
        defined = candidate.defining(self._names) if self._names else ()
        named = any(not self._lone or definition.is_meant(entity, self._lone) for entity in defined)
        if self._naming:  # no signal for the order, but still evidence
            file = file_name.gain(candidate.file.path, self._naming)
        else:
            file = sum([factor - 1.0 for name, factor, _ in candidate.given if name == "file_name"])
        return Evidence(
            coverage=min(1.0, covered / self._whole / ENOUGH) if self._whole else 0.0,
            amount=math.log1p(covered),
            depth=math.log(rank),
            named=float(named),
            file=min(1.0, max(0.0, file)),
        )

    def _has(self, candidate: Candidate) -> frozenset[str]:
        file, held = candidate.file, candidate.held
        qualified = column(file.parsed.entities, "qualified") if held else ()
        names = [qualified[i] for i in held]
        return chunk_fields.shared(
            self._wanted, file.path, self._snapshot.content(file.id), candidate.chunk, names
        )


def probability(evidence: Evidence) -> float:
    """The logistic function of the weighted evidence."""
    intercept, weights = _LATER if evidence.depth else _FIRST
    return logistic(intercept + sum(map(mul, weights, evidence)))


def logistic(x: float) -> float:
    """From any number to a share."""
    return 1.0 / (1.0 + math.exp(-x))
