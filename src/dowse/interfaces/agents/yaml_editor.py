"""YAML editor: set or remove one entry of a top-level mapping, by lines, preserving every other character.

For files in block style, as programs write them; any other form is refused, not edited.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any

from dowse.errors import UsageError

_KEY = re.compile(
    r"^(?P<indent> *)(?P<quote>[\"']?)(?P<key>[^\s\"':#][^\"':]*)(?P=quote)\s*:(?=\s|$)(?P<rest>.*)$"
)
_STANDARD_INDENT = "  "


def get_entry(text: str, keys: Sequence[str]) -> Any:
    """Return the entry under these two keys, as far as it is written as this editor writes it; or None."""
    lines = text.splitlines(keepends=True)
    found = _find_entry(lines, *_split_keys(keys))
    if found is None:
        return None
    values = {}
    for line in lines[found[0] + 1 : found[1]]:
        match = _KEY.match(line.rstrip("\r\n"))
        if match:
            try:
                values[match["key"]] = json.loads(match["rest"])
            except ValueError:
                values[match["key"]] = match["rest"].strip()
    return values


def set_entry(text: str, keys: Sequence[str], value: Mapping[str, Any]) -> str:
    """Return the text with an entry under these two keys, in place of the old one or as the first."""
    holder, name = _split_keys(keys)
    lines = text.splitlines(keepends=True)
    line_break = "\r\n" if "\r\n" in text else "\n"
    at = _find_holder(lines, holder)
    if at is None:
        gap = "" if not text or text.endswith("\n") else line_break
        rows = [f"{holder}:", *_render(name, value, _STANDARD_INDENT)]
        return text + gap + line_break.join([*rows, ""])
    indent = _find_indent(lines, at)
    rows = [row + line_break for row in _render(name, value, indent)]
    found = _find_entry(lines, holder, name)
    first, last = found or (at + 1, at + 1)
    if first == len(lines) and not lines[-1].endswith("\n"):
        rows = [line_break + rows[0], *rows[1:-1], rows[-1].removesuffix(line_break)]
    return "".join([*lines[:first], *rows, *lines[last:]])


def remove_entry(text: str, keys: Sequence[str]) -> str:
    """Return the text without the entry under these two keys."""
    holder, name = _split_keys(keys)
    lines = text.splitlines(keepends=True)
    found = _find_entry(lines, holder, name)
    return text if found is None else "".join([*lines[: found[0]], *lines[found[1] :]])


def _split_keys(keys: Sequence[str]) -> tuple[str, str]:
    holder, name = keys
    return holder, name


def _render(name: str, value: Mapping[str, Any], indent: str) -> list[str]:
    """Write an entry: JSON is YAML, so values are written as JSON."""
    rows = [f"{indent}{indent}{key}: {json.dumps(each, ensure_ascii=False)}" for key, each in value.items()]
    return [f"{indent}{name}:", *rows]


def _find_holder(lines: Sequence[str], holder: str) -> int | None:
    """Find the line of a top-level key; an error if its value is not a mapping in block style."""
    for at, line in enumerate(lines):
        match = _KEY.match(line.rstrip("\r\n"))
        if match and not match["indent"] and match["key"] == holder:
            rest = match["rest"].strip()
            if rest and not rest.startswith("#"):
                raise UsageError(f"the file has {holder} in a form that is not edited here: edit it by hand")
            below = next((each for each in lines[at + 1 :] if each.strip() and each[0] != "#"), "")
            if below.lstrip().startswith("- ") or "\t" in below[: len(below) - len(below.lstrip())]:
                raise UsageError(f"the file has {holder} in a form that is not edited here: edit it by hand")
            return at
    return None


def _find_indent(lines: Sequence[str], at: int) -> str:
    """Return how the entries below a line are indented."""
    for line in lines[at + 1 :]:
        if line.strip() and not line.lstrip().startswith("#"):
            return line[: len(line) - len(line.lstrip())] or _STANDARD_INDENT
    return _STANDARD_INDENT


def _find_entry(lines: Sequence[str], holder: str, name: str) -> tuple[int, int] | None:
    """Find the first line of an entry and that behind its last."""
    at = _find_holder(lines, holder)
    if at is None:
        return None
    indent, first = _find_indent(lines, at), None
    for number, line in enumerate(lines[at + 1 :], at + 1):
        if not line.strip():
            continue
        depth = len(line) - len(line.lstrip())
        if first is not None and depth <= len(indent):
            return first, _skip_back(lines, first, number)
        if not depth and line[0] != "#":
            return None
        match = _KEY.match(line.rstrip("\r\n"))
        if match and match["indent"] == indent and match["key"] == name:
            first = number
    return None if first is None else (first, _skip_back(lines, first, len(lines)))


def _skip_back(lines: Sequence[str], first: int, end: int) -> int:
    """Leave empty lines behind an entry to what follows."""
    while end > first + 1 and not lines[end - 1].strip():
        end -= 1
    return end
