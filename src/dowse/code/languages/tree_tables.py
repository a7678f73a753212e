"""Validation of user-defined languages in settings: check grammars and queries, drop broken tables of a tree with a
note.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from dowse.code.languages import check_tables, extend_builtin
from dowse.errors import SettingsError
from dowse.settings import ResolvedSettings


def drop_broken_tables(resolved: ResolvedSettings) -> ResolvedSettings:
    """Return the settings without what a tree gets wrong about languages, and notes on it; an error if a user does.

    The files of such a language would not be found at all: the built-in definition is used instead.
    """
    tables = resolved.settings.languages
    if not resolved.is_from_tree("languages"):
        check_tables(tables)
        return resolved
    problems = {name: problem for name, table in tables.items() if (problem := _find_problem(name, table))}
    sound = {name: table for name, table in tables.items() if name not in problems}
    origin = resolved.origins["languages"]
    notes = [
        f"languages.{name} in {origin} is not used, and the language is as built in, or plain text: {problem}"
        for name, problem in problems.items()
    ]
    settings = replace(resolved.settings, languages=sound)
    return replace(resolved, settings=settings, notes=(*resolved.notes, *notes))


def _find_problem(name: str, table: Any) -> SettingsError | None:
    """Return what is wrong with the table of a language; queries are compiled only if it has some."""
    try:
        check_tables({name: table})
        if not table.keys() & {"grammar", "definitions", "references"}:
            return None
        from dowse.code import parsing

        return parsing.find_problem(extend_builtin({name: table}).by_name[name])
    except SettingsError as error:
        return error
