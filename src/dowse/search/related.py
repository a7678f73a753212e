"""What belongs to a place: the tests of a source file or the source of a test, and code that is alike."""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter

from dowse.code import tokens
from dowse.code.pairs import Pairs
from dowse.search.informative import informative_terms
from dowse.stores.base import Snapshot
from dowse.types import Filter, QueryWord, Scored, StoredFile, Term, chunk_id

TERMS = 25
"""Terms of a piece of code by which others are called alike."""

FIELDS = {"name": 1.0, "signature": 0.5, "body": 1.0}
"""Where alike code says the same; its path and its comments may say anything."""

DEPTH = 50
"""Alike places that are considered."""


def partners(snapshot: Snapshot, file: StoredFile) -> list[Scored]:
    """The first chunks of the tests of a source file, or of the sources of a test, best first."""
    pairs = Pairs(list(snapshot.manifest()))
    found = ((snapshot.file_at(partner.path), partner.score) for partner in pairs.partners(file.path))
    return [Scored(chunk_id(other.id, 0), score) for other, score in found if other]


def similar(snapshot: Snapshot, file: StoredFile, line: int, filter: Filter) -> list[Scored]:
    """Chunks that say what the chunk around a line says, this one left out, best first."""
    ordinal = chunk_at(file, line)
    hits = snapshot.lexical(_terms(snapshot, file, ordinal), FIELDS, filter, DEPTH + 1)
    return [hit for hit in hits if hit.chunk != chunk_id(file.id, ordinal)]


def chunk_at(file: StoredFile, line: int) -> int:
    """The place of the chunk that a line is in, or of the one behind it."""
    ends = [chunk.end_line for chunk in file.parsed.chunks]
    return min(bisect_left(ends, line), len(ends) - 1)


def _terms(snapshot: Snapshot, file: StoredFile, ordinal: int) -> tuple[Term, ...]:
    chunk = file.parsed.chunks[ordinal]
    found = Counter(tokens.tokens(snapshot.content(file.id)[chunk.start : chunk.end]).split())
    words = [QueryWord(token, times) for token, times in found.items()]
    return informative_terms(words, snapshot.frequency, snapshot.chunk_count(), TERMS).terms
