"""Query log: a local file of past queries with their number of hits, for users who switched it on (``search_log``).

``dowse terms suggest`` learns reformulations from it. It holds no code, and nothing is sent anywhere.
"""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from dowse.types.answers import SearchResponse

MAX_BYTES = 1_000_000
"""Size of the log; when it is larger, its older half is removed."""

MAX_QUERY_CHARS = 500
"""Characters of a query that are kept."""


class LoggedQuery(NamedTuple):
    """A query, its time (seconds), how many hits it had, and the relevance of the best one."""

    time: float
    query: str
    hits: int
    best: float


def log_query(path: Path, query: str, response: SearchResponse) -> None:
    """Append a query to the log. A log that cannot be written is no reason to fail a search."""
    best = response.results[0].relevance if response.results else 0.0
    entry = LoggedQuery(round(time.time(), 1), query[:MAX_QUERY_CHARS], len(response.results), round(best, 3))
    with suppress(OSError):
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        if path.exists() and path.stat().st_size > MAX_BYTES:
            lines = path.read_bytes().splitlines(keepends=True)
            path.write_bytes(b"".join(lines[len(lines) // 2 :]))
        with path.open("a", encoding="utf-8") as file:
            file.write(json.dumps(entry._asdict(), ensure_ascii=False) + "\n")


def read_log(path: Path) -> Iterator[LoggedQuery]:
    """Read the queries in their order; corrupt lines are skipped."""
    try:
        lines = path.read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return
    for line in lines:
        with suppress(ValueError, TypeError, RecursionError):
            logged = LoggedQuery(**json.loads(line))
            numbers = (logged.time, logged.hits, logged.best)
            if isinstance(logged.query, str) and all(type(number) in (int, float) for number in numbers):
                yield logged
