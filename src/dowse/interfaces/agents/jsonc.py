"""JSONC editor: set or remove one entry of a JSON file with comments, preserving every other character."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from dowse.errors import UsageError

_TRIVIA = re.compile(r"(?:\s|//[^\n]*|/\*.*?\*/)*", re.DOTALL)
_STRING = re.compile(r'"(?:[^"\\]|\\.)*"')
_SCALAR = re.compile(r'[^\s,\]}/"]+')


@dataclass(frozen=True, slots=True)
class _Member:
    key: str
    start: int  # of the key
    value: int
    end: int  # of the value


@dataclass(frozen=True, slots=True)
class _Object:
    open: int
    close: int
    members: tuple[_Member, ...]

    def member(self, key: str) -> _Member | None:
        return next((member for member in self.members if member.key == key), None)


def set_entry(text: str, keys: Sequence[str], value: Any) -> str:
    """Set the value under these keys and preserve everything else; objects that are missing on the way are added."""
    if not text.strip():
        return _dump(_nest(keys, value), "", _Style("  ", "\n")) + "\n"
    holder, missing = _descend(text, keys)
    if not missing:
        return _replace(text, holder, keys[-1], value)
    inner = _nest(missing[1:], value)
    return _insert(text, holder, missing[0], inner)


def remove_entry(text: str, keys: Sequence[str]) -> str:
    """Remove the value under these keys and preserve everything else; an object that held nothing else stays, empty."""
    if not text.strip():
        return text
    holder, missing = _descend(text, keys)
    return text if missing else _remove(text, holder, keys[-1])


def get_entry(text: str, keys: Sequence[str]) -> Any:
    """Return the value under these keys, or None."""
    if not text.strip():
        return None
    holder, missing = _descend(text, keys)
    member = holder.member(keys[-1])
    if missing or member is None:
        return None
    plain = text[member.value : member.end]
    for dropped in (_COMMENT, _TRAILING_COMMA):
        plain = dropped.sub(lambda match: match[1] or "", plain)
    return _load(plain)


_COMMENT = re.compile(r'("(?:[^"\\]|\\.)*")|//[^\n]*|/\*.*?\*/', re.DOTALL)
_TRAILING_COMMA = re.compile(r'("(?:[^"\\]|\\.)*")|,(?=\s*[\]}])', re.DOTALL)
"""What is dropped before a value is read; strings, the one group, stay."""


def _load(text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        raise _invalid_json(text, 0) from error


def _nest(keys: Sequence[str], value: Any) -> Any:
    for key in reversed(keys):
        value = {key: value}
    return value


def _descend(text: str, keys: Sequence[str]) -> tuple[_Object, Sequence[str]]:
    """Find the innermost object on the way to the keys, and the keys that are missing in it."""
    try:
        here = _parse_object(text, _skip_trivia(text, 0))
        for position, key in enumerate(keys):
            member = here.member(key)
            if member is None:
                return here, keys[position:]
            if position < len(keys) - 1:
                here = _parse_object(text, member.value)
    except RecursionError as error:
        raise UsageError("the file is nested too deeply: edit it by hand") from error
    return here, ()


def _parse_object(text: str, at: int) -> _Object:
    if text[at : at + 1] != "{":
        raise UsageError("the file is not what was expected: there is no object where servers are listed")
    members = []
    start, at = at, _skip_trivia(text, at + 1)
    while text[at : at + 1] != "}":
        key = _STRING.match(text, at)
        if key is None:
            raise _invalid_json(text, at)
        colon = _skip_trivia(text, key.end())
        if text[colon : colon + 1] != ":":
            raise _invalid_json(text, colon)
        value = _skip_trivia(text, colon + 1)
        end = _find_end(text, value)
        members.append(_Member(_load(key[0]), key.start(), value, end))
        at = _skip_separator(text, end, "}")
    return _Object(start, at, tuple(members))


def _skip_trivia(text: str, at: int) -> int:
    match = _TRIVIA.match(text, at)
    assert match
    return match.end()


def _find_end(text: str, at: int) -> int:
    """Find where the value that begins here ends."""
    if text[at : at + 1] == "{":
        return _parse_object(text, at).close + 1
    if text[at : at + 1] == "[":
        at = _skip_trivia(text, at + 1)
        while text[at : at + 1] != "]":
            at = _skip_separator(text, _find_end(text, at), "]")
        return at + 1
    match = _STRING.match(text, at) or _SCALAR.match(text, at)
    if match is None:
        raise _invalid_json(text, at)
    return match.end()


def _skip_separator(text: str, at: int, close: str) -> int:
    """Return where the next value begins, behind a comma, or where the closing bracket is."""
    at = _skip_trivia(text, at)
    if text[at : at + 1] == ",":
        return _skip_trivia(text, at + 1)
    if text[at : at + 1] != close:
        raise _invalid_json(text, at)
    return at


def _invalid_json(text: str, at: int) -> UsageError:
    return UsageError(f"the file is not valid JSON near {text[at : at + 20]!r}: repair it first")


def add_item(text: str, keys: Sequence[str], item: Any) -> str:
    """Return the text with an item at the end of the list under these keys, unless it has it."""
    known = get_entry(text, keys)
    if known is None:
        return set_entry(text, keys, [item])
    if not isinstance(known, list):
        raise UsageError(f"the file has no list under {'.'.join(keys)}: edit it by hand")
    if item in known:
        return text
    start, ends = _find_items(text, keys)
    style = _detect_style(text)
    indent = _indentation(text, start) + style.indent
    dumped = _dump(item, indent, style)
    if ends:
        return f"{text[: ends[-1][1]]},{style.line_break}{indent}{dumped}{text[ends[-1][1] :]}"
    return f"{text[: start + 1]}{style.line_break}{indent}{dumped}{text[start + 1 :]}"


def remove_item(text: str, keys: Sequence[str], item: Any) -> str:
    """Return the text without an item of the list under these keys."""
    known = get_entry(text, keys)
    if not isinstance(known, list) or item not in known:
        return text
    if known == [item]:
        return remove_entry(text, keys)
    at = known.index(item)
    _, ends = _find_items(text, keys)
    if at:
        return text[: ends[at - 1][1]] + text[ends[at][1] :]
    return text[: ends[0][0]] + text[ends[1][0] :]


def _find_items(text: str, keys: Sequence[str]) -> tuple[int, list[tuple[int, int]]]:
    """Find where a list begins, and where each of its items begins and ends."""
    holder, _ = _descend(text, keys)
    member = holder.member(keys[-1])
    assert member
    at, found = _skip_trivia(text, member.value + 1), list[tuple[int, int]]()
    while text[at : at + 1] != "]":
        end = _find_end(text, at)
        found.append((at, end))
        at = _skip_separator(text, end, "]")
    return member.value, found


@dataclass(frozen=True, slots=True)
class _Style:
    """How a file is written: one level of its indentation, and its line breaks."""

    indent: str
    line_break: str


def _detect_style(text: str) -> _Style:
    """Take the style from the first line that is indented."""
    line_break = "\r\n" if "\r\n" in text else "\n"
    found = _INDENTED.search(text)
    return _Style(found[1] if found else "  ", line_break)


_INDENTED = re.compile(r"^[ \t]*[{\[][^\n]*\n([ \t]+)\"", re.MULTILINE)
"""The indentation of the first key or value behind an opening bracket."""


def _replace(text: str, holder: _Object, key: str, value: Any) -> str:
    member = holder.member(key)
    assert member
    dumped = _dump(value, _indentation(text, member.start), _detect_style(text))
    return text[: member.value] + dumped + text[member.end :]


def _insert(text: str, holder: _Object, key: str, value: Any) -> str:
    """Insert the entry behind the last one, indented like it."""
    style = _detect_style(text)
    if holder.members:
        last = holder.members[-1]
        indent = _indentation(text, last.start)
        inserted = f",{style.line_break}{indent}{json.dumps(key)}: {_dump(value, indent, style)}"
        return text[: last.end] + inserted + text[last.end :]
    outer = _indentation(text, holder.open)
    indent = outer + style.indent
    inserted = (
        f"{style.line_break}{indent}{json.dumps(key)}: {_dump(value, indent, style)}{style.line_break}{outer}"
    )
    return text[: holder.open + 1] + inserted + text[holder.close :]


def _remove(text: str, holder: _Object, key: str) -> str:
    """Remove the entry, and the comma that belonged to it."""
    position = next(i for i, member in enumerate(holder.members) if member.key == key)
    member = holder.members[position]
    if position > 0:
        return text[: holder.members[position - 1].end] + text[member.end :]
    if len(holder.members) > 1:
        return text[: member.start] + text[holder.members[1].start :]
    comma = _skip_trivia(text, member.end)
    end = comma + 1 if text[comma : comma + 1] == "," else member.end
    return text[: holder.open + 1] + text[end : holder.close].strip() + text[holder.close :]


def _indentation(text: str, at: int) -> str:
    """Return the white space at the start of the line of an offset."""
    line = text[text.rfind("\n", 0, at) + 1 : at]
    return line[: len(line) - len(line.lstrip(" \t"))]


def _dump(value: Any, indent: str, style: _Style) -> str:
    dumped = json.dumps(value, indent=style.indent, ensure_ascii=False)
    return dumped.replace("\n", style.line_break + indent)
