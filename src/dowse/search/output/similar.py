"""Similar code ("more like this") and test partners: BM25 with the key terms of a chunk; tests paired by file name."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from dowse.code import tokens
from dowse.code.test_pairing import Pairs
from dowse.search.channels.frame_lookup import find_chunk_at
from dowse.search.query.keywords import QueryWord, choose_keywords
from dowse.stores.protocol import Snapshot
from dowse.types.queries import Term
from dowse.types.stored import CHUNK_BITS, Filter, Scored, StoredFile, chunk_id

MAX_TERMS = 25
"""Terms of a piece of code by which similar code is found."""

FIELD_WEIGHTS = {"name": 1.0, "signature": 0.5, "body": 1.0}
"""Where similar code has the same terms; its path and its comments may say anything."""

MAX_SIMILAR = 50
"""Similar chunks that are considered."""


def find_partners(snapshot: Snapshot, file: StoredFile) -> list[Scored]:
    """Find the first definitions of the tests of a source file, or of the sources of a test, best first."""
    pairs = Pairs(list(snapshot.manifest()))
    found = ((snapshot.file_at(partner.path), partner.score) for partner in pairs.find_partners(file.path))
    return [
        Scored(chunk_id(other.id, next((n for n, held in enumerate(other.definitions) if held), 0)), score)
        for other, score in found
        if other and other.parsed.chunks
    ]


def find_similar(snapshot: Snapshot, file: StoredFile, line: int, filter: Filter) -> list[Scored]:
    """Find chunks that are similar to the chunk around a line ("more like this"), best first, without this one.

    Line 0 stands for the whole file: of each other file, what is most like it.
    """
    if not file.parsed.chunks:
        return []
    chunks = range(len(file.parsed.chunks)) if line < 1 else (find_chunk_at(file, line),)
    own = {chunk_id(file.id, ordinal) for ordinal in chunks}
    hits = snapshot.lexical(
        _choose_terms(snapshot, file, chunks), FIELD_WEIGHTS, filter, MAX_SIMILAR + len(own)
    )
    others = [hit for hit in hits if hit.chunk not in own]
    if line > 0:
        return others
    return list({hit.chunk >> CHUNK_BITS: hit for hit in reversed(others)}.values())[::-1]


def _choose_terms(snapshot: Snapshot, file: StoredFile, chunks: Iterable[int]) -> tuple[Term, ...]:
    content = snapshot.content(file.id)
    found: Counter[str] = Counter()
    for ordinal in chunks:
        chunk = file.parsed.chunks[ordinal]
        found.update(tokens.tokenize(content[chunk.start : chunk.end]).split())
    words = [QueryWord(token, times) for token, times in found.items()]
    return choose_keywords(words, snapshot.document_frequency, snapshot.chunk_count(), MAX_TERMS).terms
