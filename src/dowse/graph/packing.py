"""The graph as bytes, to be kept beside the index: strings once, everything else by their numbers."""

from __future__ import annotations

import json
import zlib
from typing import Any

from dowse.graph.build import FileGraph, Files, uncollected
from dowse.types import Certainty, Edge, Kind, Node, Relation, Role

VERSION = 3
"""Raise it when the same index gives another graph, or the same graph other bytes."""

COMPRESSION = 1

_RELATIONS = list(Relation)
_CERTAINTIES = list(Certainty)
_KINDS = {kind.value: kind for kind in Kind}


def pack(files: Files) -> bytes:
    """The bytes of a graph."""
    numbers: dict[str, int] = {}

    def number(text: str) -> int:
        return numbers.setdefault(text, len(numbers))

    rows = [_row(path, file, number) for path, file in files.items()]
    data = json.dumps([VERSION, list(numbers), rows], ensure_ascii=False, separators=(",", ":"))
    return zlib.compress(data.encode("utf-8", "surrogatepass"), COMPRESSION)


def unpack(data: bytes | None) -> Files:
    """The graph of some bytes; an empty one if they are missing, damaged or of another version."""
    if not data:
        return {}
    try:
        version, strings, rows = json.loads(zlib.decompress(data))
    except (ValueError, zlib.error):
        return {}
    if version != VERSION:
        return {}
    with uncollected():
        return dict(_file(row, strings) for row in rows)


def _row(path: str, file: FileGraph, number: Any) -> list[Any]:
    skip = len(path) + 1
    return [
        path,
        file.content_hash.hex(),
        file.language,
        file.role,
        file.interface.hex(),
        [[n.id[skip:], n.kind, n.start_line, n.end_line, n.line] for n in file.nodes],
        file.names,
        [
            [
                number(e.source),
                number(e.target),
                _RELATIONS.index(e.relation),
                _CERTAINTIES.index(e.certainty),
                e.line,
                *map(number, e.candidates),
            ]
            for e in file.edges
        ],
        sorted(map(number, file.looked_at)),
    ]


def _file(row: list[Any], strings: list[str]) -> tuple[str, FileGraph]:
    path, digest, language, role, interface, nodes, names, edges, looked_at = row
    return path, FileGraph(
        bytes.fromhex(digest),
        language,
        Role(role),
        bytes.fromhex(interface),
        tuple(Node(f"{path}:{name}", _KINDS[kind], *lines) for name, kind, *lines in nodes),
        tuple((name, scope) for name, scope in names),
        tuple(
            Edge(
                strings[source],
                strings[target],
                _RELATIONS[relation],
                _CERTAINTIES[certainty],
                line,
                tuple(strings[c] for c in candidates),
            )
            for source, target, relation, certainty, line, *candidates in edges
        ),
        frozenset(strings[key] for key in looked_at),
    )
