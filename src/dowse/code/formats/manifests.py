"""Package manifests: the project, its dependencies, scripts and entry points, members of a workspace.

npm (``package.json``), Python (``pyproject.toml``, requirements), Cargo, Go modules, Maven and Composer.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from itertools import islice

from dowse.code.formats.json_outline import read_json
from dowse.code.formats.keyed_lines import read_keyed_lines
from dowse.code.formats.outline import OutlineNode, split_flow
from dowse.code.formats.reading import FormatResult, FormatSource, Item, make_item
from dowse.code.formats.script_paths import find_paths
from dowse.types.source import Kind, ReferenceKind

_REQUIREMENT = re.compile(r"\s*[\"']?(?P<name>[A-Za-z][\w.-]*)(?P<rest>[^#\"'\n]*)")
_ENTRY_POINT = re.compile(r"(?P<module>[\w.]+)(?::(?P<name>[\w.]+))?$")
_GO_REPLACE = re.compile(r"=>\s*(?P<path>\.{1,2}/\S+)")
_XML_PART = re.compile(r"<(?P<tag>dependency|parent|plugin)>")
_XML_VALUE = re.compile(r"<(?P<tag>groupId|artifactId|version)>\s*(?P<text>[^<\n]*)")
MAX_SCRIPTS = 200
"""Scripts that are read of one manifest."""

MAX_PART_CHARS = 5_000
"""Length of a dependency."""

MAX_OWN_PARTS = 1_000
"""Dependencies of a file whose own name is told from theirs."""

_XML_MODULE = re.compile(r"<module>(?P<path>[^<\n]{1,300})</module>")
_PATH_VALUE = re.compile(r"\bpath\s*=\s*[\"'](?P<path>[^\"'\n]+)")


def read(source: FormatSource) -> FormatResult:
    """Read a manifest by the rules of its package manager."""
    result = FormatResult()
    base = source.language.bases[0] if source.language.bases else source.language.name
    result.references[ReferenceKind.LINK] = source.find_links(base)
    _READERS[source.language.name](result, source)
    return result


def _make_project(node: OutlineNode, name: str, last: int, version: str, doc: str) -> Item:
    item = make_item(Kind.MODULE, node, f"package/{name}", f"package {name} {version}", name)
    item.first, item.last, item.doc = 1, last + 1, doc
    return item


# --- npm, Composer ---


def _read_npm(result: FormatResult, source: FormatSource) -> None:
    root = read_json(source.content)
    lines = source.content.decode("utf-8", "replace").split("\n")
    if named := root.get("name"):
        project = _make_project(
            named, named.value, root.last_row, root.text("version"), root.text("description")
        )
        result.items.append(project)
    for part in root.fields():
        if part.key.lower().endswith("dependencies") or part.key in ("require", "require-dev"):
            for node in part.fields():
                signature = f"dependency {node.key} {node.value}"
                result.items.append(make_item(Kind.DEPENDENCY, node, f"{part.key}/{node.key}", signature))
        elif part.key == "scripts":
            for node in islice(part.fields(), MAX_SCRIPTS):
                result.items.append(make_item(Kind.KEY, node, f"scripts/{node.key}", f"script {node.key}"))
                for path, row in find_paths(lines, node.row, node.last_row):
                    result.link(path, row, "path")
        elif part.key in ("main", "module", "types", "typings", "browser", "bin", "exports", "files"):
            for node in (part, *part.walk()):
                result.link(node.value, node.row, "path")
        elif part.key == "workspaces":
            for node in part.walk():
                result.link(node.value.removesuffix("/**").removesuffix("/*"), node.row, "path")


# --- Python, Cargo ---


def _read_python(result: FormatResult, source: FormatSource) -> None:
    root = read_keyed_lines(source.content)
    for section in ("project", "tool.poetry"):
        if (part := root.get(section)) and part.text("name"):
            doc = part.text("description")
            result.items.append(
                _make_project(part, part.text("name"), root.last_row, part.text("version"), doc)
            )
    for part in root.fields():
        is_extra = part.key in ("project.optional-dependencies", "dependency-groups")
        for node in part.fields():
            if (part.key == "project" and node.key == "dependencies") or is_extra:
                result.items += _list_requirements(node, node.key)
            elif part.key.startswith("tool.poetry") and part.key.endswith("dependencies"):
                signature = f"dependency {node.key} {node.value}"
                result.items.append(make_item(Kind.DEPENDENCY, node, f"dependencies/{node.key}", signature))
            else:
                name = f"{part.key}.{node.key}"
                result.items.append(make_item(Kind.KEY, node, name, f"{name} = {node.value}", node.key))
            if part.key.endswith(("scripts", "entry-points")) or ".entry-points." in part.key:
                _link_entry_point(result, node)


def _list_requirements(node: OutlineNode, group: str) -> Iterator[Item]:
    """List the dependencies of a list, on one line or on several."""
    values = split_flow(node.value, node.row) if node.value.endswith("]") else []
    for text, row in [*values, *((child.value, child.row) for child in node.children)]:
        if found := _REQUIREMENT.match(text):
            name = found["name"]
            signature = f"dependency {name} {found['rest'].strip(' ,')}"
            yield Item(Kind.DEPENDENCY, name, row + 1, row + 1, f"{group}/{name}", signature)


def _link_entry_point(result: FormatResult, node: OutlineNode) -> None:
    """Link the file of an entry point (``package.module:function``)."""
    if found := _ENTRY_POINT.match(node.value):
        path = found["module"].replace(".", "/")
        for place in (f"{path}.py", f"src/{path}.py", f"{path}/__init__.py", f"src/{path}/__init__.py"):
            result.link(place, node.row, "path")


def _read_requirements(result: FormatResult, source: FormatSource) -> None:
    for row, line in enumerate(source.content.decode("utf-8", "replace").split("\n")):
        if line.startswith(("-r ", "-c ")):
            result.link(line[3:].strip(), row, "path")
        elif found := _REQUIREMENT.match(line):
            name = found["name"]
            signature = f"dependency {name} {found['rest'].strip(' ;')}"
            result.items.append(
                Item(Kind.DEPENDENCY, name, row + 1, row + 1, f"requirements/{name}", signature)
            )


def _read_cargo(result: FormatResult, source: FormatSource) -> None:
    root = read_keyed_lines(source.content)
    if (package := root.get("package")) and package.text("name"):
        doc = package.text("description")
        result.items.append(
            _make_project(package, package.text("name"), root.last_row, package.text("version"), doc)
        )
    for part in root.fields():
        is_dependencies = part.key.endswith("dependencies")
        for node in part.fields():
            if is_dependencies:
                signature = f"dependency {node.key} {node.value}"
                result.items.append(make_item(Kind.DEPENDENCY, node, f"{part.key}/{node.key}", signature))
                if found := _PATH_VALUE.search(node.value):
                    result.link(found["path"], node.row, "path")
            else:
                name = f"{part.key}.{node.key}"
                result.items.append(make_item(Kind.KEY, node, name, f"{name} = {node.value}", node.key))
            if node.key == "path":
                result.link(node.value, node.row, "path")
            elif (part.key, node.key) == ("workspace", "members"):
                values = split_flow(node.value, node.row) if node.value.endswith("]") else []
                for path, row in [*values, *((child.value, child.row) for child in node.children)]:
                    result.link(path.removesuffix("/*"), row, "path")


# --- Go, Maven ---


def _read_go(result: FormatResult, source: FormatSource) -> None:
    for row, line in enumerate(source.content.decode("utf-8", "replace").split("\n")):
        if line.startswith("module "):
            name = line[7:].strip()
            result.items.append(
                Item(Kind.MODULE, name, row + 1, row + 1, f"package/{name}", f"module {name}")
            )
        words = line.removeprefix("require ").split(None, 2)
        if len(words) > 1 and "/" in words[0] and words[1].startswith("v"):
            name = words[0]
            signature = f"dependency {name} {words[1]}"
            result.items.append(Item(Kind.DEPENDENCY, name, row + 1, row + 1, f"require/{name}", signature))
        if found := _GO_REPLACE.search(line):
            result.link(found["path"], row, "path")


def _read_maven(result: FormatResult, source: FormatSource) -> None:
    text = source.content.decode("utf-8", "replace")
    parts = list(_find_xml_parts(text))
    own = text
    for first, last in reversed(parts[:MAX_OWN_PARTS]):
        own = own[:first] + own[last:]
    names = {found["tag"]: found["text"].strip() for found in reversed(list(_XML_VALUE.finditer(own)))}
    if name := names.get("artifactId"):
        signature = f"package {names.get('groupId', '')} {name} {names.get('version', '')}"
        last_line = text.count("\n") + (not text.endswith("\n"))
        item = Item(Kind.MODULE, name, 1, last_line, f"package/{name}", " ".join(signature.split()))
        result.items.append(item)
    row = counted = 0
    for first, last in parts:
        row += text.count("\n", counted, first)
        counted = first
        inside = text[first:last]
        tag = inside[1 : inside.find(">")]
        values = {found["tag"]: found["text"].strip() for found in _XML_VALUE.finditer(inside)}
        if name := values.get("artifactId"):
            signature = f"{tag} {values.get('groupId', '')} {name} {values.get('version', '')}"
            item = Item(Kind.DEPENDENCY, name, row + 1, row + 1 + inside.count("\n"), f"{tag}/{name}")
            item.signature = " ".join(signature.split())
            result.items.append(item)
    for module in _XML_MODULE.finditer(text):
        result.link(f"{module['path'].strip()}/pom.xml", text.count("\n", 0, module.start()), "path")


def _find_xml_parts(text: str) -> Iterator[tuple[int, int]]:
    """Find dependencies, plugins and the parent, from their tags to the closing ones."""
    position = 0
    while found := _XML_PART.search(text, position):
        close = f"</{found['tag']}>"
        end = text.find(close, found.end(), found.end() + MAX_PART_CHARS)
        position = end + len(close) if end >= 0 else found.end()
        if end >= 0:
            yield found.start(), position


_READERS: Mapping[str, Callable[[FormatResult, FormatSource], None]] = {
    "npm-package": _read_npm,
    "composer-package": _read_npm,
    "python-project": _read_python,
    "python-requirements": _read_requirements,
    "cargo-package": _read_cargo,
    "go-module": _read_go,
    "maven-project": _read_maven,
}
