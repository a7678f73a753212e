"""Reranks candidates: applies every signal that is switched on, in the order of the table."""

from __future__ import annotations

from collections.abc import Container

from dowse.search.ranking.candidates import Candidate, sort_candidates
from dowse.search.ranking.signals import SIGNALS
from dowse.search.ranking.signals.context import SignalContext


def rerank(context: SignalContext, candidates: list[Candidate], disabled: Container[str]) -> list[Candidate]:
    """Apply the signals, and sort by the scores that they leave."""
    for name, apply in SIGNALS.items():
        if name not in disabled:
            apply(context, candidates)
    return sort_candidates(candidates)
