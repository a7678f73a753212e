"""Resolve the options of a search: what the caller left open (None) is as the settings say."""

from __future__ import annotations

from dataclasses import fields
from typing import Any

from dowse.settings import Settings
from dowse.types.answers import ResolvedOptions, SearchOptions

SETTINGS_OF_A_SEARCH = ("limit", "min_relevance", "show_low_confidence")
"""Options that are settings too."""


def resolve_options(given: SearchOptions | None, settings: Settings) -> ResolvedOptions:
    """Complete the options of a search from the settings."""
    given = given or SearchOptions()
    values: dict[str, Any] = {field.name: getattr(given, field.name) for field in fields(given)}
    for name in SETTINGS_OF_A_SEARCH:
        if values[name] is None:
            values[name] = getattr(settings, name)
    return ResolvedOptions(**values)
