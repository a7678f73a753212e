"""Protocol Buffers and gRPC: messages, enumerations, services with their calls, and the types that these mention."""

from __future__ import annotations

import re

from dowse.code.formats.brace_blocks import BlockReader, BraceBlock
from dowse.code.formats.reading import IN_FILE, IN_TREE, FormatResult, FormatSource, Item
from dowse.types.source import Kind

_DEFINITION = re.compile(r"(?P<word>message|enum|service|extend|rpc|oneof)\s+(?P<name>[\w.]+)")
_KINDS = {
    "message": Kind.STRUCT,
    "enum": Kind.ENUM,
    "service": Kind.SERVICE,
    "rpc": Kind.METHOD,
}
_IMPORT = re.compile(r'import\s+(?:public\s+|weak\s+)?"(?P<path>[^"\n]+)"')
_FIELD = re.compile(
    r"(?:(?:optional|required|repeated)\s+)?(?:map\s*<\s*\w+\s*,\s*)?\.?(?P<type>[\w.]+)\s*>?\s+\w+\s*="
)
_CALL_TYPES = re.compile(r"\(\s*(?:stream\s+)?\.?(?P<type>[\w.]+)\s*\)")


def read(source: FormatSource) -> FormatResult:
    """Read the definitions of a file."""
    result = FormatResult()
    root = BlockReader(ends_with_line=False).read(source.content.decode("utf-8", "replace"))
    waiting = [(block, "") for block in reversed(root.children)]
    while waiting:
        block, around = waiting.pop()
        inside = _read_block(result, block, around)
        waiting += [(inner, inside) for inner in reversed(block.children)]
    return result


def _read_block(result: FormatResult, block: BraceBlock, around: str) -> str:
    """Read a statement, and return the name that what is in it is qualified by."""
    if found := _IMPORT.match(block.head):
        result.link(found["path"], block.row, "path")
        return around
    found = _DEFINITION.match(block.head)
    if found is None:
        if around and (mention := _FIELD.match(block.head)):
            _link_type(result, mention["type"], block.row, around)
        return around
    word, name = found["word"], found["name"]
    if word not in _KINDS:
        return around
    qualified = f"{around}.{name}" if around else name
    result.items.append(
        Item(
            _KINDS[word],
            name,
            block.first_row + 1,
            block.last_row + 1,
            qualified,
            block.head,
            block.doc,
            block.row + 1,
        )
    )
    if word == "rpc":
        for mention in _CALL_TYPES.finditer(block.head):
            _link_type(result, mention["type"], block.row, around)
    return qualified


def _link_type(result: FormatResult, name: str, row: int, around: str) -> None:
    """Link a type by its name, without the package in front of it, or as one of a message around."""
    while around:
        result.link(f"{around}.{name}", row, IN_FILE)
        around = around.rpartition(".")[0]
    parts = name.split(".")
    first = next((n for n, part in enumerate(parts) if part[:1].isupper()), None)
    if first is not None:
        result.link(".".join(parts[first:]), row, IN_TREE)
