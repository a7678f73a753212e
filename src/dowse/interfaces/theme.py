"""Terminal colours (ANSI), syntax highlighting, and escaping of control characters and bidi marks in untrusted text."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Any

Paint = Callable[[str, str], str]
"""Gives a piece of text the look of a role: ``paint("engine.py", "path")``."""

ROLE_COLOURS = {
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

_TOKEN_ROLES = (
    ("Comment", "comment"),
    ("Literal.String.Doc", "comment"),
    ("Literal.String", "string"),
    ("Literal.Number", "number"),
    ("Keyword", "keyword"),
    ("Name.Function", "definition"),
    ("Name.Class", "definition"),
)
"""Kinds of tokens that are coloured, the more special ones first."""

_CONTROL_ESCAPES = {code: f"\\x{code:02x}" for code in (*range(32), *range(127, 160))}
_CONTROL_ESCAPES |= {ord("\n"): "\\n", ord("\r"): "\\r", ord("\t"): "\\t"}
_BIDI_ESCAPES = {
    code: f"\\u{code:04x}"
    for code in (0x061C, 0x200E, 0x200F, *range(0x202A, 0x202F), *range(0x2066, 0x206A))
}
_NAME_ESCAPES = _CONTROL_ESCAPES | _BIDI_ESCAPES
_CODE_ESCAPES = {code: shown for code, shown in _NAME_ESCAPES.items() if chr(code) not in "\t\n"}


def plain(text: str, role: str) -> str:
    """Return the text without colours."""
    return text


def colour(text: str, role: str) -> str:
    """Return the text in the colour of a role."""
    return f"\x1b[{ROLE_COLOURS[role]}m{text}\x1b[0m" if text else ""


def escape_text(name: str) -> str:
    """Escape a text for one line: line breaks, terminal escapes and marks of reading direction are spelled out."""
    return name.translate(_NAME_ESCAPES)


def escape_code(text: str) -> str:
    """Escape code as ``escape_text`` does, but keep line breaks and tabs."""
    return text.translate(_CODE_ESCAPES)


def code_lines(text: str, language: str, paint: Paint, pattern: re.Pattern[str] | None) -> list[str]:
    """Split code into lines safe for a terminal, highlighted; ``pattern`` matches the words of the query."""
    text = escape_code(text)
    if paint is plain:
        return text.split("\n")
    pieces = list(_tokenize(language, text))
    if "".join(piece for piece, _ in pieces) != text:  # the numbers of the lines must stay right
        pieces = [(text, "")]
    lines = [""]
    for piece, role in pieces:
        first, *others = piece.split("\n")
        lines[-1] += _paint_matches(first, role, paint, pattern)
        lines += [_paint_matches(line, role, paint, pattern) for line in others]
    return lines


def _paint_matches(text: str, role: str, paint: Paint, pattern: re.Pattern[str] | None) -> str:
    parts = pattern.split(text) if pattern else [text]
    looks = (role, "found")  # the pattern has one group, so every second part is a match
    return "".join(paint(p, looks[i % 2]) if looks[i % 2] else p for i, p in enumerate(parts))


def _tokenize(language: str, text: str) -> Iterator[tuple[str, str]]:
    """Split code into pieces, each with the role of its kind of token; one piece if the language is unknown."""
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
            roles[kind] = next((role for prefix, role in _TOKEN_ROLES if name.startswith(prefix)), "")
        yield piece, roles[kind]
