"""Storage format of the code graph: a string table, and columns of integers for nodes, names, edges and lookups.

A column covers all files, so that no Python code runs per edge: there are hundreds of thousands.
"""

from __future__ import annotations

import zlib
from array import array
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, islice
from typing import Any, TypeVar

from dowse.gc_pause import gc_paused
from dowse.graph.build import FileGraph, FileGraphs
from dowse.serialization import deflate, inflate, pack_columns, unpack_columns
from dowse.types.graph_values import Certainty, Edge, Node, Relation
from dowse.types.source import Kind, Role
from dowse.types.stored import make_rows

VERSION = 6
"""Increase it when the same index gives another graph, or the same graph other bytes."""

_RELATIONS = list(Relation)
_CERTAINTIES = list(Certainty)
_KINDS = list(Kind)
_NODE_COLUMNS, _NAME_COLUMNS, _EDGE_COLUMNS = 5, 2, 6
_COLUMNS = _NODE_COLUMNS + _NAME_COLUMNS + _EDGE_COLUMNS + 2
"""Columns in all: an edge's candidates are two, and lookups are one."""

_SIZES_PER_FILE = 4
"""Numbers stored per file: how many nodes, names, edges and lookups it has."""

T = TypeVar("T")


class _StringTable(dict[str, int]):
    """Numbers strings in the order in which they are first asked for."""

    def __missing__(self, text: str) -> int:
        number = self[text] = len(self)
        return number


# --- encode ---


def pack(files: FileGraphs) -> bytes:
    """Encode a graph as bytes."""
    strings = _StringTable()
    with gc_paused():
        columns = [array("I", column) for column in _encode_columns(files.values(), strings)]
    rows = [
        (path, f.content_hash.hex(), f.language, f.role, f.interface.hex(), *map(len, f[4:]))
        for path, f in files.items()
    ]
    return deflate(pack_columns([VERSION, list(strings), rows], columns))


def _encode_columns(files: Iterable[FileGraph], strings: _StringTable) -> Iterator[Iterable[int]]:
    number = strings.__getitem__
    ids, kinds, *lines = _transpose((file.nodes for file in files), _NODE_COLUMNS)
    yield from (map(number, ids), map(_number_values(_KINDS), kinds), *lines)
    names, scopes = _transpose((file.names for file in files), _NAME_COLUMNS)
    yield from (map(number, names), scopes)
    sources, targets, relations, certainties, at, candidates = _transpose(
        (file.edges for file in files), _EDGE_COLUMNS
    )
    yield from (map(number, sources), map(number, targets))
    yield from (map(_number_values(_RELATIONS), relations), map(_number_values(_CERTAINTIES), certainties))
    yield from (at, map(len, candidates), map(number, chain.from_iterable(candidates)))
    yield map(number, chain.from_iterable(file.lookups for file in files))


def _transpose(rows: Iterable[Iterable[tuple[Any, ...]]], columns: int) -> list[tuple[Any, ...]]:
    return list(zip(*chain.from_iterable(rows), strict=True)) or [()] * columns


def _number_values(values: list[T]) -> Any:
    return {value: place for place, value in enumerate(values)}.__getitem__


# --- decode ---


def unpack(data: bytes | None) -> FileGraphs:
    """Decode a graph; return an empty one if the bytes are missing, corrupt or of another version."""
    if not data:
        return {}
    try:
        (version, strings, rows), columns, rest = unpack_columns(inflate(data), _COLUMNS)
        if version != VERSION or rest:
            return {}
        _validate(strings, rows)
        with gc_paused():
            return _decode_files(strings, rows, iter(columns))
    except (ValueError, TypeError, LookupError, StopIteration, zlib.error):
        return {}


def _validate(strings: list[Any], rows: list[Any]) -> None:
    """Raise ``ValueError`` if the tables have wrong types."""
    if not all(type(text) is str for text in strings):
        raise ValueError("a string is none")
    for row in rows:
        texts, sizes = row[:5], row[5:]
        if not all(type(text) is str for text in texts) or len(sizes) != _SIZES_PER_FILE:
            raise ValueError("a file is not whole")
        if not all(type(n) is int and n >= 0 for n in sizes):
            raise ValueError("a size is no number")


def _decode_files(strings: list[str], rows: list[Any], columns: Iterator[Sequence[int]]) -> FileGraphs:
    def decode(values: list[T]) -> Iterator[T]:
        return map(values.__getitem__, next(columns))

    nodes = make_rows(
        Node,
        zip(decode(strings), decode(_KINDS), *islice(columns, _NODE_COLUMNS - 2), strict=True),
    )
    names = zip(decode(strings), next(columns), strict=True)
    columns_of_edges = (
        decode(strings),
        decode(strings),
        decode(_RELATIONS),
        decode(_CERTAINTIES),
        next(columns),
    )
    counts, candidates = next(columns), decode(strings)
    meant = (tuple(islice(candidates, n)) if n else () for n in counts)
    edges = make_rows(Edge, zip(*columns_of_edges, meant, strict=True))
    lookups = decode(strings)
    return {
        path: FileGraph(
            bytes.fromhex(digest),
            language,
            Role(role),
            bytes.fromhex(interface),
            tuple(islice(nodes, sizes[0])),
            tuple(islice(names, sizes[1])),
            tuple(islice(edges, sizes[2])),
            frozenset(islice(lookups, sizes[3])),
        )
        for path, digest, language, role, interface, *sizes in rows
    }
