"""Definitions by the lines that begin them: for languages without a grammar that can be installed.

A language says by patterns how such lines look (``Language.lines``). A definition reaches as far as the lines below are
indented more, and over a line that closes it; or to a line that its pattern names, as ``endmodule``.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import islice
from typing import NamedTuple

from dowse.code.formats.reading import MAX_ITEMS, FormatResult, FormatSource, Item
from dowse.types.source import Kind, ReferenceKind

MAX_LINE_CHARS = 400
"""Of a longer line, only the beginning is read."""

MAX_DOC_LINES = 30

_BLANK = r"[ \t]"
"""What ``\\h`` stands for in the patterns of languages: no pattern goes on on the next line."""

_CLOSING = re.compile(r"[\])}]|end\w*\b|\*\)", re.IGNORECASE)
_OPENING = re.compile(r"\{|begin\b|\(\s*$|is\s*$|->", re.IGNORECASE)
_COMMENT = re.compile(
    r"\s*(?:#+['|]?|//+|;+|--+|%+|!+|\(\*+|/\*+|\*+/?|\"|REM\b|::)(?:\s|$)\s*", re.IGNORECASE
)


class _Pattern(NamedTuple):
    """How lines of one kind of definition begin, and the line that ends it if it is not told by indentation."""

    kind: Kind
    end: re.Pattern[str] | None


def read(source: FormatSource) -> FormatResult:
    """Read the definitions of a file."""
    begin, patterns = _compile(source.language.lines)
    raw = source.content.decode("utf-8", "replace").split("\n")
    lines = [line[:MAX_LINE_CHARS].rstrip() for line in raw]
    text = "\n".join(lines)
    result = FormatResult()
    result.references[ReferenceKind.LINK] = source.find_links(source.language.name)
    found = list(islice(_find_beginnings(begin, text, lines), MAX_ITEMS))
    ends = _find_ends(lines, {row: patterns[index].end for row, index, _ in found})
    for row, index, name in found:
        kind, last = patterns[index].kind, ends[row]
        before = result.items[-1] if result.items else None
        if before and before.name == name and before.kind is kind and _follows(before, row, lines):
            before.last = max(before.last, last + 1)  # a further clause
            continue
        first = _find_doc(lines, row)
        doc = "\n".join(_COMMENT.sub("", line, count=1).rstrip("*/ ") for line in lines[first:row])
        signature = " ".join(lines[row].split())
        result.items.append(Item(kind, name, first + 1, last + 1, "", signature, doc, row + 1))
    _qualify(result.items)
    return result


def _find_beginnings(
    begin: re.Pattern[str], text: str, lines: Sequence[str]
) -> Iterator[tuple[int, int, str]]:
    """Find where definitions begin: the row, the index of the pattern, the name; one on a row."""
    row, position = 0, 0
    for match in begin.finditer(text):
        index = int((match.lastgroup or "k0")[1:])
        at = match.start(f"n{index}")
        while position + len(lines[row]) < at:
            position += len(lines[row]) + 1
            row += 1
        yield row, index, match[f"n{index}"].strip("`'\"")


@lru_cache(maxsize=64)
def _compile(lines: Sequence[tuple[str, ...]]) -> tuple[re.Pattern[str], list[_Pattern]]:
    """Compile the patterns of a language as one, with a group for each: its name tells which has matched."""
    parts, patterns = [], []
    for index, (kind, begin, *end) in enumerate(lines):
        pattern = begin.replace("?P<name>", f"?P<n{index}>").replace(r"\h", _BLANK)
        parts.append(f"(?P<k{index}>{pattern})")
        patterns.append(_Pattern(Kind(kind), re.compile(rf"\s*(?:{end[0]})", re.IGNORECASE) if end else None))
    return re.compile(rf"^[ \t]*(?:{'|'.join(parts)})", re.MULTILINE), patterns


def _find_ends(lines: Sequence[str], begun: Mapping[int, re.Pattern[str] | None]) -> dict[int, int]:
    """Find the last row of each definition, given the rows on which they begin and the lines that end them, if told."""
    ends: dict[int, int] = {}
    closing = {
        pattern: [n for n, line in enumerate(lines) if pattern.match(line)]
        for pattern in set(begun.values())
        if pattern
    }
    for row, pattern in begun.items():
        if pattern:
            rows = closing[pattern]
            after = bisect_right(rows, row)
            ends[row] = rows[after] if after < len(rows) else row
    waiting: list[tuple[int, int]] = []  # column and row of what is open by indentation
    last = 0
    for n, line in enumerate(lines):
        body = line.lstrip()
        if not body:
            continue
        column = len(line) - len(body)
        is_closing = _CLOSING.match(body) is not None
        while waiting and column <= waiting[-1][0]:
            if column == waiting[-1][0] and _OPENING.match(body) and not is_closing:
                break
            own, row = waiting.pop()
            ends[row] = n if column == own and is_closing else last
            is_closing = is_closing and column != own  # one line closes one definition
        if n in begun and not begun[n]:
            waiting.append((column, n))
        last = n
    ends.update((row, last) for _, row in waiting)
    return ends


def _follows(before: Item, row: int, lines: Sequence[str]) -> bool:
    """Return whether nothing is between a definition and a further clause of it."""
    return not any(line.strip() for line in lines[before.last : row])


def _find_doc(lines: Sequence[str], row: int) -> int:
    """Find the first line of the comment directly above a line."""
    first = row
    while (
        first and row - first < MAX_DOC_LINES and lines[first - 1] and _COMMENT.match(lines[first - 1] + " ")
    ):
        first -= 1
    return first


def _qualify(items: Sequence[Item]) -> None:
    """Call what is inside another definition by both names."""
    around: list[Item] = []
    for item in sorted(items, key=lambda one: (one.first, -one.last)):
        around = [one for one in around if one.last >= item.last]
        item.qualified = ".".join([*(one.name for one in around), item.name])
        around.append(item)
