"""Alternatives in a query: phrases and patterns with OR between them become one pattern that matches any of them."""

from __future__ import annotations

from dowse.search.query import quoting
from dowse.types.queries import QueryRegex


def join_alternatives(one: str | QueryRegex, other: str | QueryRegex) -> QueryRegex:
    """Join phrases or patterns into one pattern, each with its own letter case."""
    return QueryRegex(f"{_make_pattern(one)}|{_make_pattern(other)}")


def _make_pattern(part: str | QueryRegex) -> str:
    """Make a pattern of a phrase: blanks may differ, and letter case counts only if it has capitals."""
    if isinstance(part, QueryRegex):
        return f"(?i:{part.pattern})" if part.ignore_case else f"(?:{part.pattern})"
    pattern = quoting.make_pattern(part)
    return f"(?:{pattern})" if part != part.lower() else f"(?i:{pattern})"
