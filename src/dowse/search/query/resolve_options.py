"""Search options: settings for what the caller left open, and filters in the query (``lang:py``) as a ``Filter``."""

from __future__ import annotations

from datetime import datetime, timedelta
from difflib import get_close_matches
from typing import TYPE_CHECKING, Any

from dowse.errors import UsageError
from dowse.settings import Settings
from dowse.types.answers import ResolvedOptions, SearchOptions
from dowse.types.queries import ParsedQuery
from dowse.types.source import Kind
from dowse.types.stored import Filter

if TYPE_CHECKING:
    from dowse.code.languages import Languages

SETTINGS_OF_A_SEARCH = ("limit", "min_relevance", "show_low_confidence")
"""Options that are settings too."""


def resolve_options(given: SearchOptions | None, settings: Settings) -> ResolvedOptions:
    """Complete the options of a search from the settings."""
    given = given or SearchOptions()
    values: dict[str, Any] = {name: getattr(given, name) for name in SearchOptions.__match_args__}
    for name in SETTINGS_OF_A_SEARCH:
        if values[name] is None:
            values[name] = getattr(settings, name)
    return ResolvedOptions(**values)


def merge_filters(filter: Filter, parsed: ParsedQuery, languages: Languages) -> Filter:
    """Add to a filter what a query asks for; several values are alternatives, and a language includes its formats."""
    wanted, unwanted = (
        frozenset(name for alias in aliases for name in languages.list_formats(languages.find(alias).name))
        for aliases in (parsed.languages, parsed.not_languages)
    )
    changed = parsed.changed
    moment = datetime.now() - changed if isinstance(changed, timedelta) else changed
    return Filter(
        languages=filter.languages | wanted,
        not_languages=filter.not_languages | unwanted,
        paths=(*filter.paths, *parsed.paths),
        not_paths=(*filter.not_paths, *parsed.not_paths),
        roles=filter.roles | frozenset(parsed.roles),
        not_roles=filter.not_roles | frozenset(parsed.not_roles),
        changed_since_ns=filter.changed_since_ns if moment is None else int(moment.timestamp() * 1e9),
        kinds=filter.kinds | frozenset(map(_parse_kind, parsed.kinds)),
        not_kinds=filter.not_kinds | frozenset(map(_parse_kind, parsed.not_kinds)),
        names=(*filter.names, *parsed.names),
    )


def _parse_kind(name: str) -> Kind:
    try:
        return Kind(name.lower())
    except ValueError:
        close = get_close_matches(name.lower(), list(Kind), n=1)
        hint = f"did you mean '{close[0]}'? " if close else ""
        raise UsageError(f"unknown kind '{name}': {hint}known are {', '.join(Kind)}") from None
