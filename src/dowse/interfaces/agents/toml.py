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
    _checked(text)
    block = f"[{'.'.join(keys)}]\n" + "".join(f"{key} = {_written(v)}\n" for key, v in value.items())
    if found := _table(text, keys):
        return text[: found.start()] + block + text[found.end() :]
    gap = "" if not text.strip() else "\n" if text.endswith("\n") else "\n\n"
    return text + gap + block


def without_entry(text: str, keys: Sequence[str]) -> str:
    """The text without the table."""
    found = _table(text, keys)
    if found is None:
        return text
    before, after = text[: found.start()], text[found.end() :]
    return before.removesuffix("\n") + after if before.endswith("\n\n") and not after else before + after


def entry(text: str, keys: Sequence[str]) -> Any:
    """The table of this name, or None."""
    found: Any = _checked(text)
    for key in keys:
        found = found.get(key) if isinstance(found, dict) else None
    return found


def _table(text: str, keys: Sequence[str]) -> re.Match[str] | None:
    """The table with what is below it, up to the next one that is not."""
    name = r"\.".join(map(re.escape, keys))
    header = rf"^\[{name}\][^\n]*\n"
    return re.search(rf"{header}(?:(?!^\[(?!{name}\.)).*\n?)*", text, re.MULTILINE)


def _checked(text: str) -> dict[str, Any]:
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise UsageError(f"the file is not valid TOML: {error}; repair it first") from error


def _written(value: Any) -> str:
    """A string, a list of strings or a switch: JSON writes them as TOML does."""
    return json.dumps(value, ensure_ascii=False)
