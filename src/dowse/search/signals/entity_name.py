"""A definition named with the words of the question is likely what the question describes."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

from dowse.code import tokens
from dowse.search.signals.base import Candidate
from dowse.types import AnalysedQuery

GAIN = 0.3
"""Gain when every word of the name is in the question, and the question is nothing else."""

LEAST = 2
"""Words a name must share with the question, unless the question has fewer: one word is shared by chance."""


def weigh(query: AnalysedQuery, candidates: Sequence[Candidate]) -> None:
    """Lift chunks with a definition whose name shares words with the question."""
    wanted = frozenset(word for word in query.words if len(word) > 1)
    if not wanted:
        return
    least = min(LEAST, len(wanted))
    for candidate in candidates:
        entities = candidate.file.parsed.entities
        best, named = 0.0, ""
        for i in candidate.file.definitions[candidate.ordinal]:
            words = _name_stems(entities[i].name)
            shared = len(words & wanted)
            if shared >= least and shared * shared / len(words) > best:
                best, named = shared * shared / len(words), entities[i].name
        if best:
            candidate.weigh("entity_name", 1.0 + GAIN * best / len(wanted), f"defines {named}")


@lru_cache(maxsize=50_000)
def _name_stems(name: str) -> frozenset[str]:
    return frozenset(map(tokens.stem, tokens.split_identifier(name)))
