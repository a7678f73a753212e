"""Breadth-first graph traversal: callers, dependencies, transitive impact, class hierarchy, shortest path."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

from dowse.graph.adjacency import Adjacency
from dowse.graph.scopes import CLASSES
from dowse.types.graph_values import Certainty, Direction, Edge, GraphAnswer, Relation, Step, Walk
from dowse.types.source import Kind

Hop = tuple[str, Edge, bool]
"""A step of a walk: to which node, by which edge, and whether against the direction of the edge."""


class Graph(Adjacency):
    """The code graph of one generation of the index, and its breadth-first traversals."""

    def walk(self, operation: str, starts: Sequence[str], walk: Walk) -> GraphAnswer:
        """Walk to everything within reach, each node once, at its shortest distance."""

        def iter_hops(here: str) -> Iterator[Hop]:
            return (hop for hop in self._iter_hops(here, walk) if self._is_wanted(hop[0], walk))

        return self._walk_breadth_first(operation, starts, iter_hops, walk)

    def _walk_breadth_first(
        self, operation: str, starts: Sequence[str], iter_hops: Callable[[str], Iterable[Hop]], walk: Walk
    ) -> GraphAnswer:
        """Walk from the starts in order of distance, up to the depth and the limit of the walk."""
        seen = dict.fromkeys(starts, 0)
        waiting = deque(starts)
        reached: dict[str, list[Step]] = {}
        cut = 0
        while waiting:
            here = waiting.popleft()
            if walk.depth is not None and seen[here] >= walk.depth:
                continue
            for other, edge, backward in iter_hops(here):
                if other in seen:
                    continue
                if len(seen) >= walk.limit + len(starts):
                    cut += 1
                    continue
                seen[other] = seen[here] + 1
                reached.setdefault(here, []).append(Step(seen[other], here, other, edge, backward))
                waiting.append(other)
        notes = (f"cut at {walk.limit} nodes: at least {cut} more (see --limit)",) if cut else ()
        return self.make_answer(operation, starts, tuple(_iter_preorder(starts, reached)), notes)

    def _iter_hops(self, here: str, walk: Walk) -> Iterator[Hop]:
        """List the neighbours of a node that a walk may go to."""
        if walk.direction is not Direction.USED_BY:
            for other, edge in self._iter_children(here, walk):
                yield other, edge, False
            for other, edge in self._iter_uses(here):
                if _is_allowed(edge, walk):
                    yield other, edge, False
        if walk.direction is not Direction.USES:
            wanted = not walk.relations or Relation.CONTAINS in walk.relations
            if wanted and here in self.nodes and (parent := self.parent(here)):
                yield parent, _make_contains_edge(parent, here), True
            declared = [(other, self._declaration_edges[other]) for other in self.declarations.get(here, ())]
            for other, edge in (*declared, *self.used_by.get(here, ())):
                if _is_allowed(edge, walk):
                    yield other, edge, True

    def _iter_uses(self, here: str) -> list[tuple[str, Edge]]:
        edge = self._declaration_edges.get(here)
        return [*([(edge.target, edge)] if edge else ()), *self.uses.get(here, ())]

    def _iter_children(self, here: str, walk: Walk) -> Iterator[tuple[str, Edge]]:
        if not walk.relations or Relation.CONTAINS in walk.relations:
            for child in self.children.get(here, ()):
                yield child, _make_contains_edge(here, child)

    def _is_wanted(self, id: str, walk: Walk) -> bool:
        node = self.nodes.get(id)
        if node is None:
            return walk.external
        return not walk.kinds or node.kind in walk.kinds

    def make_answer(
        self, operation: str, starts: Sequence[str], steps: Sequence[Step], notes: Sequence[str] = ()
    ) -> GraphAnswer:
        """Collect steps and the nodes that they mention into an answer."""
        ids = dict.fromkeys([*starts, *(step.parent for step in steps), *(step.node for step in steps)])
        nodes = {id: self.nodes[id] for id in ids if id in self.nodes}
        return GraphAnswer(operation, tuple(starts), nodes, tuple(steps), tuple(notes))

    def find_neighbours(self, operation: str, id: str, walk: Walk, *, backward: bool) -> GraphAnswer:
        """List callers or callees: resolved ones first, those outside of the tree last."""
        table = self.used_by if backward else self.uses
        rows = []
        for member in self.list_aliases(id, backward=backward):
            for other, edge in table.get(member, ()):
                known = edge.certainty is not Certainty.EXTERNAL or walk.external
                if (
                    edge.relation is Relation.INVOKES
                    and known
                    and (walk.ambiguous or not _is_known_by_name_only(edge))
                ):
                    rows.append(Step(1, id, other, edge, backward))
        order = {Certainty.RESOLVED: 0, Certainty.AMBIGUOUS: 1, Certainty.EXTERNAL: 2}
        rows.sort(key=lambda step: (order[step.edge.certainty], self.is_test(step.node)))
        first: dict[str, Step] = {}
        for step in rows:
            first.setdefault(step.node, step)
        return self.make_answer(operation, [id], list(first.values()))

    def find_dependencies(self, operation: str, starts: Sequence[str], walk: Walk) -> GraphAnswer:
        """List files that some files depend on, or that depend on them, as a tree."""
        backward = walk.direction is Direction.USED_BY
        table = self.file_used_by if backward else self.file_uses

        def iter_hops(here: str) -> Iterator[Hop]:
            return ((other, edge, backward) for other, edge in table.get(here, ()))

        return self._walk_breadth_first(operation, starts, iter_hops, walk)

    def find_impact(self, operation: str, id: str, walk: Walk) -> GraphAnswer:
        """List what depends on a node: files for a file or folder, entities for an entity."""
        node = self.nodes[id]
        if node.kind in (Kind.FILE, Kind.DIRECTORY):
            starts = [member for member in self.iter_members(id) if member in self.files]
            return self.find_dependencies(operation, starts, walk)
        return self.find_dependents(operation, [id], walk)

    def find_dependents(self, operation: str, ids: Sequence[str], walk: Walk) -> GraphAnswer:
        """List what uses some nodes, directly or indirectly."""
        return self._walk_breadth_first(operation, ids, lambda here: self._iter_dependents(here, walk), walk)

    def _iter_dependents(self, id: str, walk: Walk) -> Iterator[Hop]:
        """List who uses an entity; for a class, also who uses its members; for a constructor, who creates an object."""
        is_class = id in self.nodes and self.nodes[id].kind in CLASSES
        whole = dict.fromkeys(self.iter_members(id) if is_class else (id,))
        for member in dict.fromkeys(
            alias for inner in whole for alias in self.list_aliases(inner, backward=True)
        ):
            for other, edge in self.used_by.get(member, ()):
                is_meant = member in whole or edge.relation is Relation.INVOKES
                if is_meant and _is_allowed(edge, walk) and not other.startswith(f"{id}."):
                    yield other, edge, True

    def find_hierarchy(self, id: str, walk: Walk) -> GraphAnswer:
        """List the classes above a class and those below it."""
        inherits = frozenset({Relation.INHERITS})
        up = self.walk("hierarchy", [id], Walk(Direction.USES, walk.depth, inherits, external=True))
        down = self.walk("hierarchy", [id], Walk(Direction.USED_BY, walk.depth, inherits))
        return self.make_answer("hierarchy", [id], [*up.steps, *down.steps], [*up.notes, *down.notes])

    def find_path(self, start: str, end: str, *, ambiguous: bool = False) -> GraphAnswer:
        """Find the shortest path from a node, or something inside of it, to another; no steps if there is none."""
        goal = set(self.iter_members(end))
        came_from: dict[str, Step | None] = {start: None}
        for inner in self.iter_members(start):
            if inner not in came_from:
                parent = self.parent(inner)
                came_from[inner] = Step(0, parent, inner, _make_contains_edge(parent, inner), False)
        waiting = deque(came_from)
        while waiting:
            here = waiting.popleft()
            for other, edge in self._iter_uses(here):
                if (
                    other in came_from
                    or other not in self.nodes
                    or (_is_known_by_name_only(edge) and not ambiguous)
                ):
                    continue
                came_from[other] = Step(0, here, other, edge, False)
                if other in goal:
                    return self.make_answer("path", [start], _trace_back(came_from, other))
                waiting.append(other)
        return self.make_answer("path", [start], [], [f"{start} does not reach {end}"])


def _is_allowed(edge: Edge, walk: Walk) -> bool:
    if edge.certainty is Certainty.EXTERNAL and not walk.external:
        return False
    if _is_known_by_name_only(edge) and not walk.ambiguous:
        return False
    return not walk.relations or edge.relation in walk.relations


def _is_known_by_name_only(edge: Edge) -> bool:
    """Tell whether only the name of an edge's target is known."""
    return edge.certainty is Certainty.AMBIGUOUS and not edge.candidates


def _make_contains_edge(parent: str, child: str) -> Edge:
    return Edge(parent, child, Relation.CONTAINS, Certainty.RESOLVED, 0)


def _iter_preorder(starts: Sequence[str], reached: Mapping[str, list[Step]]) -> Iterator[Step]:
    """List the steps as a tree is printed: each node before what was reached from it."""
    stack = [step for start in reversed(starts) for step in reversed(reached.get(start, ()))]
    while stack:
        step = stack.pop()
        yield step
        stack.extend(reversed(reached.get(step.node, ())))


def _trace_back(came_from: Mapping[str, Step | None], end: str) -> list[Step]:
    steps = []
    here: str = end
    while (step := came_from[here]) is not None:
        steps.append(step)
        here = step.parent
    return [step._replace(depth=depth + 1) for depth, step in enumerate(reversed(steps))]
