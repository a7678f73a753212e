"""Settings by their dotted keys: TOML, INI, properties and .env files (``server.port``, ``tool.ruff.line-length``)."""

from __future__ import annotations

from collections.abc import Iterator

from dowse.code.formats.keyed_lines import read_keyed_lines
from dowse.code.formats.outline import OutlineNode
from dowse.code.formats.reading import FormatResult, FormatSource, Item, make_item
from dowse.types.source import Kind, ReferenceKind

MAX_KEYS = 2_000
"""Keys of one file that are entities."""


def read(source: FormatSource) -> FormatResult:
    """Read the sections and keys of a file; of TOML also what its language knows of it."""
    result = FormatResult()
    if source.language.links:
        result.references[ReferenceKind.LINK] = source.find_links(source.language.name)
    result.items += list_settings(read_keyed_lines(source.content))
    return result


def list_settings(root: OutlineNode) -> Iterator[Item]:
    """List sections as blocks and keys by the names of section and key together."""
    count = 0
    for node in root.children:
        is_section = node.column == 0
        if is_section:
            yield make_item(Kind.BLOCK, node, node.key, node.key)
        for key in node.fields() if is_section else (node,):
            count += 1
            if count > MAX_KEYS:
                return
            name = f"{node.key}.{key.key}" if is_section else key.key
            yield make_item(
                Kind.KEY, key, name, f"{name} = {key.value}", key.key.rpartition(".")[2] or key.key
            )
