"""Avro: records, enumerations, fixed types and protocols, in JSON or in its own language, and types they mention."""

from __future__ import annotations

import re

from dowse.code.formats.brace_blocks import BlockReader, BraceBlock
from dowse.code.formats.json_outline import read_json
from dowse.code.formats.outline import OutlineNode
from dowse.code.formats.reading import IN_TREE, FormatResult, FormatSource, Item, make_item
from dowse.types.source import Kind

_KINDS = {
    "record": Kind.STRUCT,
    "error": Kind.STRUCT,
    "enum": Kind.ENUM,
    "fixed": Kind.TYPE,
    "protocol": Kind.SERVICE,
}
_PRIMITIVES = frozenset(
    "null boolean int long float double bytes string array map record enum fixed error request decimal date "
    "timestamp_ms time_ms local_timestamp_ms uuid void union".split()
)
_TYPE_KEYS = frozenset({"type", "items", "values", "response", "errors"})
_ANNOTATION = re.compile(r"@[\w-]+\([^()]*\)\s*")
_DEFINITION = re.compile(r"(?P<word>record|error|enum|fixed|protocol)\s+`?(?P<name>\w+)")
_IMPORT = re.compile(r'import\s+(?:idl|protocol|schema)\s+"(?P<path>[^"\n]+)"')
_MENTION = re.compile(r"[A-Za-z_][\w.]*")


def read(source: FormatSource) -> FormatResult:
    """Read the definitions of a file."""
    result = FormatResult()
    if source.content.lstrip()[:1] in (b"{", b"["):
        _read_json(result, read_json(source.content))
        return result
    waiting = BlockReader(ends_with_line=False).read(source.content.decode("utf-8", "replace")).children[::-1]
    while waiting:
        block = waiting.pop()
        _read_block(result, block)
        waiting += reversed(block.children)
    return result


def _read_json(result: FormatResult, root: OutlineNode) -> None:
    for node in (root, *root.walk()):
        word, name = node.text("type"), node.text("name")
        if word in _KINDS and name:
            first = make_item(_KINDS[word], node, name.rpartition(".")[2], f"{word} {name}")
            first.name, first.doc = first.qualified, node.text("doc")
            result.items.append(first)
        elif protocol := node.text("protocol"):
            result.items.append(make_item(Kind.SERVICE, node, protocol, f"protocol {protocol}", protocol))
        elif node.key == "messages":
            result.items += (
                make_item(Kind.METHOD, call, call.key, f"call {call.key}") for call in node.fields()
            )
        if node.key in _TYPE_KEYS:
            for value, row in [(node.value, node.row), *node.scalars()]:
                _link_type(result, value, row)


def _read_block(result: FormatResult, block: BraceBlock) -> None:
    head = _ANNOTATION.sub("", block.head)
    if found := _IMPORT.match(head):
        result.link(found["path"], block.row, "path")
    elif found := _DEFINITION.match(head):
        lines = (block.first_row + 1, block.last_row + 1)
        kind, name = _KINDS[found["word"]], found["name"]
        result.items.append(Item(kind, name, *lines, name, head, block.doc, block.row + 1))
    else:
        of_union = [inner.head for inner in block.children] if head == "union" else []
        types = [mention[0] for mention in _MENTION.finditer(head)][:-1]  # the last is the name of a field
        for name in (*types, *(one for text in of_union for one in _MENTION.findall(text))):
            _link_type(result, name, block.row)


def _link_type(result: FormatResult, name: str, row: int) -> None:
    """Link a type by its name, without the namespace in front of it."""
    last = name.rpartition(".")[2]
    if last[:1].isupper() and last not in _PRIMITIVES:
        result.link(last, row, IN_TREE)
