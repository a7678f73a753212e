"""Reranking: apply every signal (boost, demote, add) that is enabled to the candidates, and sort them again.

Rules with named contributions, no cross-encoder and no learned model.
"""

from __future__ import annotations

from collections.abc import Container

from dowse.search.ranking.candidates import Candidate, sort_candidates
from dowse.search.ranking.signals import SIGNALS
from dowse.search.ranking.signals.context import SignalContext


def rerank(context: SignalContext, candidates: list[Candidate], disabled: Container[str]) -> list[Candidate]:
    """Apply the enabled signals in their order, and sort by the scores that they leave."""
    for name, apply in SIGNALS.items():
        if name not in disabled:
            apply(context, candidates)
    return sort_candidates(candidates)
