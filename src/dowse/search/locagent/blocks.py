"""Block tree of a Python file: statements, definitions and comments with their size in tokens, for LocAgent's chunks.

Deeper than ``MAX_DEPTH``, a statement is one block, whatever is in it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from enum import Enum

import tree_sitter

MAX_DEPTH = 60
"""Levels of blocks in blocks: code by hand has some ten."""


class BlockType(Enum):
    """What a block is, as far as cutting depends on it."""

    MODULE = "module"
    CLASS = "class"
    FUNCTION = "function"
    CONSTRUCTOR = "constructor"  # stays with its class, unlike other functions
    COMPOUND = "compound"
    COMMENT = "comment"
    STATEMENT = "statement"


CUT_TYPES = frozenset({BlockType.MODULE, BlockType.CLASS, BlockType.FUNCTION})
"""The types of blocks that may be cut from their surroundings."""

_DEFINITIONS = {"function_definition": BlockType.FUNCTION, "class_definition": BlockType.CLASS}
_COMPOUND_STATEMENTS = frozenset({
    "if_statement", "for_statement", "while_statement", "try_statement", "with_statement", "match_statement",
    "elif_clause", "else_clause", "except_clause", "finally_clause", "case_clause",
})  # fmt: skip


class Block:
    """A piece of a file: its own text (of one with children, what comes before them), its lines and its children."""

    __slots__ = ("children", "first_line", "last_line", "name", "parent", "size", "text", "tokens", "type")

    def __init__(
        self,
        type: BlockType,
        name: str,
        lines: tuple[int, int],
        text: str,
        tokens: float,
        parent: Block | None,
    ) -> None:
        self.type = type
        self.name = name
        self.first_line, self.last_line = lines
        self.text = text
        self.tokens = tokens
        self.size = tokens  # with all children, once they are there
        self.parent = parent
        self.children: list[Block] = []

    def walk(self) -> Iterator[Block]:
        """Yield every block below this one, in order."""
        for child in self.children:
            yield child
            yield from child.walk()

    def ancestors(self) -> Iterator[Block]:
        """Yield the blocks around this one, innermost first."""
        if self.parent is not None:
            yield self.parent
            yield from self.parent.ancestors()

    @property
    def qualified_name(self) -> str:
        """The dotted name of the definition: ``Class.method``."""
        return ".".join([*(b.name for b in reversed(list(self.ancestors())) if b.name), self.name])


def build_blocks(content: bytes, tree: tree_sitter.Tree, count_tokens: Callable[[str], float]) -> Block:
    """Build the block tree of a file."""
    module = Block(BlockType.MODULE, "", (1, content.count(b"\n") + 1), "", 0, None)
    _add_children(module, tree.root_node.named_children, _Builder(content, count_tokens), MAX_DEPTH)
    return module


class _Builder:
    """What is needed to make a block of a node: the file and how tokens are counted."""

    def __init__(self, content: bytes, count_tokens: Callable[[str], float]) -> None:
        self._content = content
        self._count_tokens = count_tokens

    def make(self, node: tree_sitter.Node, parent: Block, inner: list[tree_sitter.Node]) -> Block:
        """Make the block of a node, whose children will come from some inner nodes."""
        end = inner[0].start_byte if inner else node.end_byte
        text = self._content[node.start_byte : end].decode("utf-8", "replace").strip()
        type, name = _classify(node)
        lines = (node.start_point[0] + 1, (node.start_point if inner else node.end_point)[0] + 1)
        return Block(type, name, lines, text, self._count_tokens(text), parent)


def _add_children(parent: Block, nodes: list[tree_sitter.Node], builder: _Builder, depth: int) -> None:
    for node in nodes:
        if node.type == "block":
            _add_children(parent, node.named_children, builder, depth)
            continue
        inner = _list_inner_nodes(node) if depth else []
        block = builder.make(node, parent, inner)
        _add_children(block, inner, builder, depth - 1)
        parent.children.append(block)
        parent.size += block.size


def _list_inner_nodes(node: tree_sitter.Node) -> list[tree_sitter.Node]:
    """List the bodies and clauses of a compound statement or definition; nothing of any other."""
    inner = _strip_decorators(node)
    if inner.type in _DEFINITIONS:
        body = inner.child_by_field_name("body")
        return [body] if body is not None else []
    if inner.type not in _COMPOUND_STATEMENTS:
        return []
    return [
        child for child in inner.named_children if child.type == "block" or child.type in _COMPOUND_STATEMENTS
    ]


def _strip_decorators(node: tree_sitter.Node) -> tree_sitter.Node:
    decorated = node.child_by_field_name("definition") if node.type == "decorated_definition" else None
    return decorated or node


def _classify(node: tree_sitter.Node) -> tuple[BlockType, str]:
    """Return the type of a block, and its name if it is a definition."""
    inner = _strip_decorators(node)
    if inner.type in _DEFINITIONS:
        named = inner.child_by_field_name("name")
        name = (named.text or b"").decode("utf-8", "replace") if named is not None else ""
        return (BlockType.CONSTRUCTOR if name == "__init__" else _DEFINITIONS[inner.type]), name
    if inner.type in _COMPOUND_STATEMENTS:
        return BlockType.COMPOUND, ""
    is_string = inner.type == "expression_statement" and [c.type for c in inner.named_children] == ["string"]
    return (BlockType.COMMENT if inner.type == "comment" or is_string else BlockType.STATEMENT), ""
