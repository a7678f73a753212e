"""Validation of user-defined languages in settings: check grammars and queries, with notes on what does not work."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from dowse.code.languages import check_tables, extend_builtin
from dowse.errors import SettingsError
from dowse.settings import ResolvedSettings


def report_broken_tables(resolved: ResolvedSettings) -> ResolvedSettings:
    """Return the settings with notes on the languages that do not work; of a tree's own, without these.

    Where a tree gets one wrong, the built-in definition is used instead: its files would not be found at all. Where the
    user does, they stay out of the index until it is put right, which every search says.
    """
    tables = resolved.settings.languages
    is_from_tree = resolved.is_from_tree("languages")
    if not is_from_tree:
        check_tables(tables)
    problems = {name: problem for name, table in tables.items() if (problem := _find_problem(name, table))}
    outcome = (
        "is not used, and the language is as built in, or plain text"
        if is_from_tree
        else "does not work, and its files stay out of the index"
    )
    origin = resolved.origins["languages"]
    notes = [f"languages.{name} in {origin} {outcome}: {problem}" for name, problem in problems.items()]
    resolved = replace(resolved, notes=(*resolved.notes, *notes))
    if not is_from_tree or not problems:
        return resolved
    sound = {name: table for name, table in tables.items() if name not in problems}
    return replace(resolved, settings=replace(resolved.settings, languages=sound))


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
