"""Query formatting: a parsed query as text in the query language, which parses to the same."""

from __future__ import annotations

from datetime import datetime, timedelta

from dowse.lazy_regex import compile_lazily
from dowse.search.query import quoting
from dowse.search.query.field_values import HOURS
from dowse.search.query.parse import is_pasted, starts_with_syntax
from dowse.types.queries import ParsedQuery

_BARE_VALUE = compile_lazily(r'(?![:=]|//)[^\s",{}]+')


def format_query(query: ParsedQuery) -> str:
    """Format a parsed query so that it parses to the same, as long as it is no longer than a query may be."""
    if is_pasted(query.text):
        return query.text
    fields = (
        ("lang", query.languages),
        ("-lang", query.not_languages),
        ("path", query.paths),
        ("-path", query.not_paths),
        ("kind", query.kinds),
        ("-kind", query.not_kinds),
        ("name", query.names),
        ("is", query.roles),
        ("-is", query.not_roles),
        ("changed", () if query.changed is None else (_format_changed(query.changed),)),
        ("repo", query.repositories),
        ("branch", query.branches),
    )
    parts = [f"{field}:{','.join(map(_format_value, values))}" for field, values in fields if values]
    parts += [quoting.quote_phrase(phrase) for phrase in query.phrases]
    parts += [f"/{quoting.escape_slashes(r.pattern)}/{'i' if r.ignore_case else ''}" for r in query.regexes]
    parts += [f"-{quoting.quote_phrase(unwanted)}" for unwanted in query.unwanted]
    return " ".join([*parts, _escape_words(query.text)]).strip()


def _format_value(value: str) -> str:
    return value if _BARE_VALUE.fullmatch(value) else quoting.quote_phrase(value)


def _format_changed(changed: timedelta | datetime) -> str:
    if isinstance(changed, datetime):
        return changed.date().isoformat()
    hours = round(changed / timedelta(hours=1))
    unit = next(
        unit for unit in ("d", "h", "w") if hours % HOURS[unit] == 0 and hours // HOURS[unit] < 10_000
    )
    return f"{hours // HOURS[unit]}{unit}"


def _escape_words(text: str) -> str:
    """Put a backslash before each word of a text that would be read as syntax."""
    rendered = ""
    for word in reversed(text.split()):
        rest = f"{word} {rendered}".rstrip()
        rendered = "\\" + rest if starts_with_syntax(rest) else rest
    return rendered
