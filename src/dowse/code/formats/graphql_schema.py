"""GraphQL: types with their fields, operations and fragments, and the types that they mention.

The fields of ``Query``, ``Mutation`` and ``Subscription`` are methods: they are what a server resolves.
"""

from __future__ import annotations

import re

from dowse.code.formats.brace_blocks import BlockReader, BraceBlock
from dowse.code.formats.reading import IN_TREE, FormatResult, FormatSource, Item
from dowse.types.source import Kind

_DEFINITION = re.compile(
    r"(?:extend\s+)?(?P<word>type|interface|input|enum|union|scalar|directive|query|mutation|subscription|fragment)"
    r"\s+@?(?P<name>\w+)"
)
_KINDS = {
    "type": Kind.STRUCT, "input": Kind.STRUCT, "interface": Kind.INTERFACE, "enum": Kind.ENUM, "union": Kind.TYPE,
    "scalar": Kind.TYPE, "directive": Kind.MACRO, "query": Kind.FUNCTION, "mutation": Kind.FUNCTION,
    "subscription": Kind.FUNCTION, "fragment": Kind.FUNCTION,
}  # fmt: skip
_ROOT_TYPES = frozenset({"Query", "Mutation", "Subscription"})
_FIELD = re.compile(r"(?P<name>\w+)\s*(?P<arguments>\([^)]*\))?\s*:")
_TYPE = re.compile(r"\b[A-Z]\w*\b")
_BUILT_IN = frozenset({"Int", "Float", "String", "Boolean", "ID"})


def read(source: FormatSource) -> FormatResult:
    """Read the definitions of a schema, or the operations of a client."""
    result = FormatResult()
    root = BlockReader(ends_with_line=True).read(source.content.decode("utf-8", "replace"))
    for block in root.children:
        if found := _DEFINITION.match(block.head):
            result.items.append(_make_item(block, _KINDS[found["word"]], found["name"], found["name"]))
            _link_types(result, block.head[found.end() :], block.row, found["name"])
            for field in block.children:
                _read_field(result, field, found["name"])
    return result


def _make_item(block: BraceBlock, kind: Kind, name: str, qualified: str) -> Item:
    first, last = block.first_row + 1, block.last_row + 1
    return Item(kind, name, first, last, qualified, block.head, block.doc, block.row + 1)


def _read_field(result: FormatResult, field: BraceBlock, owner: str) -> None:
    found = _FIELD.match(field.head)
    if found is None:
        return
    if owner in _ROOT_TYPES:
        result.items.append(_make_item(field, Kind.METHOD, found["name"], f"{owner}.{found['name']}"))
    _link_types(result, field.head[found.end("name") :], field.row, owner)


def _link_types(result: FormatResult, text: str, row: int, owner: str) -> None:
    for name in dict.fromkeys(_TYPE.findall(text)):
        if name not in _BUILT_IN and name != owner:
            result.link(name, row, IN_TREE)
