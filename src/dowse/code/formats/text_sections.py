"""Sections of reStructuredText and AsciiDoc: headings with their levels, each called by those around it too."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from dowse.code.formats.reading import FormatResult, FormatSource, Item
from dowse.types.source import Kind

_UNDERLINE = re.compile(r"([=\-`:.'\"~^_*+#<>])\1{2,}$")
_ASCIIDOC_HEADING = re.compile(r"(?P<marks>={1,6}|#{1,6})\s+(?P<title>\S.*)$")
_ASCIIDOC_FENCE = re.compile(r"(?:-{4,}|\.{4,}|={4,}|\*{4,}|_{4,}|/{4,}|\+{4,}|`{3,}.*)$")

Heading = tuple[int, int, str]
"""The row of a heading, its level from 1 on, and its title."""


def read(source: FormatSource) -> FormatResult:
    """Read the sections of a text."""
    lines = source.content.decode("utf-8", "replace").split("\n")
    is_asciidoc = source.language.name == "asciidoc"
    headings = list(_find_asciidoc(lines) if is_asciidoc else _find_underlined(lines))
    result = FormatResult()
    result.items += _list_sections(headings, len(lines) - (not lines[-1].strip()))
    return result


def _find_underlined(lines: Sequence[str]) -> Iterator[Heading]:
    """Find titles with a line of signs below; each kind of line is a level, in the order in which they come."""
    levels: dict[tuple[str, bool], int] = {}
    row = 0
    while row < len(lines) - 1:
        title, below = lines[row].rstrip(), lines[row + 1].rstrip()
        has_overline = row > 0 and lines[row - 1].rstrip() == below
        is_title = bool(title) and not title[0].isspace() and not _UNDERLINE.match(title)
        is_title = is_title or bool(has_overline and title.strip())
        if is_title and len(below) >= len(title.strip()) and (mark := _UNDERLINE.match(below)):
            level = levels.setdefault((mark[1], has_overline), len(levels) + 1)
            yield row - has_overline, level, title.strip()
            row += 1
        row += 1


def _find_asciidoc(lines: Sequence[str]) -> Iterator[Heading]:
    """Find the headings of AsciiDoc, not those in blocks of code."""
    fence = ""
    for row, line in enumerate(lines):
        text = line.rstrip()
        if _ASCIIDOC_FENCE.match(text):
            fence = "" if text == fence else fence or text
        elif not fence and (found := _ASCIIDOC_HEADING.match(text)):
            yield row, len(found["marks"]), found["title"]


def _list_sections(headings: Sequence[Heading], last: int) -> Iterator[Item]:
    """List sections, each up to the next heading of its level or above."""
    around: list[tuple[int, str]] = []
    for index, (row, level, title) in enumerate(headings):
        around = [one for one in around if one[0] < level]
        following = (other for other, deep, _ in headings[index + 1 :] if deep <= level)
        end = next(following, last)
        name = ".".join([*(held for _, held in around), title])
        yield Item(Kind.SECTION, title, row + 1, max(row + 1, end), name)
        around.append((level, title))
