"""Text made fit for a terminal: control characters made visible, colours where they are wanted."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Any

Paint = Callable[[str, str], str]
"""Gives a piece of text the look of a role: ``paint("engine.py", "path")``."""

ROLES = {
    "path": "35",
    "lines": "32",
    "entity": "1",
    "faint": "2",
    "found": "1;33",
    "good": "32",
    "warning": "33",
    "bad": "1;31",
    "keyword": "35",
    "string": "32",
    "comment": "2",
    "number": "36",
    "definition": "1;34",
}
"""Roles and their codes: from the sixteen colours that every terminal theme has chosen to be readable."""

_TOKENS = (
    ("Comment", "comment"),
    ("Literal.String.Doc", "comment"),
    ("Literal.String", "string"),
    ("Literal.Number", "number"),
    ("Keyword", "keyword"),
    ("Name.Function", "definition"),
    ("Name.Class", "definition"),
)
"""Kinds of tokens that are coloured, the more special ones first."""

_CONTROL = {code: f"\\x{code:02x}" for code in (*range(32), *range(127, 160))}
_CONTROL |= {ord("\n"): "\\n", ord("\r"): "\\r", ord("\t"): "\\t"}
_BIDIRECTIONAL = {
    code: f"\\u{code:04x}"
    for code in (0x061C, 0x200E, 0x200F, *range(0x202A, 0x202F), *range(0x2066, 0x206A))
}
_IN_NAMES = _CONTROL | _BIDIRECTIONAL
_IN_CODE = {code: shown for code, shown in _IN_NAMES.items() if chr(code) not in "\t\n"}


def plain(text: str, role: str) -> str:
    """No colours."""
    return text


def colour(text: str, role: str) -> str:
    """The colour of a role."""
    return f"\x1b[{ROLES[role]}m{text}\x1b[0m" if text else ""


def visible(name: str) -> str:
    """A name on one line: line breaks, escape sequences, marks of reading direction are spelled out."""
    return name.translate(_IN_NAMES)


def visible_code(text: str) -> str:
    """As ``visible``, but lines and tabs stay."""
    return text.translate(_IN_CODE)


def code_lines(text: str, language: str, paint: Paint, wanted: re.Pattern[str] | None) -> list[str]:
    """The lines of some code, fit for a terminal; ``wanted`` is what the question asked for."""
    text = visible_code(text)
    if paint is plain:
        return text.split("\n")
    pieces = list(_tokens(language, text))
    if "".join(piece for piece, _ in pieces) != text:  # the numbers of the lines must stay right
        pieces = [(text, "")]
    lines = [""]
    for piece, role in pieces:
        first, *others = piece.split("\n")
        lines[-1] += _painted(first, role, paint, wanted)
        lines += [_painted(line, role, paint, wanted) for line in others]
    return lines


def _painted(text: str, role: str, paint: Paint, wanted: re.Pattern[str] | None) -> str:
    parts = wanted.split(text) if wanted else [text]
    looks = (role, "found")  # the pattern has one group, so every second part is a match
    return "".join(paint(p, looks[i % 2]) if looks[i % 2] else p for i, p in enumerate(parts))


def _tokens(language: str, text: str) -> Iterator[tuple[str, str]]:
    """The text in pieces, each with the role of its kind of token; one piece if the language is unknown."""
    from pygments.lexers import get_lexer_by_name
    from pygments.util import ClassNotFound

    try:
        lexer = get_lexer_by_name(language, stripnl=False, ensurenl=False)
    except ClassNotFound:
        yield text, ""
        return
    roles: dict[Any, str] = {}
    for kind, piece in lexer.get_tokens(text):
        if kind not in roles:
            name = str(kind).removeprefix("Token.")
            roles[kind] = next((role for prefix, role in _TOKENS if name.startswith(prefix)), "")
        yield piece, roles[kind]
