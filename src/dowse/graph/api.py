"""Code graph queries: callers, callees, dependencies, impact analysis, class hierarchy, entities, affected tests.

The API that every interface calls. A name that several things have is never picked silently: the error lists them.
"""

from __future__ import annotations

import threading
from collections.abc import Iterable, Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import replace
from pathlib import Path
from typing import Protocol

from dowse.errors import EntityNotFound, UsageError
from dowse.graph import build, centrality, git_diff, graph_codec
from dowse.graph.entity_search import make_hit, match_names, read_code
from dowse.graph.import_cycles import find_cycles
from dowse.graph.node_names import find_node
from dowse.graph.scopes import CLASSES, FUNCTIONS
from dowse.graph.traversal import Graph
from dowse.settings import Settings
from dowse.stores.protocol import Snapshot
from dowse.types.answers import SearchResult
from dowse.types.graph_values import (
    DEFAULT_DEPTHS,
    Affected,
    Certainty,
    Direction,
    EntityCode,
    EntityHit,
    GraphAnswer,
    Hub,
    Node,
    Walk,
)
from dowse.types.source import Kind
from dowse.types.stored import Filter

GRAPH_BLOB = "graph"
"""The name under which the encoded graph is stored beside the index."""

NEAR_CALL, NEAR_PARTNER, NEAR_IMPORT, NEAR_CLOSURE = 0.8, 0.8, 0.6, 0.3
"""Nearness of a file to the editor position: called there, its test, imported there, imported by an import."""

MAX_NEIGHBOURS = 8
"""Dependencies and dependents listed with a hit."""

MAX_COMPANIONS = 10
"""Files listed that usually change together with the changed ones."""


class GraphSource(Protocol):
    """What the graph needs from an engine: a fresh snapshot of the index, blob storage beside it, and search."""

    root: Path
    settings: Settings

    def refresh(self) -> list[str]:
        """Make the index fresh; return notes on what prevented it."""
        ...

    def snapshot(self) -> AbstractContextManager[Snapshot]:
        """Open a snapshot of the index as it is."""
        ...

    def put_blob(self, name: str, data: bytes) -> None:
        """Store some bytes beside the index, if that is possible."""
        ...

    def get_blob(self, name: str) -> bytes | None:
        """Return the bytes that were stored under a name."""
        ...

    def search(self, query: str, filter: Filter, limit: int) -> Sequence[SearchResult]:
        """Search the index by content."""
        ...


