"""OpenAPI and Swagger, in YAML or JSON: operations as routes, schemas as types, references between them.

An operation leads to the function that its ``operationId`` names.
"""

from __future__ import annotations

from dowse.code.formats.json_outline import read_json
from dowse.code.formats.outline import OutlineNode
from dowse.code.formats.reading import HANDLER, IN_FILE, FormatResult, FormatSource, make_item
from dowse.code.formats.yaml_outline import read_documents
from dowse.types.source import Kind

METHODS = frozenset({"get", "put", "post", "delete", "patch", "head", "options", "trace"})

_SCHEMAS = (("components", "schemas"), ("definitions",))
_SHARED = (("components", "parameters"), ("components", "responses"), ("parameters",), ("responses",))


def read(source: FormatSource) -> FormatResult:
    """Read the operations and schemas of a description."""
    result = FormatResult(apart=frozenset({Kind.ROUTE}))
    is_json = source.content.lstrip()[:1] == b"{"
    for document in [read_json(source.content)] if is_json else read_documents(source.content):
        if paths := document.get("paths"):
            for path in paths.fields():
                _read_path(result, path)
        for keys, kind in (
            *((keys, Kind.STRUCT) for keys in _SCHEMAS),
            *((keys, Kind.KEY) for keys in _SHARED),
        ):
            if part := document.get(*keys):
                for node in part.fields():
                    result.items.append(make_item(kind, node, node.key, f"schema {node.key}"))
        for node in document.walk():
            if node.key == "$ref":
                link_reference(result, node)
    return result


def _read_path(result: FormatResult, path: OutlineNode) -> None:
    for operation in path.fields():
        method = operation.key.lower()
        if method not in METHODS:
            continue
        name = f"{method.upper()} {path.key}"
        id = operation.text("operationId")
        item = make_item(Kind.ROUTE, operation, name, f"{name} {id}", name)
        item.doc = operation.text("summary") or operation.text("description")
        result.items.append(item)
        result.link(id.rpartition(".")[2], operation.row, HANDLER)


def link_reference(result: FormatResult, node: OutlineNode) -> None:
    """Link what ``$ref`` names: a file, or a type of this one."""
    path, sign, inside = node.value.partition("#")
    if path:
        result.link(path, node.row, "path")
    elif sign:
        result.link(inside.rpartition("/")[2], node.row, IN_FILE)
