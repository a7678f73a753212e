"""Blocks in braces of schema languages: what stands in front of each brace, what is inside, and comments above."""

from __future__ import annotations

import re
from collections.abc import Iterator

MAX_BLOCKS = 20_000
"""Blocks and statements that are read of one file."""

_TOKEN = re.compile(r'"""|"(?:[^"\\\n]|\\.){0,200}"|//[^\n]*|#[^\n]*|/\*|[{};\n]|[^"/#{};\n]+|.', re.DOTALL)


class BraceBlock:
    """A statement, with the block in braces that it may have. Rows are 0-based, the last one included."""

    __slots__ = ("children", "doc", "first_row", "head", "last_row", "row")

    def __init__(self, head: str, row: int, doc: str, first_row: int) -> None:
        self.head = head
        self.row = self.last_row = row
        self.doc = doc
        self.first_row = first_row
        self.children: list[BraceBlock] = []

    def walk(self) -> Iterator[BraceBlock]:
        """Yield everything inside, each block before what is in it."""
        waiting = list(reversed(self.children))
        while waiting:
            block = waiting.pop()
            yield block
            waiting.extend(reversed(block.children))


class BlockReader:
    """Reads a text into blocks; a statement ends with a semicolon, or with its line where a language has none."""

    def __init__(self, *, ends_with_line: bool) -> None:
        self._ends_with_line = ends_with_line
        self._root = BraceBlock("", 0, "", 0)
        self._stack = [self._root]
        self._head: list[str] = []
        self._head_row = 0
        self._docs: list[str] = []
        self._doc_row = 0
        self._parentheses = 0
        self._count = 0

    def read(self, text: str) -> BraceBlock:
        """Read a text; the block that is returned holds its statements."""
        row = position = 0
        while (found := _TOKEN.match(text, position)) and self._count < MAX_BLOCKS:
            token, position = found[0], found.end()
            if token in ('"""', "/*"):
                end = text.find('"""' if token == '"""' else "*/", position)
                end = end if end >= 0 else len(text)
                self._add_doc(text[position:end], row)
                row += text.count("\n", position, end)
                position = end + len(token)
            else:
                self._read_token(token, row)
                row += token == "\n"
        for block in self._stack:
            block.last_row = max(block.last_row, row)
        return self._root

    def _read_token(self, token: str, row: int) -> None:
        if token == "{":
            self._open_block(row)
        elif token == "}":
            self._end_statement(row)
            if len(self._stack) > 1:
                self._stack.pop().last_row = row
            self._docs.clear()
        elif token == ";":
            self._end_statement(row)
        elif token == "\n":
            if self._ends_with_line and not self._parentheses:
                self._end_statement(row)
        elif token.startswith(("//", "#")):
            if not self._head:
                self._add_doc(token.lstrip("/# "), row)
        elif token.strip() or self._head:
            if not self._head:
                self._head_row = row
            self._head.append(token)
            self._parentheses = max(0, self._parentheses + token.count("(") - token.count(")"))

    def _add_doc(self, text: str, row: int) -> None:
        if not self._docs:
            self._doc_row = row
        self._docs.append(" ".join(text.replace("*", " ").split()))

    def _open_block(self, row: int) -> None:
        block = self._add_block()
        block.last_row = row
        self._stack.append(block)

    def _end_statement(self, row: int) -> None:
        if self._head:
            self._add_block().last_row = row

    def _add_block(self) -> BraceBlock:
        head = " ".join("".join(self._head).split())
        doc = "\n".join(self._docs)
        block = BraceBlock(head, self._head_row, doc, self._doc_row if doc else self._head_row)
        self._stack[-1].children.append(block)
        self._count += 1
        self._head.clear()
        self._docs.clear()
        self._parentheses = 0
        return block