class CodeGraph:
    """The code graph of a tree, kept up to date, and every operation on it."""

    def __init__(self, source: GraphSource) -> None:
        self._source = source
        self._graph: Graph | None = None
        self._busy = threading.Lock()  # of several threads, one brings the graph up to date for all

    def load(self) -> Graph:
        """Return the graph of the tree as it is now."""
        return self._load()[0]

    def _load(self) -> tuple[Graph, tuple[str, ...]]:
        """Return the graph of the tree as it is now, and notes on what kept it from being that."""
        notes = tuple(self._source.refresh())
        with self._source.snapshot() as snapshot:
            return self._update_graph(snapshot), notes

    def _update_graph(self, snapshot: Snapshot) -> Graph:
        with self._busy:
            known = (
                self._graph.files if self._graph else graph_codec.unpack(self._source.get_blob(GRAPH_BLOB))
            )
            files = build.update_graph(snapshot, known)
            if files is not known:
                self._source.put_blob(GRAPH_BLOB, graph_codec.pack(files))
            if self._graph is None or files is not known:
                self._graph = Graph(files)
            return self._graph

    def find(self, name: str, kinds: frozenset[Kind] = frozenset()) -> Node:
        """Find the one node that a name means; raise an error that lists the candidates if there are several."""
        return find_node(self.load(), name, kinds)

    # --- walks ---

    def callers(self, symbol: str, walk: Walk | None = None) -> GraphAnswer:
        """List who calls a function, a method or a class."""
        graph, notes = self._load()
        node = find_node(graph, symbol, FUNCTIONS | CLASSES)
        answer = graph.find_neighbours("callers", node.id, walk or Walk(), backward=True)
        return _add_notes(answer, notes)

    def callees(self, symbol: str, walk: Walk | None = None) -> GraphAnswer:
        """List what a function, a method, a class or a file calls."""
        graph, notes = self._load()
        node = find_node(graph, symbol, FUNCTIONS | CLASSES | {Kind.FILE})
        answer = graph.find_neighbours("callees", node.id, walk or Walk(), backward=False)
        return _add_notes(answer, notes)

    def deps(self, file: str, walk: Walk | None = None) -> GraphAnswer:
        """List the files that a file or folder depends on."""
        graph, notes = self._load()
        node = find_node(graph, file, frozenset({Kind.FILE, Kind.DIRECTORY}))
        starts = [member for member in graph.iter_members(node.id) if member in graph.files]
        walk = replace(walk or Walk(depth=DEFAULT_DEPTHS["deps"]), direction=Direction.USES)
        starts = starts if node.kind is Kind.DIRECTORY else [node.id]
        return _add_notes(graph.find_dependencies("deps", starts, walk), notes)

    def impact(self, target: str, walk: Walk | None = None) -> GraphAnswer:
        """List what depends on a file, a folder or a symbol."""
        graph, notes = self._load()
        node = find_node(graph, target)
        walk = replace(walk or Walk(depth=DEFAULT_DEPTHS["impact"]), direction=Direction.USED_BY)
        return _add_notes(graph.find_impact("impact", node.id, walk), notes)

    def traverse(self, ids: Sequence[str], walk: Walk | None = None) -> GraphAnswer:
        """Walk from some nodes to everything within reach."""
        graph, notes = self._load()
        answer = graph.walk("traverse", [find_node(graph, id).id for id in ids], walk or Walk())
        return _add_notes(answer, notes)

    def hierarchy(self, symbol: str, depth: int | None = DEFAULT_DEPTHS["hierarchy"]) -> GraphAnswer:
        """List the classes above and below a class."""
        graph, notes = self._load()
        answer = graph.find_hierarchy(find_node(graph, symbol, CLASSES).id, Walk(depth=depth))
        return _add_notes(answer, notes)

    def path(self, start: str, end: str, *, ambiguous: bool = False) -> GraphAnswer:
        """Find the shortest path from one node to another."""
        graph, notes = self._load()
        ends = find_node(graph, start).id, find_node(graph, end).id
        return _add_notes(graph.find_path(*ends, ambiguous=ambiguous), notes)

    def hubs(self, kinds: Iterable[Kind] = (), limit: int = 20) -> list[Hub]:
        """List the nodes with the most dependents."""
        return centrality.rank_hubs(self.load(), frozenset(kinds), limit)

    def cycles(self) -> list[list[str]]:
        """List files that import each other in a circle."""
        return find_cycles(self.load())

    # --- entities ---

    def entities(
        self,
        query: str,
        filter: Filter | None = None,
        limit: int | None = None,
        threshold: int | None = None,
        *,
        content: bool = True,
    ) -> list[EntityHit]:
        """Find entities, files and folders by id, name, prefix (``Auth*``), glob (``Ses*ion``) or nearly right name.

        By content as well if those are fewer than the threshold. None: as the settings say.
        """
        filter, settings = filter or Filter(), self._source.settings
        limit = settings.limit if limit is None else limit
        threshold = settings.entity_threshold if threshold is None else threshold
        self._source.refresh()
        with self._source.snapshot() as snapshot:
            hits = {hit.id: hit for hit in match_names(snapshot, query.strip(), filter, limit)}
        if content and len(hits) < min(threshold, limit) and filter.kinds != {Kind.DIRECTORY}:
            for hit in self._find_by_content(query, filter, 3 * limit):
                hits.setdefault(hit.id, hit)
        return list(hits.values())[:limit]

    def _find_by_content(self, query: str, filter: Filter, limit: int) -> list[EntityHit]:
        """Find the definitions, or the files if these are all that is wanted, that have what the query says."""
        only_files = filter.kinds == {Kind.FILE}
        searched = replace(filter, kinds=filter.kinds - {Kind.FILE, Kind.DIRECTORY})
        results = self._source.search(query, searched, limit)
        with self._source.snapshot() as snapshot:
            if only_files:
                results = [result._replace(entity="", kind=Kind.FILE) for result in results]
            return [make_hit(snapshot, result) for result in results]

    def retrieve(self, ids: Sequence[str], context: int = 0) -> list[EntityCode]:
        """Return the code of entities, with some lines of context."""
        self._source.refresh()
        with self._source.snapshot() as snapshot:
            graph = self._update_graph(snapshot)
            return [read_code(snapshot, graph, find_node(graph, id), context) for id in ids]

    # --- change ---

    def find_affected(
        self, since: str = "HEAD", diff: str | None = None, walk: Walk | None = None
    ) -> Affected:
        """List what a change affects: from a git revision to the files on disk, or as a diff says."""
        root = self._source.root
        graph, notes = self._load()
        text = git_diff.read_diff(root, since) if diff is None else diff
        ranges, removed = git_diff.parse_diff(text)
        if diff is None:
            ranges |= {
                path: []
                for path in git_diff.list_untracked(root)
                if path in graph.files and path not in ranges
            }
        changed = [node for path, lines in ranges.items() for node in _find_touched(graph, path, lines)]
        walk = replace(walk or Walk(depth=DEFAULT_DEPTHS["affected"]), direction=Direction.USED_BY)
        dependents = graph.find_dependents("affected", [node.id for node in changed], walk)
        together: list[tuple[str, float, int]] = []
        try:
            together = git_diff.find_companions(root, [*ranges, *removed])
        except UsageError as error:
            notes = (*notes, f"without what usually changes together: {error}")
        present = [row for row in together if row[0] in graph.files][:MAX_COMPANIONS]
        tests = tuple(_find_tests(graph, ranges, dependents))
        return Affected(tuple(changed), tuple(removed), dependents, tests, tuple(present), notes)

    def rate_near_files(self, path: str, line: int = 0) -> list[tuple[str, float]]:
        """Rate how near files are to a position: its own file, what its definition uses, tests, imports."""
        graph = self.load()
        if path not in graph.files:
            raise EntityNotFound(f"{path} is not in the index: 'dowse status --why {path}' says why")
        found = {path: 1.0}
        inner = [n for n in graph.files[path].nodes if n.start_line <= line <= n.end_line][-1:]
        for node in inner:
            id = graph.definitions.get(node.id, node.id)
            others = [id, *(other for other, _ in (*graph.uses.get(id, ()), *graph.used_by.get(id, ())))]
            _raise_nearness(found, map(graph.file_of, others), NEAR_CALL, graph)
        _raise_nearness(
            found, (partner.path for partner in graph.pairs.find_partners(path)), NEAR_PARTNER, graph
        )
        imports = [other for other, _ in graph.file_uses.get(path, ())]
        _raise_nearness(found, imports, NEAR_IMPORT, graph)
        _raise_nearness(
            found,
            (far for other in imports for far, _ in graph.file_uses.get(other, ())),
            NEAR_CLOSURE,
            graph,
        )
        return sorted(found.items(), key=lambda item: -item[1])

    def list_neighbours(
        self, path: str, entity: str, limit: int = MAX_NEIGHBOURS
    ) -> tuple[list[str], list[str]]:
        """List the ids that a position uses and those that use it; only resolved edges count."""
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

    def list_tests(self, path: str) -> list[str]:
        """List the tests of a source file: first by file name, then those that use it."""
        graph = self.load()
        partners = [p.path for p in graph.pairs.find_partners(path) if graph.is_test(p.path)]
        users = [other for other, _ in graph.file_used_by.get(path, ()) if graph.is_test(other)]
        return list(dict.fromkeys([*partners, *users]))


