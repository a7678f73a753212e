"""The values behind a field of a query (``path:src/*.{ts,tsx}``): split at commas, unquoted, with braces expanded."""

from __future__ import annotations

import re
from datetime import datetime, timedelta

from dowse.lazy_regex import compile_lazily
from dowse.search.query import quoting

MAX_ALTERNATIVES = 64
"""Patterns that the braces of one value may expand to."""

QUOTED = compile_lazily(r'"((?>(?:[^"\\]|\\.)*))"', re.DOTALL)
_DURATION = compile_lazily(r"(\d{1,4})([hdw])")  # at the most two centuries, which every clock can go back
_DATE = compile_lazily(r"\d{4}-\d{2}-\d{2}")
HOURS = {"h": 1, "d": 24, "w": 7 * 24}


def parse_moment(value: str) -> timedelta | datetime | None:
    """Parse a time back from now (``14d``) or a day; None if it is neither."""
    if match := _DURATION.fullmatch(value):
        return timedelta(hours=int(match.group(1)) * HOURS[match.group(2)]) or None
    try:
        return datetime.fromisoformat(value) if _DATE.fullmatch(value) else None
    except ValueError:  # 2025-02-30
        return None


def split_values(query: str, at: int, *, braces: bool) -> tuple[list[str], int | None]:
    """Split the values that begin here, and return where they end; no end if a quote is never closed."""
    values: list[str] = []
    value, was_quoted, depth = "", False, 0
    while at < len(query) and not query[at].isspace():
        c = query[at]
        if c == '"':
            match = QUOTED.match(query, at)
            if not match:
                return [], None
            value, was_quoted, at = value + quoting.unescape_phrase(match.group(1)), True, match.end()
            continue
        if c == "," and not depth:
            values += _expand_braces(value) if braces and not was_quoted else [value]
            value, was_quoted = "", False
        else:
            depth = _update_depth(depth, c) if braces and "}" in query[at:] else 0
            value += c
        at += 1
    values += _expand_braces(value) if braces and not was_quoted else [value]
    return [value for value in values if value], at


def _update_depth(depth: int, c: str) -> int:
    return depth + 1 if c == "{" else max(0, depth - 1) if c == "}" else depth


def _expand_braces(pattern: str) -> list[str]:
    """Expand ``*.{ts,tsx}`` to ``*.ts`` and ``*.tsx``; stop where there are more than anybody would write."""
    done: list[str] = []
    waiting = [pattern]
    while waiting and len(done) <= MAX_ALTERNATIVES:
        current = waiting.pop(0)
        match = re.search(r"\{([^{}]*,[^{}]*)\}", current)
        if match:
            inner = match.group(1).split(",")
            waiting = [current[: match.start()] + one + current[match.end() :] for one in inner] + waiting
        else:
            done.append(current)
    return done
