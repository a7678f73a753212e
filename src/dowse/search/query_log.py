"""A list of the questions that were asked, on this machine only, for users who switched it on (``search_log``).

It is what ``dowse terms suggest`` learns reformulations from. It holds questions and how many hits they had, no code.
"""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from dowse.types import SearchResponse

MAX_BYTES = 1_000_000
"""When the list is longer, its older half goes."""

MAX_QUERY = 500
"""Characters of a question that are kept."""


class Asked(NamedTuple):
    """A question, when it was asked (seconds), how many hits it had, and how relevant the best was."""

    time: float
    query: str
    hits: int
    best: float


def append(path: Path, query: str, response: SearchResponse) -> None:
    """Add a question. A list that cannot be written is no reason to fail a search."""
    best = response.results[0].relevance if response.results else 0.0
    entry = Asked(round(time.time(), 1), query[:MAX_QUERY], len(response.results), round(best, 3))
    with suppress(OSError):
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        if path.exists() and path.stat().st_size > MAX_BYTES:
            lines = path.read_bytes().splitlines(keepends=True)
            path.write_bytes(b"".join(lines[len(lines) // 2 :]))
        with path.open("a", encoding="utf-8") as file:
            file.write(json.dumps(entry._asdict(), ensure_ascii=False) + "\n")


def read(path: Path) -> Iterator[Asked]:
    """The questions in their order; lines that are damaged are left out."""
    try:
        lines = path.read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return
    for line in lines:
        with suppress(ValueError, TypeError, RecursionError):
            asked = Asked(**json.loads(line))
            numbers = (asked.time, asked.hits, asked.best)
            if isinstance(asked.query, str) and all(type(number) in (int, float) for number in numbers):
                yield asked
