"""Exact phrase and regular expression search: a grep over every file that passes the filter.

What a query gives in quotes or between slashes, a hit must have: this channel decides which chunks may be in the answer
at all, and counts matches.
"""

from __future__ import annotations

import math
import re
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from itertools import islice

from dowse.errors import DowseError, PatternTooSlow
from dowse.lazy_rows import read_column
from dowse.search.channels import regex_worker
from dowse.search.channels.regex_worker import PatternTimeout, WorkerFailed
from dowse.search.channels.request import ChannelRequest
from dowse.types.queries import Query, QueryRegex
from dowse.types.stored import Scored, best_first, chunk_id

MAX_MATCHES = 1000
"""Matches of one pattern in one file that are counted."""

FULL_SCORE_MATCHES = 8
"""Matches in a chunk that make a full score."""

MAX_CHUNKS = 1000
"""Chunks with an exact phrase or pattern: all of them, within reason."""

Text = tuple[int, bytes]
"""The content of a file, and its id."""


def find(request: ChannelRequest) -> list[Scored]:
    """Find chunks of files that match every phrase and regex, by how many of them and how often; 1 at most."""
    snapshot, query, filter = request.snapshot, request.query, request.query.filter
    scores: dict[int, float] = {}
    with _report_slow_patterns(query.regexes, lambda at: file.path if (file := snapshot.file(at)) else ""):
        for id, matches in _search_contents(query, snapshot.contents(filter)):
            file = snapshot.file(id)
            if file is None:
                continue
            starts = read_column(file.parsed.chunks, "start")
            for ordinal, score in _score_chunks(starts, matches).items():
                if snapshot.chunk_passes(chunk_id(id, ordinal), filter):
                    scores[chunk_id(id, ordinal)] = score
    return best_first(scores.keys(), scores.values())[:MAX_CHUNKS]


def find_missing(query: Query, path: str, content: bytes) -> list[str]:
    """List the phrases and patterns of a query that a file does not have, as they are written."""
    lacks = [f'"{phrase}"' for phrase in query.phrases if not _compile_phrase(phrase).search(content)]
    for regex in query.regexes:
        with _report_slow_patterns([regex], lambda _: path):
            if not any(_search_patterns([regex], [(0, content)])):
                lacks.append(_format_regex(regex))
    return lacks


def _search_contents(query: Query, contents: Iterable[Text]) -> Iterator[tuple[int, list[list[int]]]]:
    """Find the contents that have every phrase and pattern, and where the matches of each begin."""
    phrases = list(map(_compile_phrase, query.phrases))
    begun: dict[int, list[list[int]]] = {}

    def with_phrases() -> Iterator[Text]:
        for id, content in contents:
            beginnings = [[m.start() for m in islice(p.finditer(content), MAX_MATCHES)] for p in phrases]
            if all(beginnings):
                begun[id] = beginnings
                yield id, content

    if not query.regexes:
        yield from ((id, begun.pop(id)) for id, _ in with_phrases())
        return
    for id, matches in _search_patterns(query.regexes, with_phrases()):
        yield id, [*begun.pop(id), *matches]


def _search_patterns(
    regexes: Sequence[QueryRegex], contents: Iterable[Text]
) -> Iterator[tuple[int, list[list[int]]]]:
    return regex_worker.search([regex.compilable for regex in regexes], contents, MAX_MATCHES)


@contextmanager
def _report_slow_patterns(regexes: Sequence[QueryRegex], path_of: Callable[[int], str]) -> Iterator[None]:
    """Turn patterns that take too long into an error that says at which file."""
    if not regexes:
        yield
        return
    try:
        yield
    except PatternTimeout as stopped:
        raise PatternTooSlow(
            f"{' '.join(map(_format_regex, regexes))} takes too long: it was stopped at {path_of(stopped.id)} after "
            f"{stopped.seconds:.0f} s; avoid repetitions within repetitions, as in (a+)+, or search fewer files "
            "with path:"
        ) from stopped
    except WorkerFailed as failed:
        raise DowseError(f"{failed}; a phrase in quotes needs none") from failed


def _format_regex(regex: QueryRegex) -> str:
    return f"/{regex.pattern}/{'i' if regex.ignore_case else ''}"


def _score_chunks(starts: Sequence[int], matches: Sequence[Sequence[int]]) -> dict[int, float]:
    """Score each chunk: the share of the patterns it has, weighted by their number in it."""
    counts: dict[int, list[int]] = defaultdict(lambda: [0] * len(matches))
    for pattern, positions in enumerate(matches):
        for position in positions:
            counts[max(0, bisect_right(starts, position) - 1)][pattern] += 1
    full = math.log2(1 + FULL_SCORE_MATCHES)
    return {
        ordinal: sum(min(1.0, math.log2(1 + n) / full) * 0.5 + 0.5 for n in each if n) / len(matches)
        for ordinal, each in counts.items()
    }


def _compile_phrase(text: str) -> re.Pattern[bytes]:
    """Compile a phrase as it stands; any white space between its words, letter case ignored unless it has capitals."""
    words = [re.escape(word.encode("utf-8", "surrogatepass")) for word in text.split()]
    return re.compile(rb"\s+".join(words), re.IGNORECASE if text == text.lower() else 0)
