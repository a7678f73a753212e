"""Message lookup channel (``phrases``): string literals that a program filled in and printed.

Candidates come from the n-grams of literals in the inverted index (``code/string_literals.py``). The text of the best
is read: a literal counts by how many of its words the query has as they stand, and by how much of the literal that is.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import NamedTuple

from dowse.code import tokens
from dowse.code.string_literals import Literal, MessageWords, find_literals, read_message
from dowse.search.channels.request import ChannelRequest
from dowse.search.channels.resource_keys import find_keys, is_resource
from dowse.search.query.analyze import IDLE_WORDS
from dowse.types.queries import Term
from dowse.types.source import Chunk, Role
from dowse.types.stored import Scored, best_first, split_chunk_id

MAX_WORDS = 80
"""Words of a query that are looked up: a message has fewer, and of a long text the first say most."""

READ_CHUNKS = 24
"""Chunks whose text is read, best first: each takes time."""

MAX_KEYS = 3
"""Ways to name a message that are looked up: with fewer and fewer of the keys around its own."""

FAR_BEHIND = 0.25
"""A chunk whose n-grams are worth less than this share of the best is not read."""

STOP_WORD_SHARE = 0.5
"""What a stop word counts in a literal, beside another word."""

MIN_MATCHED = 2.0
"""Words that a literal must share with the query."""

CERTAIN_MATCHED = 4.0
"""Words in a row of which a message is certain, where they are all of the literal."""

LONG_MATCHED = 8.0
"""Words that make it as certain, however much else a literal has (a help text), and the query (a log, an issue)."""


MIN_SCORE = 0.2
"""What is less sure is chance: prose and literals have short phrases in common."""

MAX_VALUE_WORDS = 6
"""Words between two that a literal has that a placeholder may have been filled with: a path, a name in quotes."""


TEST_SHARE = 0.7
"""What a message counts in a test, which says what the program is to print and does not print it."""

KEY_SHARE = 0.3
"""What it counts that code names the key of a message in a resource file."""

KEY_CHUNKS = 24
"""Chunks that are read for a key, best first."""


class PhraseMatch(NamedTuple):
    """The literal of a text that is most like a message: how sure it is (0 to 1), and where it begins."""

    score: float
    start: int


def find(request: ChannelRequest) -> list[Scored] | None:
    """Find the chunks with literals that may have given the query's text, or a part of it; 1 is the full score."""
    query, snapshot = request.query, request.snapshot
    message = read_message(f"{query.message}\n{query.text}", MAX_WORDS, IDLE_WORDS)
    if len(message.words) < 2:
        return None
    terms = [Term(gram, 1.0) for gram in message.grams]
    hits = snapshot.lexical(terms, {"literal": 1.0}, query.filter, READ_CHUNKS)
    least = hits[0].score * FAR_BEHIND if hits else 0.0
    read = [hit.chunk for hit in hits if hit.score >= least]
    snapshot.prefetch([split_chunk_id(chunk)[0] for chunk in read])
    scores: dict[int, float] = {}
    keys: dict[str, float] = {}
    for id in read:
        file_id, ordinal = split_chunk_id(id)
        if (file := snapshot.file(file_id)) is None:
            continue
        text = cut_chunk(snapshot.content(file_id), file.parsed.chunks[ordinal])
        if match := find_best_match(message, find_literals(text, file.parsed.language)):
            scores[id] = match.score * (TEST_SHARE if file.role is Role.TEST else 1.0)
            if is_resource(file):
                start = file.parsed.chunks[ordinal].start + len(text[: match.start].encode())
                for key in find_keys(snapshot.content(file_id), start)[:MAX_KEYS]:
                    keys[key] = max(match.score, keys.get(key, 0.0))
    best = max(scores.values(), default=0.0)
    for key, score in keys.items():
        if score >= best:
            for id in find_uses(request, key):
                scores[id] = max(score * KEY_SHARE, scores.get(id, 0.0))
    return best_first(scores.keys(), scores.values())


def find_uses(request: ChannelRequest, key: str) -> list[int]:
    """Find the chunks of code that have the key of a message as it is written."""
    snapshot = request.snapshot
    terms = [Term(token, 1.0) for token in dict.fromkeys(tokens.tokenize(key).split())]
    whole = re.compile(rf"(?<![\w-]){re.escape(key)}(?![\w-])".encode())
    found: list[int] = []
    for hit in snapshot.lexical(terms, {"body": 1.0}, request.query.filter, KEY_CHUNKS):
        file_id, ordinal = split_chunk_id(hit.chunk)
        file = snapshot.file(file_id)
        if file is None or is_resource(file) or file.role is Role.TEST:
            continue
        chunk = file.parsed.chunks[ordinal]
        if whole.search(snapshot.content(file_id), chunk.start, chunk.end):
            found.append(hit.chunk)
    return found


def cut_chunk(content: bytes, chunk: Chunk) -> str:
    """Cut the text of a chunk out of its file."""
    return content[chunk.start : chunk.end].decode("utf-8", "replace")


def find_best_match(message: MessageWords, literals: Iterable[Literal]) -> PhraseMatch | None:
    """Find the literal that is most like a message."""
    best = None
    for literal in literals:
        score = score_literal(message, literal)
        if score and (best is None or score > best.score):
            best = PhraseMatch(score, literal.start)
    return best


def score_literal(message: MessageWords, literal: Literal) -> float:
    """Score a literal by the words that it shares with a message in their order; 0 if these say nothing."""
    in_message: set[int] = set()
    in_literal: set[int] = set()
    for gram, places in literal.list_grams():
        if (found := message.grams.get(gram)) is not None:
            in_literal.update(places)
            in_message.update(found)
    if not in_literal:
        return 0.0
    words = literal.words
    matched = _count([words[i] for i in in_literal])
    if matched < MIN_MATCHED:
        return 0.0
    long = min(1.0, matched / LONG_MATCHED)
    whole = max(long, matched / _count(words))
    explained = _fill_gaps(in_message)
    asked = max(long, _count([message.words[i] for i in explained]) / _count(message.words))
    sure = min(1.0, (matched - 1.0) / (CERTAIN_MATCHED - 1.0))
    score = sure * whole * asked
    return score if score >= MIN_SCORE else 0.0


def _fill_gaps(places: Iterable[int]) -> list[int]:
    """Add to the places of words those between them that a placeholder was filled with."""
    ordered = sorted(places)
    filled = ordered[:1]
    for before, place in pairwise(ordered):
        filled += range(before + 1, place + 1) if place - before <= MAX_VALUE_WORDS + 1 else [place]
    return filled


def _count(words: Sequence[str]) -> float:
    """Count words, stop words less."""
    return sum([STOP_WORD_SHARE if word in IDLE_WORDS else 1.0 for word in words])
