"""YAML by indentation: documents as outlines, also of files that are not valid YAML (templates, broken ones).

A line says by its column what it belongs to. Nothing is expanded: an alias is a value like any other. Takes time by the
length of a file, whatever is in it.
"""

from __future__ import annotations

import re

from dowse.code.formats.outline import MAX_NODES, OutlineNode

_KEY = re.compile(
    r"""(?P<key>"[^"\n]*"\s*|'[^'\n]*'\s*|(?>[^\s\#'"\[\]{},&*!|>%@`:-][^:\#\n]*(?::[^\s:\#][^:\#\n]*)*)|-[^\s:]+)
        :(?:[ \t]+(?P<value>.*))?$""",
    re.VERBOSE,
)
_COMMENT = re.compile(r"(?:^|[ \t])#.*$")
_BLOCK_SCALAR = re.compile(r"(?:[&!]\S+\s+)*[|>][+-]?\d?[+-]?\s*(?:#.*)?$")
_TEMPLATE_LINE = re.compile(r"\{\{-?.*\}\}$")
_PROPERTY = re.compile(r"^[&!]\S*\s*")

MAX_KEY_CHARS = 300
"""A longer text before a colon is no key."""

MAX_LINE_CHARS = 2000
"""Of a longer line, only the beginning is read."""


def read_documents(content: bytes) -> list[OutlineNode]:
    """Read the documents of a file, each as a node without a key."""
    return _Reader().read(content.decode("utf-8", "replace").split("\n"))


class _Reader:
    """The documents so far, and what is open at the current line."""

    def __init__(self) -> None:
        self._documents: list[OutlineNode] = []
        self._open: list[OutlineNode] = []
        self._scalar_column = -1  # of the key of a block scalar that is being read
        self._comments: list[str] = []  # directly above the current line
        self._last = 0  # row of the last line that says something
        self._count = 0

    def read(self, lines: list[str]) -> list[OutlineNode]:
        """Read the lines of a file."""
        self._begin_document(0)
        for row, line in enumerate(lines):
            text = line[:MAX_LINE_CHARS].rstrip()
            body = text.lstrip(" ")
            if not body or self._count > MAX_NODES:
                self._comments.clear()
                continue
            column = len(text) - len(body)
            if self._scalar_column >= 0:
                if column > self._scalar_column:
                    self._last = row
                    continue
                self._scalar_column = -1
            if body[0] == "#":
                self._comments.append(body)
                continue
            if body[0] == "\t":
                continue
            if not column and body.startswith("---") and (len(body) == 3 or body[3] in " \t"):
                self._close(-1)
                self._begin_document(row)
                continue
            if _TEMPLATE_LINE.fullmatch(body) or body in ("...", "{", "}", "]"):
                self._last = row
                continue
            self._read_line(body, row, column)
            self._comments.clear()
            self._last = row
        self._close(-1)
        return [document for document in self._documents if document.children]

    def _begin_document(self, row: int) -> None:
        document = OutlineNode("", "", row, -1)
        self._documents.append(document)
        self._open = [document]
        self._last = row

    def _close(self, column: int, *, is_item: bool = False) -> None:
        """Close what does not contain a line of this column."""
        while len(self._open) > 1 and (
            self._open[-1].column > column
            or (self._open[-1].column == column and (not is_item or self._open[-1].is_item))
        ):
            self._open.pop().last_row = self._last
        if column < 0:
            while self._open:
                self._open.pop().last_row = self._last

    def _read_line(self, body: str, row: int, column: int) -> None:
        while body.startswith("- ") or body == "-":
            self._close(column, is_item=True)
            self._add(OutlineNode("", "", row, column, is_item=True))
            rest = body[1:].lstrip(" ")
            column += len(body) - len(rest)
            body = rest
            if self._count > MAX_NODES:
                return
        if not body:
            return
        found = _KEY.match(body) if ":" in body else None
        if found is None or len(found["key"]) > MAX_KEY_CHARS:
            item = self._open[-1]
            if item.is_item and item.row == row:
                item.value = _clean(body)
                if _BLOCK_SCALAR.match(body):
                    self._scalar_column = item.column
            return
        self._close(column)
        value = found["value"] or ""
        node = OutlineNode(found["key"].strip().strip("\"'"), _clean(value), row, column)
        self._add(node)
        if _BLOCK_SCALAR.match(value):
            node.value = ""
            self._scalar_column = column

    def _add(self, node: OutlineNode) -> None:
        if self._comments:
            node.first_row -= len(self._comments)
            node.doc = "\n".join(line.lstrip("# ") for line in self._comments)
            self._comments.clear()
        self._open[-1].children.append(node)
        self._open.append(node)
        self._count += 1


def _clean(value: str) -> str:
    """Return a scalar without comment, anchor, tag and quotes."""
    value = value.strip()
    if value[:1] in ("&", "!"):
        value = _PROPERTY.sub("", value)
    if value[:1] in ("'", '"'):
        end = value.find(value[0], 1)
        return value[1:end] if end > 0 else value[1:]
    return _COMMENT.sub("", value).strip() if "#" in value else value