def _add_notes(answer: GraphAnswer, notes: tuple[str, ...]) -> GraphAnswer:
    """Add notes to an answer."""
    return replace(answer, notes=(*answer.notes, *notes)) if notes else answer


def _raise_nearness(found: dict[str, float], paths: Iterable[str], nearness: float, graph: Graph) -> None:
    for path in paths:
        if path in graph.files:
            found[path] = max(found.get(path, 0.0), nearness)


def _find_touched(graph: Graph, path: str, ranges: Sequence[tuple[int, int]]) -> list[Node]:
    """Find the innermost entities that contain changed lines; the file itself where no entity does, or if it is new."""
    file = graph.files.get(path)
    if file is None:
        return []
    found: dict[str, Node] = {}
    for first, last in ranges:
        hit = [n for n in file.nodes if n.start_line <= last and first <= n.end_line]
        inner = [n for n in hit if not any(o is not n and o.id.startswith(f"{n.id}.") for o in hit)]
        found |= {node.id: node for node in inner or [graph.nodes[path]]}
    return list(found.values()) or [graph.nodes[path]]


def _find_tests(graph: Graph, changed: Iterable[str], dependents: GraphAnswer) -> Iterator[tuple[str, str]]:
    """List the test files to run and the reason for each, most certain first."""
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
        for partner in graph.pairs.find_partners(path):
            if partner.path not in seen and graph.is_test(partner.path):
                seen.add(partner.path)
                yield partner.path, f"named after {path}"
