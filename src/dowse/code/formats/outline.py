"""Outline of structured text (YAML, JSON): a tree of keys, values and list items with the lines they are on."""

from __future__ import annotations

from collections.abc import Iterator

MAX_NODES = 60_000
"""Keys and items that are read of one file: what comes after is text without structure."""


class OutlineNode:
    """A key with its value, or an item of a list. Rows are 0-based, the last one included.

    ``doc`` is the comment above, which begins at ``first_row``.
    """

    __slots__ = ("children", "column", "doc", "first_row", "is_item", "key", "last_row", "row", "value")

    def __init__(self, key: str, value: str, row: int, column: int, *, is_item: bool = False) -> None:
        self.key = key
        self.value = value
        self.row = self.first_row = row
        self.doc = ""
        self.last_row = row
        self.column = column
        self.is_item = is_item
        self.children: list[OutlineNode] = []

    def get(self, *keys: str) -> OutlineNode | None:
        """Find the node that a path of keys leads to."""
        node: OutlineNode | None = self
        for key in keys:
            node = next((child for child in node.children if child.key == key), None) if node else None
        return node

    def text(self, *keys: str) -> str:
        """Return the scalar that a path of keys leads to; empty if there is none."""
        node = self.get(*keys)
        return node.value if node else ""

    def fields(self) -> Iterator[OutlineNode]:
        """Yield the keys directly below."""
        return (child for child in self.children if not child.is_item)

    def items(self, *keys: str) -> list[OutlineNode]:
        """Return the list items below a path of keys; nothing if it is no list."""
        node = self.get(*keys)
        return [child for child in node.children if child.is_item] if node else []

    def scalars(self, *keys: str) -> list[tuple[str, int]]:
        """Return the scalars that a path of keys leads to, one or a list of them, each with its row."""
        node = self.get(*keys)
        if node is None:
            return []
        if node.value:
            return split_flow(node.value, node.row)
        return [(child.value, child.row) for child in node.children if child.is_item and child.value]

    def walk(self) -> Iterator[OutlineNode]:
        """Yield everything below, each node before what is in it."""
        waiting = list(reversed(self.children))
        while waiting:
            node = waiting.pop()
            yield node
            waiting.extend(reversed(node.children))


def split_flow(value: str, row: int) -> list[tuple[str, int]]:
    """Split ``[a, b]`` into its items; any other value is the only one."""
    if not (value.startswith("[") and value.endswith("]")):
        return [(value, row)]
    parts = (part.strip().strip("\"'") for part in value[1:-1].split(","))
    return [(part, row) for part in parts if part]
