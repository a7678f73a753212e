"""Exact phrases and regular expressions: every file that passes the filter is searched, as ripgrep would.

What a question gives in quotes or between slashes, a hit must have: this channel decides which chunks may be in the
answer at all, and counts how often.
"""

from __future__ import annotations

import math
import re
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Sequence

from dowse.columns import column
from dowse.stores.base import Snapshot
from dowse.types import Filter, ParsedQuery, QueryRegex, Scored, best_first, chunk_id

MAX_MATCHES = 1000
"""Matches of one pattern in one file that are counted."""

MATCHES = 8
"""As many matches in a chunk as count as a full score."""


def asks_for_exact(query: ParsedQuery) -> bool:
    """Whether a question has phrases or patterns."""
    return bool(query.phrases or query.regexes)


def find(snapshot: Snapshot, query: ParsedQuery, filter: Filter, limit: int) -> list[Scored]:
    """Chunks of files that have every phrase and pattern, by how many of them and how often; 1 is the full score."""
    asked = [pattern for _, pattern in patterns(query)]
    scores: dict[int, float] = {}
    for id, content in snapshot.contents(filter):
        matches = [[m.start() for m in _some(pattern, content)] for pattern in asked]
        if not all(matches):
            continue
        file = snapshot.file(id)
        if file is None:
            continue
        starts = column(file.parsed.chunks, "start")
        for ordinal, score in _by_chunk(starts, matches).items():
            if snapshot.chunk_passes(chunk_id(id, ordinal), filter):
                scores[chunk_id(id, ordinal)] = score
    return best_first(scores.keys(), scores.values())[:limit]


def patterns(query: ParsedQuery) -> list[tuple[str, re.Pattern[bytes]]]:
    """Every phrase and pattern of a question, as it is written and ready to be searched for."""
    return [
        *((f'"{phrase}"', _phrase(phrase)) for phrase in query.phrases),
        *((f"/{regex.pattern}/{'i' if regex.ignore_case else ''}", _regex(regex)) for regex in query.regexes),
    ]


def _by_chunk(starts: Sequence[int], matches: Sequence[Sequence[int]]) -> dict[int, float]:
    """Score of each chunk: the share of the patterns it has, weighted by their number in it."""
    counts: dict[int, list[int]] = defaultdict(lambda: [0] * len(matches))
    for pattern, positions in enumerate(matches):
        for position in positions:
            counts[max(0, bisect_right(starts, position) - 1)][pattern] += 1
    full = math.log2(1 + MATCHES)
    return {
        ordinal: sum(min(1.0, math.log2(1 + n) / full) * 0.5 + 0.5 for n in each if n) / len(matches)
        for ordinal, each in counts.items()
    }


def _some(pattern: re.Pattern[bytes], content: bytes) -> list[re.Match[bytes]]:
    return [match for match, _ in zip(pattern.finditer(content), range(MAX_MATCHES), strict=False)]


def _phrase(text: str) -> re.Pattern[bytes]:
    """A phrase as it stands; any white space between its words, letter case ignored unless it has capitals."""
    words = [re.escape(word.encode()) for word in text.split()]
    return re.compile(rb"\s+".join(words), re.IGNORECASE if text == text.lower() else 0)


def _regex(regex: QueryRegex) -> re.Pattern[bytes]:
    return re.compile(regex.pattern.encode(), re.MULTILINE | (re.IGNORECASE if regex.ignore_case else 0))
