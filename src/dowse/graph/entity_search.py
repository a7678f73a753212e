"""Symbol lookup: find entities of the index by id, file, qualified name, name or prefix, and read their code."""

from __future__ import annotations

from collections.abc import Iterator

from dowse.errors import EntityNotFound
from dowse.graph.traversal import Graph
from dowse.stores.protocol import Snapshot
from dowse.types.answers import SearchResult
from dowse.types.graph_values import EntityCode, EntityHit, Node
from dowse.types.source import Kind
from dowse.types.stored import Filter, NameTier

MAX_NAME_MATCHES = 200
"""Definitions of one name that are considered."""

_DECLARATION_WORDS = frozenset({
    "class", "def", "function", "func", "fn", "method", "interface", "struct", "enum", "trait", "type",
})  # fmt: skip
"""Words before a name that only say its kind."""


def match_names(snapshot: Snapshot, query: str, filter: Filter) -> Iterator[EntityHit]:
    """Find entities that the query names by id, file, qualified name or name; most certain first."""
    path, colon, qualified = query.rpartition(":")
    if colon and (file := snapshot.file_at(path)):
        for entity in file.parsed.entities:
            if entity.qualified == qualified:
                yield EntityHit(
                    f"{path}:{qualified}",
                    entity.kind,
                    path,
                    entity.start_line,
                    entity.end_line,
                    entity.signature,
                    "id",
                )
    words = query.split()
    name = words[-1] if len(words) == 2 and words[0] in _DECLARATION_WORDS else query
    if len(name.split()) > 1:
        return
    yield from _match_files(snapshot, name, filter)
    if name.endswith("*"):
        yield from _match_name(snapshot, name[:-1], name, NameTier.PREFIX, filter)
        return
    last = name.replace("::", ".").rpartition(".")[2]
    for tier in (NameTier.EXACT, NameTier.CASE):
        found = list(_match_name(snapshot, last, name, tier, filter))
        yield from found
        if found:
            return


def _match_name(
    snapshot: Snapshot, pattern: str, name: str, tier: NameTier, filter: Filter
) -> list[EntityHit]:
    hits = []
    owner = name.replace("::", ".").rpartition(".")[0]
    for hit in snapshot.names(pattern, tier, filter, MAX_NAME_MATCHES):
        file = snapshot.file(hit.file)
        if file is None:
            continue
        entity = file.parsed.entities[hit.entity]
        dotted = f"{file.path.rpartition('.')[0].replace('/', '.')}.{entity.qualified}".lower()
        if owner and not dotted.endswith(f".{name.replace('::', '.').lower()}"):
            continue
        id = f"{file.path}:{entity.qualified}"
        order = (file.role.value != "source", entity.qualified.count("."), len(file.path), file.path)
        found = EntityHit(
            id, entity.kind, file.path, entity.start_line, entity.end_line, entity.signature, tier.value
        )
        hits.append((order, found))
    return [found for _, found in sorted(hits, key=lambda item: item[0])]


def _match_files(snapshot: Snapshot, name: str, filter: Filter) -> Iterator[EntityHit]:
    if "." not in name and "/" not in name:
        return
    for id in snapshot.find_files_named(name, filter, MAX_NAME_MATCHES):
        if file := snapshot.file(id):
            last = max((chunk.end_line for chunk in file.parsed.chunks), default=1)
            yield EntityHit(file.path, Kind.FILE, file.path, 1, last, "", "file")


def make_hit(snapshot: Snapshot, result: SearchResult) -> EntityHit:
    """Turn a search result into a hit on its entity, with all lines of the entity; on a file, with the lines found."""
    id = f"{result.path}:{result.entity}" if result.entity else result.path
    file = snapshot.file_at(result.path) if result.entity else None
    alike = [e for e in file.parsed.entities if e.qualified == result.entity] if file else []
    around = [e for e in alike if e.start_line <= result.end_line and result.start_line <= e.end_line]
    first, last = result.start_line, result.end_line
    for entity in around[:1]:
        first, last = entity.start_line, entity.end_line
    return EntityHit(id, result.kind, result.path, first, last, result.signature, "content")


def read_code(snapshot: Snapshot, graph: Graph, node: Node, context: int) -> EntityCode:
    """Read the code of a node with some lines of context; for a directory, list what is in it."""
    if node.kind is Kind.DIRECTORY:
        listing = "\n".join(sorted(graph.children.get(node.id, ())))
        return EntityCode(node.id, node.kind, node.id, 0, 0, listing)
    path = graph.file_of(node.id)
    file = snapshot.file_at(path)
    if file is None:
        raise EntityNotFound(f"{path} is not in the index any more: search again")
    lines = snapshot.content(file.id).decode("utf-8", "replace").splitlines()
    first, last = (1, len(lines)) if node.kind is Kind.FILE else (node.start_line, node.end_line)
    first, last = max(1, first - context), min(len(lines), last + context)
    return EntityCode(node.id, node.kind, path, first, last, "\n".join(lines[first - 1 : last]))
