"""Docstring and doc comment extraction: the comments above a definition, without comment markers and quotes."""

from __future__ import annotations

import re

import tree_sitter

MAX_DOC_CHARS = 2000
"""Longer documentation is cut: its beginning says what the thing is for."""

_LINE_BREAK = ord("\n")
# From the line break on, so that all lines of a comment are stripped in one go.
_COMMENT_HEAD = re.compile(
    r"\n[ \t]*(?:/\*+!?|\*+/|\*|//+[/!]?|#=|#+[!>]?|<#+|<!--+|--+(?:\[=*\[|[ \t]*[|^])?|;+|%+|\(\*+"
    r"|\{-+[ \t]*\|?|\"\"\"|'''|)[ \t]?"
)
# Each alternative begins with a character as it is, so that one is looked for before the expression is tried.
_COMMENT_TAIL = re.compile(r"(?:\*\**/|-\}|\*\)|\]=*\]|=#|##*>|--+>|\"\"\"|''')$")
_COMMENT_ENDS = ("*/", "-}", "*)", "]]", "=]", "=#", "#>", "-->", '"""', "'''")
_COMMENT_END_CHARS = frozenset(end[-1] for end in _COMMENT_ENDS)
_QUOTES = ('"""', "'''", '"', "'")
_OPENING_QUOTES = re.compile(rf"[rRbBuUfF]*(?:{'|'.join(_QUOTES)})")

Comments = dict[int, tuple[tree_sitter.Node, tree_sitter.Node | None]]
"""Comments and attributes by their last row, each with the part of it that is text."""


def last_row(node: tree_sitter.Node, content: bytes) -> int:
    """Return the row a comment ends on; some grammars include the line break."""
    row = node.end_point[0]
    if content[node.end_byte - 1] == _LINE_BREAK and row > node.start_point[0]:
        return row - 1
    return row


class CommentsAbove(dict[int, tuple[int, str]]):
    """The comments above each row, read once: thousands of definitions may be on one row."""

    def __init__(self, comments: Comments, content: bytes) -> None:
        self._comments, self._content = comments, content

    def __missing__(self, row: int) -> tuple[int, str]:
        found = self[row] = _read_comments_above(row, self._comments, self._content)
        return found


def _read_comments_above(row: int, comments: Comments, content: bytes) -> tuple[int, str]:
    """Read the comments directly above a row; return their first row and their text without marks."""
    first, pieces = row, []
    while (found := comments.get(first - 1)) and (place := find_own_lines(*found, content)):
        first, start_byte, end_byte = place
        pieces.append(content[start_byte:end_byte])
    if not pieces:
        return row, ""
    return first, strip_comment_marks(b"\n".join(reversed(pieces)).decode("utf-8", "replace"))


def find_own_lines(
    node: tree_sitter.Node, text: tree_sitter.Node | None, content: bytes
) -> tuple[int, int, int] | None:
    """Find the first row and the text range of a comment; None if code is beside it, which it is about then."""
    start_byte, end_byte = node.start_byte, node.end_byte
    row, column = node.start_point
    end_byte -= content[end_byte - 1 : end_byte] == b"\n"
    if content[start_byte - column : start_byte].strip() or _rest_of_line(content, end_byte).strip():
        return None
    if text is None:
        return row, start_byte, start_byte
    if text is node or text.id == node.id:
        return row, start_byte, end_byte
    return row, text.start_byte, text.end_byte


def _rest_of_line(content: bytes, start: int) -> bytes:
    if content[start : start + 1] == b"\n":  # as nearly always
        return b""
    line_end = content.find(b"\n", start)
    return content[start : line_end if line_end >= 0 else None]


def strip_comment_marks(text: str) -> str:
    """Strip the comment marks of any language from a text."""
    lines = map(str.rstrip, _COMMENT_HEAD.split("\n" + text[: 2 * MAX_DOC_CHARS]))
    cleaned = [
        _strip_comment_end(line) if line and line[-1] in _COMMENT_END_CHARS else line for line in lines
    ]
    return "\n".join(cleaned).strip()


def _strip_comment_end(line: str) -> str:
    return _COMMENT_TAIL.sub("", line).rstrip(" \t") if line.endswith(_COMMENT_ENDS) else line


def strip_quotes(text: str) -> str:
    """Strip the quotes around a text; in broken code some may be missing."""
    opening = _OPENING_QUOTES.match(text)
    text = text[opening.end() :] if opening else text
    closing = next(filter(text.endswith, _QUOTES), "")
    return text.removesuffix(closing)
