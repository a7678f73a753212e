"""Translate the filters of a parsed query (``lang:``, ``path:``, ``kind:``, ``changed:``) to a ``Filter``."""

from __future__ import annotations

from datetime import datetime, timedelta
from difflib import get_close_matches

from dowse.code.languages import Languages
from dowse.errors import UsageError
from dowse.types.queries import ParsedQuery
from dowse.types.source import Kind
from dowse.types.stored import Filter


def merge_filters(filter: Filter, parsed: ParsedQuery, languages: Languages) -> Filter:
    """Add to a filter what a query asks for; several values of one field are alternatives."""

    def name(aliases: tuple[str, ...]) -> frozenset[str]:
        """Return the languages of some names, and the formats that are written in them."""
        found = (languages.list_formats(languages.find(alias).name) for alias in aliases)
        return frozenset(name for names in found for name in names)

    return Filter(
        languages=filter.languages | name(parsed.languages),
        not_languages=filter.not_languages | name(parsed.not_languages),
        paths=(*filter.paths, *parsed.paths),
        not_paths=(*filter.not_paths, *parsed.not_paths),
        roles=filter.roles | frozenset(parsed.roles),
        not_roles=filter.not_roles | frozenset(parsed.not_roles),
        changed_since_ns=filter.changed_since_ns if parsed.changed is None else _to_ns(parsed.changed),
        kinds=filter.kinds | frozenset(map(_parse_kind, parsed.kinds)),
        not_kinds=filter.not_kinds | frozenset(map(_parse_kind, parsed.not_kinds)),
        names=(*filter.names, *parsed.names),
    )


def _to_ns(changed: timedelta | datetime) -> int:
    """Return a time back from now, or a moment, in nanoseconds as the file system has it."""
    moment = datetime.now() - changed if isinstance(changed, timedelta) else changed
    return int(moment.timestamp() * 1e9)


def _parse_kind(name: str) -> Kind:
    try:
        return Kind(name.lower())
    except ValueError:
        close = get_close_matches(name.lower(), list(Kind), n=1)
        hint = f"did you mean '{close[0]}'? " if close else ""
        raise UsageError(f"unknown kind '{name}': {hint}known are {', '.join(Kind)}") from None
