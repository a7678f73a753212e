"""The cells of a Jupyter notebook as text, without outputs, pictures and metadata: what is indexed of its JSON.

Each line of a cell stays on the line of the notebook's file that it is written on, so that line numbers point into the
file: what is dropped becomes blank lines. Where a whole cell is written on one line, its lines follow each other. A
line in front of each cell has its number and type, in the way of scripts with cells: ``# %% cell 3 [markdown]``.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import islice
from typing import NamedTuple

from dowse.code.formats.json_outline import read_string, scan_tokens

MAX_NOTEBOOK_BYTES = 128_000_000
"""Size of a notebook that is read: nearly all of one that is large is pictures and other outputs."""

MAX_TOKENS = 4_000_000
"""Strings and signs that are read: beyond, only outputs of thousands of lines are to be expected."""

MAX_CELL_LINES = 100_000
"""Lines of cells that are kept."""

HEADING = "# jupyter notebook"
CELL_LINE = re.compile(r"# %% cell (?P<number>\d+)(?: \[(?P<type>\w+)\])?")

MAX_ROWS = 1_000_000
"""Rows of a notebook up to which lines of cells stay where they are."""

MAX_WORD_CHARS = 100
"""A longer string is no key, no type of a cell and no name of a language."""

_SOURCE_KEYS = frozenset({"source", "input"})  # ``input`` in notebooks of version 3
_LANGUAGE = re.compile(r"[A-Za-z][\w+#.-]{0,20}")


class _RawCell(NamedTuple):
    """A cell while it is read: where it begins, its values, and its lines with their rows."""

    row: int
    values: dict[str, str]
    lines: list[tuple[int, str]]


def extract_cells(text: str) -> str | None:
    """Return the cells of a notebook as text; None if there are none."""
    cells, language = _read_cells(text)
    if not cells:
        return None
    out = [f"{HEADING} {language}".rstrip()]
    for number, cell in enumerate(cells, 1):
        kind = cell.values.get("cell_type", "code")
        kind = kind if kind.isalpha() and len(kind) < 20 else "raw"
        above = cell.lines[0][0] - 1 if cell.lines else cell.row
        out += _pad(out, max(cell.row, above))
        out.append(f"# %% cell {number}" + ("" if kind == "code" else f" [{kind}]"))
        if kind == "heading":  # of version 3
            level = cell.values.get("level", "1")
            prefix = "#" * (int(level) if level in tuple("123456") else 1) + " "
            cell.lines[:1] = [(row, prefix + line) for row, line in cell.lines[:1]]
        for row, line in cell.lines:
            out += _pad(out, row)
            out.append(line)
    return "\n".join(out) + "\n"


def _pad(lines: Sequence[str], row: int) -> list[str]:
    """Return the blank lines that put the next line on a row; none for a row that only a hostile file has."""
    return [""] * (row - len(lines)) if row < MAX_ROWS else []


class _CellReader:
    """Reads the tokens of a notebook one by one: its cells and the language of its kernel."""

    def __init__(self) -> None:
        self.cells: list[_RawCell] = []
        self.language = ""
        self.lines = 0
        self._stack: list[tuple[str, str]] = []  # open brackets, each with the key it is the value of
        self._key = ""
        self._is_key = False
        self._cell_depth = 0  # of the brackets of the cell that is being read; 0: none is

    def read_token(self, token: str, row: int) -> None:
        """Read the next token."""
        head = token[0]
        if head in "{[":
            self._open_bracket(head, row)
        elif head in "}]":
            if len(self._stack) == self._cell_depth:
                self._cell_depth = 0
            self._key = self._stack.pop()[1] if self._stack else ""
            self._is_key = False
        elif head == ",":
            self._is_key = bool(self._stack) and self._stack[-1][0] == "{"
        elif head == '"' and self._is_key and len(token) < MAX_WORD_CHARS:
            self._key, self._is_key = read_string(token), False
        elif self._cell_depth:
            self._read_cell_value(token, row)
        elif head == '"':
            around = self._stack[-1][1] if self._stack else ""
            if (around, self._key) in (("language_info", "name"), ("kernelspec", "language")):
                self.language = read_string(token)

    def _open_bracket(self, head: str, row: int) -> None:
        self._stack.append((head, self._key))
        is_cell = head == "{" and len(self._stack) > 1 and self._stack[-2] == ("[", "cells")
        if is_cell and not self._cell_depth:
            self._cell_depth = len(self._stack)
            self.cells.append(_RawCell(row, {}, []))
        self._is_key = head == "{"
        if head == "{":
            self._key = ""

    def _read_cell_value(self, token: str, row: int) -> None:
        """Read a line of a cell's source, or one of its other values; not what is deeper, as outputs are."""
        depth = len(self._stack) - self._cell_depth
        if depth > 1:
            return
        cell = self.cells[-1]
        key = self._stack[-1][1] if self._stack[-1][0] == "[" else self._key
        if key in _SOURCE_KEYS and token[0] == '"':
            found = _split_lines(read_string(token), row)
            cell.lines.extend(found)
            self.lines += len(found)
        elif depth == 0 and len(token) < MAX_WORD_CHARS:
            cell.values[key] = token.strip('"')
            if key == "language":
                self.language = self.language or token.strip('"')


def _read_cells(text: str) -> tuple[list[_RawCell], str]:
    """Read the cells of a notebook and the language of its kernel."""
    reader = _CellReader()
    row = counted = 0
    for token, start in islice(scan_tokens(text), MAX_TOKENS):
        row += text.count("\n", counted, start)
        counted = start
        reader.read_token(token, row)
        if reader.lines > MAX_CELL_LINES:
            break
    language = reader.language.lower()
    return reader.cells, language if _LANGUAGE.fullmatch(language) else ""


def _split_lines(text: str, row: int) -> list[tuple[int, str]]:
    """Split a source string into lines, each with the row it should stand on."""
    lines = text.removesuffix("\n").split("\n")
    return [(row + index, line.rstrip("\r").replace("\0", "")) for index, line in enumerate(lines)]
