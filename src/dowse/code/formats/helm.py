"""Helm charts: the chart with its dependencies, values by their dotted keys, templates and what they define.

A template is no valid YAML before it is rendered, so manifests are read line by line. ``include`` and ``template`` lead
to what is defined, ``.Values.a.b`` to the key of the chart's values.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from dowse.code.formats.kubernetes import read_resources
from dowse.code.formats.outline import OutlineNode
from dowse.code.formats.reading import IN_CHART, IN_TREE, FormatResult, FormatSource, Item, make_item
from dowse.code.formats.yaml_outline import read_documents
from dowse.types.source import Kind

MAX_KEYS = 2_000
"""Keys of a file of values that are entities."""

_ACTION = re.compile(r"\{\{-?\s*(?P<word>define|block|if|range|with|end)\b(?:\s+\"(?P<name>[^\"\n]+)\")?")
_INCLUDE = re.compile(r'\b(?:include|template|block)\s+"(?P<name>[^"\n]+)"')
_VALUE = re.compile(r"\.Values\.(?P<key>[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*)")
_COMMENT = re.compile(r"\{\{-?\s*/\*(.*?)\*/", re.DOTALL)


def read(source: FormatSource) -> FormatResult:
    """Read a chart, a file of values, or a template."""
    if b"{{" in source.content and not source.name.startswith(("Chart.", "values")):
        return _read_template(source.content)
    documents = read_documents(source.content)
    result = FormatResult()
    for document in documents:
        if source.name.startswith("Chart."):
            _read_chart(result, document)
        else:
            result.items += list_keys(document, MAX_KEYS - len(result.items))
    return result


def list_keys(document: OutlineNode, limit: int) -> Iterator[Item]:
    """List the keys of a document with their dotted names; of a list, only what is above it."""
    waiting = [(child, child.key) for child in reversed(document.children) if not child.is_item]
    while waiting and limit > 0:
        node, name = waiting.pop()
        limit -= 1
        shown = f"{name}: {node.value}" if node.value else name
        yield make_item(Kind.KEY, node, name, shown)
        waiting += [(child, f"{name}.{child.key}") for child in reversed(node.children) if not child.is_item]


def _read_chart(result: FormatResult, document: OutlineNode) -> None:
    name = document.text("name")
    chart = Item(Kind.MODULE, name, 1, document.last_row + 1, f"Chart/{name}")
    chart.signature = f"chart {name} {document.text('version')}"
    chart.doc = document.text("description")
    result.items.append(chart)
    for dependency in document.items("dependencies"):
        wanted = dependency.text("name")
        signature = f"dependency {wanted} {dependency.text('version')} {dependency.text('repository')}"
        result.items.append(
            make_item(Kind.DEPENDENCY, dependency, f"Chart/{name}/{wanted}", signature, wanted)
        )
        repository = dependency.text("repository")
        local = repository.removeprefix("file://") if repository.startswith("file://") else f"charts/{wanted}"
        result.link(local, dependency.row, "path")


def _read_template(content: bytes) -> FormatResult:
    result = read_resources(content)
    text = content.decode("utf-8", "replace")
    lines = text.split("\n")
    result.items += _list_defines(lines)
    for row, line in enumerate(lines):
        if "{{" not in line and ".Values" not in line:
            continue
        for found in _INCLUDE.finditer(line):
            result.link(found["name"], row, IN_TREE)
        for found in _VALUE.finditer(line):
            result.link(found["key"], row, IN_CHART)
    return result


def _list_defines(lines: list[str]) -> Iterator[Item]:
    """List what a template defines, each up to its ``end``, with the comment above it."""
    stack: list[tuple[str, int]] = []
    for row, line in enumerate(lines):
        for found in _ACTION.finditer(line):
            if found["word"] != "end":
                is_definition = found["word"] == "define"
                stack.append((found["name"] or "" if is_definition else "", row))
            elif stack:
                name, start = stack.pop()
                if name:
                    doc = _read_comment(lines, start)
                    signature = lines[start].strip().strip("{}- ")
                    yield Item(Kind.TEMPLATE, name, start + 1, row + 1, name, signature, doc)


def _read_comment(lines: list[str], row: int) -> str:
    """Read the comment of a template directly above a line."""
    above = "\n".join(line[:500] for line in lines[max(0, row - 6) : row])
    found = list(_COMMENT.finditer(above))
    if not found or above[found[-1].end() :].strip("-} \n"):
        return ""
    return " ".join(found[-1][1].split())
