"""Docker Compose: services, volumes, networks, and what services depend on, build from and read."""

from __future__ import annotations

from dowse.code.formats.outline import OutlineNode
from dowse.code.formats.reading import IN_FOLDER, FormatResult, FormatSource, make_item
from dowse.code.formats.yaml_outline import read_documents
from dowse.types.source import Kind

_PARTS = {
    "services": (Kind.SERVICE, "service"),
    "volumes": (Kind.RESOURCE, "volume"),
    "networks": (Kind.RESOURCE, "network"),
    "secrets": (Kind.RESOURCE, "secret"),
    "configs": (Kind.RESOURCE, "config"),
}


def read(source: FormatSource) -> FormatResult:
    """Read the services of a file and what they share."""
    result = FormatResult(apart=frozenset({Kind.SERVICE}))
    for document in read_documents(source.content):
        for part in document.fields():
            if part.key in _PARTS:
                kind, word = _PARTS[part.key]
                for node in part.fields():
                    signature = f"{word} {node.key} {node.text('image')}"
                    result.items.append(make_item(kind, node, f"{word}/{node.key}", signature))
                    if kind is Kind.SERVICE:
                        _link_service(result, node)
            elif part.key == "include":
                for path, row in document.scalars("include"):
                    result.link(path, row, "path")
                for entry in part.children:
                    for path, row in entry.scalars("path"):
                        result.link(path, row, "path")
    return result


def _link_service(result: FormatResult, node: OutlineNode) -> None:
    """Link what a service mentions: other services, its image's source, files, networks and volumes."""
    for key, word in (("depends_on", "service"), ("links", "service"), ("networks", "network")):
        if part := node.get(key):
            named = [(child.key, child.row) for child in part.fields()] or node.scalars(key)
            for name, row in named:
                result.link(f"{word}/{name.partition(':')[0]}", row, IN_FOLDER)
    for key in ("secrets", "configs"):
        for name, row in node.scalars(key):
            result.link(f"{key[:-1]}/{name}", row, IN_FOLDER)
    _link_build(result, node)
    _link_extended(result, node)
    for path, row in node.scalars("env_file"):
        result.link(path, row, "path")
    for value, row in node.scalars("volumes"):
        held = value.partition(":")[0]
        if held.startswith("."):
            result.link(held, row, "path")
        elif "/" not in held:
            result.link(f"volume/{held}", row, IN_FOLDER)


def _link_build(result: FormatResult, node: OutlineNode) -> None:
    build = node.get("build")
    if build is None:
        return
    context = build.value or build.text("context")
    name = build.text("dockerfile") or "Dockerfile"
    result.link(f"{context.rstrip('/')}/{name}" if context else name, build.row, "path")
    for path, row in build.scalars("additional_contexts"):
        result.link(path, row, "path")


def _link_extended(result: FormatResult, node: OutlineNode) -> None:
    extends = node.get("extends")
    if extends is None:
        return
    result.link(extends.text("file"), extends.row, "path")
    result.link(f"service/{extends.value or extends.text('service')}", extends.row, IN_FOLDER)
