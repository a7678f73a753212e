"""TOML, INI, properties and .env as outlines: sections, and keys with their values, line by line.

No value is parsed: what counts is which key is on which line, and what is written there.
"""

from __future__ import annotations

import re

from dowse.code.formats.outline import MAX_NODES, OutlineNode

MAX_LINE_CHARS = 2_000

_MULTILINE = ('"""', "'''")


def read_keyed_lines(content: bytes) -> OutlineNode:
    """Read a file as a node without a key, whose children are its sections and the keys before them."""
    root = OutlineNode("", "", 0, -1)
    holder, last, depth, quote = root, root, 0, ""
    comments: list[str] = []
    for row, raw in enumerate(content.decode("utf-8", "replace").split("\n")[:MAX_NODES]):
        line = raw[:MAX_LINE_CHARS].strip()
        if quote or depth > 0:  # inside a value of several lines
            last.last_row = row
            quote = "" if quote and quote in line else quote
            depth += 0 if quote else _count_brackets(line)
            if depth and line and line[0] not in "#[]{}":
                last.children.append(OutlineNode("", line.strip(" ,\"'"), row, 2, is_item=True))
        elif not line:
            comments.clear()
        elif line[0] in "#;!":
            comments.append(line.lstrip("#;! "))
        elif line[0] == "[" and "]" in line:
            name = line[: line.find("]")].strip("[ \"'")
            holder = last = _add(root, OutlineNode(name, "", row, 0), comments)
        elif (found := _split_key(line)) and (raw[0] not in " \t" or last is holder or holder.column == 0):
            key, value = found
            last = _add(holder, OutlineNode(key, value.strip("\"'"), row, 1), comments)
            quote = next((q for q in _MULTILINE if value.startswith(q) and value.count(q) == 1), "")
            depth = _count_brackets(value) if value[:1] in ("[", "{") else 0
        else:
            last.last_row = row
    _close(root)
    return root


def _split_key(line: str) -> tuple[str, str] | None:
    """Split a line at its first equals sign or colon, or at the one behind a key in quotes; None without a key."""
    line = line.removeprefix("export ")
    start = line.find(line[0], 1) if line[:1] in ("'", '"') else 0
    signs = [place for place in (line.find("=", start), line.find(":", start)) if place > 0]
    key = line[: min(signs)].strip().strip("\"'") if start >= 0 and signs else ""
    return (key, line[min(signs) + 1 :].strip()) if key else None


def _add(holder: OutlineNode, node: OutlineNode, comments: list[str]) -> OutlineNode:
    node.first_row -= len(comments)
    node.doc = "\n".join(comments)
    comments.clear()
    holder.children.append(node)
    return node


def _count_brackets(line: str) -> int:
    """Count the brackets that a line opens, less those that it closes."""
    if '"' in line or "'" in line:
        line = re.sub(r"\"[^\"]*\"|'[^']*'", "", line)
    line = line.partition("#")[0]
    return line.count("[") + line.count("{") - line.count("]") - line.count("}")


def _close(root: OutlineNode) -> None:
    """Let each section reach to the last line of what is in it."""
    for node in root.children:
        if node.children:
            node.last_row = max(node.last_row, node.children[-1].last_row)
    root.last_row = root.children[-1].last_row if root.children else 0
