"""TOML editor: set or remove one table of a TOML file with tomlkit, preserving comments and formatting.

Every edit is verified: only the entry may differ in the result, and what was inserted can be removed again without a
trace. A file in which that does not hold is refused, not edited.
"""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Sequence
from typing import Any

from dowse.errors import UsageError


def get_entry(text: str, keys: Sequence[str]) -> Any:
    """Return the table under these keys, or None."""
    return _lookup(_parse_values(text), keys)


def set_entry(text: str, keys: Sequence[str], value: dict[str, Any]) -> str:
    """Return the text with a table under these keys, in place of the old one or at the end."""
    values = _parse_values(text)
    old = _lookup(values, keys)
    if old == value:
        return text
    if old is None:
        added = ("\n" if text else "") + _render_table(keys, value)
        edited = text + (added.replace("\n", "\r\n") if "\r\n" in text else added)
    else:
        edited = _replace_table(text, keys, value)
    _verify(edited, values, keys, value)
    if old is None and remove_entry(edited, keys) != text:
        raise _cannot_edit(keys)
    return edited


def remove_entry(text: str, keys: Sequence[str]) -> str:
    """Return the text without the table under these keys; at the end of a file, also without the line break before."""
    values = _parse_values(text)
    if _lookup(values, keys) is None:
        return text
    edited = _delete_table(text, keys)
    if text.startswith(edited):
        line_break = "\r\n" if edited.endswith("\r\n") else "\n"
        edited = edited.removesuffix(line_break)
    _verify(edited, values, keys, None)
    return edited


def _parse_values(text: str) -> dict[str, Any]:
    """Parse a file into plain values, its floats as texts: these equal themselves even if they are ``nan``."""
    try:
        return tomllib.loads(text, parse_float=str)
    except RecursionError as error:
        raise UsageError("the file is not valid TOML: it is nested too deeply; repair it first") from error
    except ValueError as error:
        raise UsageError(f"the file is not valid TOML: {error}; repair it first") from error


def _lookup(values: Any, keys: Sequence[str]) -> Any:
    for key in keys:
        values = values.get(key) if isinstance(values, dict) else None
    return values


# --- edits by tomlkit ---


def _render_table(keys: Sequence[str], value: dict[str, Any]) -> str:
    import tomlkit

    table: Any = value
    for key in reversed(keys):
        table = tomlkit.table(is_super_table=True).append(key, table)
    return tomlkit.dumps(table)


def _replace_table(text: str, keys: Sequence[str], value: dict[str, Any]) -> str:
    """Give the table other values; comments in it stay."""

    def replace(holder: Any) -> None:
        table = holder[keys[-1]]
        for key in [key for key in table if key not in value]:
            del table[key]
        for key, new in value.items():
            if table.get(key) != new:
                table[key] = new

    return _edit(text, keys, replace)


def _delete_table(text: str, keys: Sequence[str]) -> str:
    def delete(holder: Any) -> None:
        del holder[keys[-1]]

    return _edit(text, keys, delete)


def _edit(text: str, keys: Sequence[str], change: Callable[[Any], None]) -> str:
    """Change what holds the last of the keys; ``UsageError`` for whatever tomlkit cannot parse or change."""
    import tomlkit
    from tomlkit.exceptions import TOMLKitError

    try:
        document = tomlkit.parse(text)
        holder: Any = document
        for key in keys[:-1]:
            holder = holder[key]
        change(holder)
        return tomlkit.dumps(document)
    except (TOMLKitError, LookupError, TypeError, ValueError, AttributeError, RecursionError) as error:
        raise _cannot_edit(keys) from error


def _verify(edited: str, before: dict[str, Any], keys: Sequence[str], value: dict[str, Any] | None) -> None:
    """Refuse an edit after which anything but the entry differs."""
    try:
        after = _parse_values(edited)
    except UsageError as error:
        raise _cannot_edit(keys) from error
    if _drop_entry(after, keys) != _drop_entry(before, keys) or _lookup(after, keys) != value:
        raise _cannot_edit(keys)


def _drop_entry(values: Any, keys: Sequence[str]) -> Any:
    """Return the values without what lies under some keys, and without tables that are empty then."""
    if not keys or not isinstance(values, dict) or keys[0] not in values:
        return values
    inner = _drop_entry(values[keys[0]], keys[1:]) if len(keys) > 1 else None
    rest = {key: value for key, value in values.items() if key != keys[0]}
    return rest | {keys[0]: inner} if inner or not isinstance(inner, dict | None) else rest


def _cannot_edit(keys: Sequence[str]) -> UsageError:
    return UsageError(f"the file has {'.'.join(keys)} in a form that is not edited here: edit it by hand")
