"""Changes one table of a TOML file and leaves every other character alone."""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Sequence
from typing import Any

from dowse.errors import UsageError


def with_entry(text: str, keys: Sequence[str], value: dict[str, Any]) -> str:
    """The text with a table of this name, in place of the one there was or at the end."""
    before = _checked(text)
    block = f"[{'.'.join(keys)}]\n" + "".join(f"{key} = {_written(v)}\n" for key, v in value.items())
    if found := _table(text, keys):
        written = text[: found.start()] + block + text[found.end() :]
    else:
        written = text + ("\n" if text.strip() else "") + block
    return _verify(written, before, keys, value)


def without_entry(text: str, keys: Sequence[str]) -> str:
    """The text without the table."""
    values = _checked(text)
    found = _table(text, keys)
    if found is None:
        return _verify(text, values, keys, None)
    before, after = text[: found.start()], text[found.end() :]
    left = before.removesuffix("\n") if before.strip() and not after else before + after
    return _verify(left, values, keys, None)


def _verify(written: str, before: dict[str, Any], keys: Sequence[str], value: dict[str, Any] | None) -> str:
    """Return an edited text if only the entry differs in it; what looks like the table may be part of a string."""
    try:
        after = _parse(written)
    except ValueError:
        after = {"": ""}
    if _without(after, keys) != _without(before, keys) or entry(written, keys) != value:
        raise UsageError(f"the file has {'.'.join(keys)} in a form that is not edited here: edit it by hand")
    return written


def _without(values: Any, keys: Sequence[str]) -> Any:
    """Leave out what lies under some keys, and tables that are empty without it."""
    if not keys or not isinstance(values, dict) or keys[0] not in values:
        return values
    inner = _without(values[keys[0]], keys[1:]) if len(keys) > 1 else None
    rest = {key: value for key, value in values.items() if key != keys[0]}
    return rest | {keys[0]: inner} if inner or not isinstance(inner, dict | None) else rest


def entry(text: str, keys: Sequence[str]) -> Any:
    """The table of this name, or None."""
    found: Any = _checked(text)
    for key in keys:
        found = found.get(key) if isinstance(found, dict) else None
    return found


def _table(text: str, keys: Sequence[str]) -> re.Match[str] | None:
    """The table with what is below it, up to the next one that is not."""
    name = r"\.".join(map(re.escape, keys))
    header = rf"^\[{name}\][^\n]*(?:\n|\Z)"
    return re.search(rf"{header}(?:(?!^\[(?!{name}\.)).*\n?)*", text, re.MULTILINE)


def _checked(text: str) -> dict[str, Any]:
    try:
        return _parse(text)
    except ValueError as error:
        raise UsageError(f"the file is not valid TOML: {error}; repair it first") from error


def _parse(text: str) -> dict[str, Any]:
    """Parse a file with its floats as texts, which equal themselves; ``ValueError`` if that is not possible."""
    try:
        return tomllib.loads(text, parse_float=str)
    except RecursionError as error:
        raise ValueError("it is nested too deeply") from error


def _written(value: Any) -> str:
    """A string, a list of strings or a switch: JSON writes them as TOML does."""
    return json.dumps(value, ensure_ascii=False)
