"""JSON Schema, in JSON or YAML: the schema and its definitions as types, and references between them."""

from __future__ import annotations

from dowse.code.formats.json_outline import read_json
from dowse.code.formats.openapi import link_reference
from dowse.code.formats.reading import FormatResult, FormatSource, make_item
from dowse.code.formats.yaml_outline import read_documents
from dowse.types.source import Kind

_DEFINITIONS = ("$defs", "definitions")


def read(source: FormatSource) -> FormatResult:
    """Read the types of a schema."""
    result = FormatResult()
    is_json = source.content.lstrip()[:1] == b"{"
    for document in [read_json(source.content)] if is_json else read_documents(source.content):
        title = document.text("title")
        if title:
            item = make_item(Kind.STRUCT, document, title, f"schema {title}", title)
            item.doc = document.text("description")
            result.items.append(item)
        for key in _DEFINITIONS:
            for node in found.fields() if (found := document.get(key)) else ():
                result.items.append(make_item(Kind.STRUCT, node, node.key, f"schema {node.key}"))
        for node in document.walk():
            if node.key == "$ref":
                link_reference(result, node)
    return result
