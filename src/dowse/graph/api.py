"""What can be asked of the code graph, for every interface: names to nodes, then a walk.

A name that several things have is never picked silently: the error lists them for choosing.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import replace
from difflib import get_close_matches
from pathlib import Path
from typing import Protocol

from dowse.errors import EntityAmbiguous, EntityNotFound, UsageError
from dowse.graph import build, centrality, git_diff, graph_codec
from dowse.graph.scopes import CLASSES, FUNCTIONS
from dowse.graph.traversal import Graph
from dowse.stores.protocol import Snapshot
from dowse.types import (
    Affected,
    Certainty,
    Direction,
    EntityCode,
    EntityHit,
    Filter,
    GraphAnswer,
    Hub,
    Kind,
    NameTier,
    Node,
    SearchResult,
    Walk,
)

KEPT = "graph"
"""The name under which the resolved graph is kept beside the index."""

LISTED = 20
"""Candidates that an error lists."""

NAME_DEPTH = 200
"""Definitions of a name that are looked at."""

NEAR_CALL, NEAR_PARTNER, NEAR_IMPORT, NEAR_CLOSURE = 0.8, 0.8, 0.6, 0.3
"""How near a file is to a cursor: called from there, its test, imported there, imported by what is imported there."""

AROUND = 8
"""Dependencies and dependents listed with a hit."""

COMPANIONS = 10
"""Files listed that usually change with a change."""

_DECLARING = frozenset({
    "class", "def", "function", "func", "fn", "method", "interface", "struct", "enum", "trait", "type",
})  # fmt: skip
"""Words before a name that only say what it is."""


class Source(Protocol):
    """Where the graph comes from: an engine."""

    root: Path

    def fresh(self) -> AbstractContextManager[Snapshot]:
        """The index as the disk is."""
        ...

    def keep(self, name: str, data: bytes) -> None:
        """Keep something beside the index, if that can be done."""
        ...

    def kept(self, name: str) -> bytes | None:
        """What was kept."""
        ...

    def found(self, query: str, filter: Filter, limit: int) -> Sequence[SearchResult]:
        """What a search finds."""
        ...


class CodeGraph:
    """The graph of a tree, kept up to date, and its questions."""

    def __init__(self, source: Source) -> None:
        self._source = source
        self._graph: Graph | None = None

    def load(self) -> Graph:
        """The graph of the tree as it is now."""
        with self._source.fresh() as snapshot:
            return self._loaded(snapshot)

    def _loaded(self, snapshot: Snapshot) -> Graph:
        known = self._graph.files if self._graph else graph_codec.unpack(self._source.kept(KEPT))
        files = build.updated(snapshot, known)
        if files is not known:
            self._source.keep(KEPT, graph_codec.pack(files))
        if self._graph is None or files is not known:
            self._graph = Graph(files)
        return self._graph

    def one(self, name: str, kinds: frozenset[Kind] = frozenset()) -> Node:
        """The one node that a name means; an error that lists them if there are several."""
        return _one(self.load(), name, kinds)

    # --- walks ---

    def callers(self, symbol: str, walk: Walk | None = None) -> GraphAnswer:
        """Who calls a function, a method or a class."""
        graph = self.load()
        node = _one(graph, symbol, FUNCTIONS | CLASSES)
        return graph.neighbours("callers", node.id, walk or Walk(), backward=True)

    def callees(self, symbol: str, walk: Walk | None = None) -> GraphAnswer:
        """What a function, a method, a class or a file calls."""
        graph = self.load()
        node = _one(graph, symbol, FUNCTIONS | CLASSES | {Kind.FILE})
        return graph.neighbours("callees", node.id, walk or Walk(), backward=False)

    def deps(self, file: str, walk: Walk | None = None) -> GraphAnswer:
        """The files that a file or folder depends on."""
        graph = self.load()
        node = _one(graph, file, frozenset({Kind.FILE, Kind.DIRECTORY}))
        starts = [member for member in graph.members(node.id) if member in graph.files]
        walk = replace(walk or Walk(depth=1), direction=Direction.USES)
        return graph.dependencies("deps", starts if node.kind is Kind.DIRECTORY else [node.id], walk)

    def impact(self, target: str, walk: Walk | None = None) -> GraphAnswer:
        """What depends on a file, a folder or a symbol."""
        graph = self.load()
        node = _one(graph, target)
        return graph.impact("impact", node.id, replace(walk or Walk(depth=5), direction=Direction.USED_BY))

    def traverse(self, ids: Sequence[str], walk: Walk | None = None) -> GraphAnswer:
        """Everything around some nodes."""
        graph = self.load()
        return graph.walk("traverse", [_one(graph, id).id for id in ids], walk or Walk())

    def hierarchy(self, symbol: str, depth: int = -1) -> GraphAnswer:
        """The classes above and below a class."""
        graph = self.load()
        return graph.hierarchy(_one(graph, symbol, CLASSES).id, Walk(depth=depth))

    def path(self, start: str, end: str, *, ambiguous: bool = False) -> GraphAnswer:
        """How one thing reaches another."""
        graph = self.load()
        return graph.path(_one(graph, start).id, _one(graph, end).id, ambiguous=ambiguous)

    def hubs(self, kinds: Iterable[Kind] = (), limit: int = 20) -> list[Hub]:
        """What most depends on."""
        return centrality.hubs(self.load(), frozenset(kinds), limit)

    def cycles(self) -> list[list[str]]:
        """Files that import each other in a circle."""
        return self.load().cycles()

    # --- entities ---

    def entities(
        self,
        query: str,
        filter: Filter | None = None,
        limit: int = 10,
        threshold: int = 5,
        *,
        content: bool = True,
    ) -> list[EntityHit]:
        """Entities by id, name or prefix (``Auth*``); by content if those are fewer than the threshold."""
        filter = filter or Filter()
        with self._source.fresh() as snapshot:
            hits = {hit.id: hit for hit in _by_name(snapshot, query.strip(), filter)}
        if content and len(hits) < min(threshold, limit):
            results = self._source.found(query, filter, 3 * limit)
            with self._source.fresh() as snapshot:
                for hit in (_as_hit(snapshot, result) for result in results):
                    hits.setdefault(hit.id, hit)
        return list(hits.values())[:limit]

    def retrieve(self, ids: Sequence[str], context: int = 0) -> list[EntityCode]:
        """The code of entities, with some lines around."""
        with self._source.fresh() as snapshot:
            graph = self._loaded(snapshot)
            return [_code(snapshot, graph, _one(graph, id), context) for id in ids]

    # --- change ---

    def affected(self, since: str = "HEAD", diff: str | None = None, walk: Walk | None = None) -> Affected:
        """What a change reaches: since a revision of git up to the files on disk, or as a diff says."""
        root = self._source.root
        graph = self.load()
        text = git_diff.diff(root, since) if diff is None else diff
        ranges, removed = git_diff.changed_lines(text)
        if diff is None:
            ranges |= {
                path: [] for path in git_diff.untracked(root) if path in graph.files and path not in ranges
            }
        changed = [node for path, lines in ranges.items() for node in _touched(graph, path, lines)]
        walk = replace(walk or Walk(depth=3), direction=Direction.USED_BY)
        dependents = graph.dependents("affected", [node.id for node in changed], walk)
        notes: tuple[str, ...] = ()
        together: list[tuple[str, float, int]] = []
        try:
            together = git_diff.companions(root, [*ranges, *removed])
        except UsageError as error:
            notes = (f"without what usually changes together: {error}",)
        present = [row for row in together if row[0] in graph.files][:COMPANIONS]
        tests = tuple(_tests(graph, ranges, dependents))
        return Affected(tuple(changed), tuple(removed), dependents, tests, tuple(present), notes)

    def near(self, path: str, line: int = 0) -> list[tuple[str, float]]:
        """The files around a place and how near each is: itself, what its definition uses, tests, imports."""
        graph = self.load()
        if path not in graph.files:
            raise EntityNotFound(f"{path} is not in the index: 'dowse status --why {path}' says why")
        found = {path: 1.0}
        inner = [n for n in graph.files[path].nodes if n.start_line <= line <= n.end_line][-1:]
        for node in inner:
            id = graph.definitions.get(node.id, node.id)
            others = [id, *(other for other, _ in (*graph.uses.get(id, ()), *graph.used_by.get(id, ())))]
            _note(found, map(graph.file_of, others), NEAR_CALL, graph)
        _note(found, (partner.path for partner in graph.pairs.partners(path)), NEAR_PARTNER, graph)
        imports = [other for other, _ in graph.file_uses.get(path, ())]
        _note(found, imports, NEAR_IMPORT, graph)
        _note(
            found,
            (far for other in imports for far, _ in graph.file_uses.get(other, ())),
            NEAR_CLOSURE,
            graph,
        )
        return sorted(found.items(), key=lambda item: -item[1])

    def around(self, path: str, entity: str, limit: int = AROUND) -> tuple[list[str], list[str]]:
        """Ids of what a place uses and of what uses it, surest and nearest first."""
        graph = self.load()
        id = f"{path}:{entity}" if f"{path}:{entity}" in graph.nodes else path
        id = graph.definitions.get(id, id)
        tables = (graph.uses, graph.used_by) if id != path else (graph.file_uses, graph.file_used_by)
        uses, used_by = (
            dict.fromkeys(
                other
                for other, edge in table.get(id, ())
                if edge.certainty is Certainty.RESOLVED and other in graph.nodes and other != id
            )
            for table in tables
        )
        return list(uses)[:limit], list(used_by)[:limit]

    def tests_of(self, path: str) -> list[str]:
        """The tests of a source file: by its name, then those that use it."""
        graph = self.load()
        partners = [p.path for p in graph.pairs.partners(path) if graph.is_test(p.path)]
        users = [other for other, _ in graph.file_used_by.get(path, ()) if graph.is_test(other)]
        return list(dict.fromkeys([*partners, *users]))


def _note(found: dict[str, float], paths: Iterable[str], nearness: float, graph: Graph) -> None:
    for path in paths:
        if path in graph.files:
            found[path] = max(found.get(path, 0.0), nearness)


def _one(graph: Graph, name: str, kinds: frozenset[Kind] = frozenset()) -> Node:
    found = graph.matches(name)
    fitting = [node for node in found if not kinds or node.kind in kinds] or found
    if len(fitting) == 1:
        return fitting[0]
    if not fitting:
        raise EntityNotFound(f"nothing is called '{name}'{_hint(graph, name)}")
    listed = [f"\n  {node.id} ({node.kind})" for node in fitting[:LISTED]]
    more = f"\n  and {len(fitting) - LISTED} more" if len(fitting) > LISTED else ""
    raise EntityAmbiguous(f"'{name}' is the name of {len(fitting)} things; say which:{''.join(listed)}{more}")


def suggestions(graph: Graph, name: str, limit: int = 5) -> list[str]:
    """Ids of what may have been meant."""
    last = name.rpartition(":")[2].rpartition("/")[2].rpartition(".")[2] or name
    close = get_close_matches(last, graph.by_name, n=limit)
    found = [id for word in close for id in graph.by_name[word]]
    if not found:
        files = {path.rpartition("/")[2]: path for path in graph.files}
        found = [files[match] for match in get_close_matches(name.rpartition("/")[2], files, n=limit)]
    return found[:limit]


def _hint(graph: Graph, name: str) -> str:
    close = suggestions(graph, name)
    if close:
        return f": did you mean {', '.join(close)}?"
    return ": an id is a path or path:Class.method, with names as a search shows them"


def _by_name(snapshot: Snapshot, query: str, filter: Filter) -> Iterator[EntityHit]:
    """Entities that the query names: an id, a file, a qualified name, a name; the surest first."""
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
    name = words[-1] if len(words) == 2 and words[0] in _DECLARING else query
    if len(name.split()) > 1:
        return
    yield from _files(snapshot, name, filter)
    if name.endswith("*"):
        yield from _named(snapshot, name[:-1], name, NameTier.PREFIX, filter)
        return
    last = name.replace("::", ".").rpartition(".")[2]
    for tier in (NameTier.EXACT, NameTier.CASE):
        found = list(_named(snapshot, last, name, tier, filter))
        yield from found
        if found:
            return


def _named(snapshot: Snapshot, pattern: str, name: str, tier: NameTier, filter: Filter) -> list[EntityHit]:
    hits = []
    owner = name.replace("::", ".").rpartition(".")[0]
    for hit in snapshot.names(pattern, tier, filter, NAME_DEPTH):
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


def _files(snapshot: Snapshot, name: str, filter: Filter) -> Iterator[EntityHit]:
    if "." not in name and "/" not in name:
        return
    for id in snapshot.files_named(name, filter, NAME_DEPTH):
        if file := snapshot.file(id):
            last = max((chunk.end_line for chunk in file.parsed.chunks), default=1)
            yield EntityHit(file.path, Kind.FILE, file.path, 1, last, "", "file")


def _as_hit(snapshot: Snapshot, result: SearchResult) -> EntityHit:
    """The entity that a result lies in, with all of its lines; of a file, those that were found."""
    id = f"{result.path}:{result.entity}" if result.entity else result.path
    file = snapshot.file_at(result.path) if result.entity else None
    alike = [e for e in file.parsed.entities if e.qualified == result.entity] if file else []
    around = [e for e in alike if e.start_line <= result.end_line and result.start_line <= e.end_line]
    first, last = result.start_line, result.end_line
    for entity in around[:1]:
        first, last = entity.start_line, entity.end_line
    return EntityHit(id, result.kind, result.path, first, last, result.signature, "content")


def _code(snapshot: Snapshot, graph: Graph, node: Node, context: int) -> EntityCode:
    if node.kind is Kind.DIRECTORY:
        listing = "\n".join(sorted(graph.children.get(node.id, ())))
        return EntityCode(node.id, node.kind, node.id, 0, 0, listing)
    path = graph.file_of(node.id)
    file = snapshot.file_at(path)
    if file is None:
        raise EntityNotFound(f"{path} is not in the index any more: ask again")
    lines = snapshot.content(file.id).decode("utf-8", "replace").splitlines()
    first, last = (1, len(lines)) if node.kind is Kind.FILE else (node.start_line, node.end_line)
    first, last = max(1, first - context), min(len(lines), last + context)
    return EntityCode(node.id, node.kind, path, first, last, "\n".join(lines[first - 1 : last]))


def _touched(graph: Graph, path: str, ranges: Sequence[tuple[int, int]]) -> list[Node]:
    """The innermost entities that changed lines lie in; the file where they lie in none, or is new."""
    file = graph.files.get(path)
    if file is None:
        return []
    found: dict[str, Node] = {}
    for first, last in ranges:
        hit = [n for n in file.nodes if n.start_line <= last and first <= n.end_line]
        inner = [n for n in hit if not any(o is not n and o.id.startswith(f"{n.id}.") for o in hit)]
        found |= {node.id: node for node in inner or [graph.nodes[path]]}
    return list(found.values()) or [graph.nodes[path]]


def _tests(graph: Graph, changed: Iterable[str], dependents: GraphAnswer) -> Iterator[tuple[str, str]]:
    """Test files to run, surest first, and why."""
    seen: set[str] = set()
    for path in changed:
        if graph.is_test(path) and path not in seen:
            seen.add(path)
            yield path, "changed"
    for step in sorted(dependents.steps, key=lambda step: step.depth):
        path = graph.file_of(step.node)
        if graph.is_test(path) and path not in seen:
            seen.add(path)
            yield path, f"uses {step.parent}"
    for path in changed:
        for partner in graph.pairs.partners(path):
            if partner.path not in seen and graph.is_test(partner.path):
                seen.add(partner.path)
                yield partner.path, f"named after {path}"
