"""Finds what a file mentions: imports, calls, base types. Which definitions they mean is not decided here."""

from __future__ import annotations

import json
import zlib
from collections.abc import Sequence

import tree_sitter

from dowse.code import parsing
from dowse.code.languages.base import Language
from dowse.types import Entity, Kind, Outline, Reference, ReferenceKind

COMPRESSION = 1
"""zlib level: a fifth of the size for a twentieth of the time of finding what is packed."""

_KINDS = tuple((kind.value, kind) for kind in ReferenceKind)
_QUOTES = ('""', "''", "``", "<>")


def find(language: Language, tree: tree_sitter.Tree, content: bytes) -> tuple[Reference, ...]:
    """The references of a file in order of position, each once per line."""
    if not language.references:
        return ()
    cursor = tree_sitter.QueryCursor(parsing.query(language.grammar, language.references))
    found: list[tuple[int, Reference]] = []
    for _, captures in cursor.matches(tree.root_node):
        for name, kind in _KINDS:
            if nodes := captures.get(name):
                target = _target(nodes, content)
                if target:
                    found.append((nodes[0].start_byte, Reference(kind, target, nodes[0].start_point[0] + 1)))
    found.sort(key=lambda item: item[0])
    return tuple(dict.fromkeys(reference for _, reference in found))


def _target(nodes: list[tree_sitter.Node], content: bytes) -> str:
    """The text from the first to the last node: a repeated capture is a name that the grammar takes apart."""
    raw = content[nodes[0].start_byte : nodes[-1].end_byte].decode("utf-8", "replace")
    text = " ".join(raw.split())
    return text[1:-1] if text[:1] + text[-1:] in _QUOTES else text


def pack(entities: Sequence[Entity], references: Sequence[Reference]) -> bytes:
    """What the graph needs of a file, small: a store keeps it as it is."""
    rows = [[e.qualified, e.kind, e.start_line, e.end_line, e.line, e.parent] for e in entities]
    data = json.dumps([rows, references], ensure_ascii=False, separators=(",", ":"))
    return zlib.compress(data.encode(), COMPRESSION)


def unpack(packed: bytes) -> tuple[tuple[Outline, ...], tuple[Reference, ...]]:
    """What was packed."""
    entities, references = json.loads(zlib.decompress(packed))
    return (
        tuple(Outline(row[0], Kind(row[1]), *row[2:]) for row in entities),
        tuple(Reference(ReferenceKind(row[0]), *row[1:]) for row in references),
    )
