"""Jupyter notebooks: cells of code in the kernel's language, cells of Markdown with their sections.

Reads the text that ``notebook_cells`` makes of a notebook. All cells of code are one module, so that a name of one cell
is known in those after it. A short cell of Markdown belongs to the cell of code below it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from dowse.code.formats.notebook_cells import CELL_LINE, HEADING
from dowse.code.formats.reading import FormatResult, FormatSource, Item, keep_ranges
from dowse.types.source import Kind, ParseHealth

MAX_LEADING_LINES = 4
"""Lines of a cell of Markdown that introduces the next cell rather than standing for itself."""

_KERNELS = {
    "c++": "cpp",
    "c#": "csharp",
    "f#": "fsharp",
    "ir": "r",
    "ipython": "python",
    "sh": "bash",
    "": "python",
}
_MARKDOWN_HEADING = re.compile(r"(#{1,6})\s+(.+?)\s*#*$")
_MAGIC = re.compile(rb"^[ \t]*(?:[%!?].*|[\w.]+\?{1,2})$", re.MULTILINE)
_FOREIGN_CELL = re.compile(r"%%(?!time\b|timeit\b|capture\b|prun\b)\w+")


class _Cell(NamedTuple):
    """A cell: its number, its type, and its lines from the line with the number on (0-based, end excluded)."""

    number: int
    kind: str
    start: int
    end: int
    lines: list[str]  # that say something, without the line with the number


def read(source: FormatSource) -> FormatResult:
    """Read the cells of a notebook."""
    lines = source.content.decode("utf-8", "replace").split("\n")
    if not lines[0].startswith(HEADING):
        return FormatResult(health=ParseHealth.FAILED)
    result = FormatResult(apart=frozenset({Kind.CELL}))
    cells = list(_split_cells(lines))
    result.items += _list_cells(cells)
    kernel = lines[0].removeprefix(HEADING).strip()
    language = _KERNELS.get(kernel, kernel)
    if language in source.languages and source.languages[language].grammar:
        code = source.parse_as(language, _keep_code(source.content, lines, cells))
        result.add_embedded(code)
        result.tree = code.tree
        result.health = ParseHealth.OK if code.health is ParseHealth.OK else ParseHealth.PARTIAL
    return result


def _split_cells(lines: Sequence[str]) -> Iterator[_Cell]:
    starts = [(row, found) for row, line in enumerate(lines) if (found := CELL_LINE.fullmatch(line))]
    ends = [row for row, _ in starts[1:]] + [len(lines)]
    for (row, found), end in zip(starts, ends, strict=True):
        said = [line for line in lines[row + 1 : end] if line.strip()]
        last = max((n for n in range(row, end) if lines[n].strip()), default=row)
        yield _Cell(int(found["number"]), found["type"] or "code", row, last + 1, said)


def _list_cells(cells: Sequence[_Cell]) -> Iterator[Item]:
    """List cells and sections; a cell is called by its number, below the heading it is under."""
    headings: list[tuple[int, str]] = []
    lead: _Cell | None = None
    for cell in cells:
        if cell.kind in ("markdown", "heading"):
            for row, (level, title) in _find_headings(cell):
                headings = [one for one in headings if one[0] < level]
                yield Item(
                    Kind.SECTION, title, row + 1, cell.end, ".".join([*(t for _, t in headings), title])
                )
                headings.append((level, title))
            if len(cell.lines) <= MAX_LEADING_LINES and cell is not cells[-1]:
                lead = lead or cell
                continue
        first = lead or cell
        begin = first.start + 1 if first is not cells[0] else 1
        name = f"cell {cell.number}"
        qualified = ".".join([*(title for _, title in headings), name])
        doc = "\n".join(lead.lines) if lead else ""
        signature = cell.lines[0].strip() if cell.lines else ""
        yield Item(Kind.CELL, name, begin, cell.end, qualified, signature, doc, cell.start + 1)
        lead = None


def _find_headings(cell: _Cell) -> Iterator[tuple[int, tuple[int, str]]]:
    """Find the headings of a cell of Markdown, each with its row; those in blocks of code are none."""
    is_code = False
    for row, line in enumerate(cell.lines):
        if line.lstrip().startswith(("```", "~~~")):
            is_code = not is_code
        elif not is_code and (found := _MARKDOWN_HEADING.match(line)):
            yield cell.start + 1 + row, (len(found[1]), found[2])


def _keep_code(content: bytes, lines: Sequence[str], cells: Sequence[_Cell]) -> bytes:
    """Blank out what is no code of the kernel's language: other cells, lines with magic."""
    starts = [0]
    for line in content.split(b"\n"):
        starts.append(starts[-1] + len(line) + 1)
    ranges = [
        (starts[cell.start + 1], starts[cell.end] - 1)
        for cell in cells
        if cell.kind == "code"
        and cell.end > cell.start + 1
        and not (cell.lines and _FOREIGN_CELL.match(cell.lines[0].strip()))
    ]
    return _MAGIC.sub(lambda found: b" " * len(found[0]), keep_ranges(content, ranges))
