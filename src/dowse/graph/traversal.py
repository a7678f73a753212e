"""Walks over the graph: who uses what, what depends on what, how one thing reaches another."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from posixpath import dirname

from dowse.code.test_pairing import Pairs
from dowse.graph.build import Files
from dowse.graph.import_rules import dialect_of
from dowse.graph.scopes import CLASSES, FUNCTIONS
from dowse.types import Certainty, Direction, Edge, GraphAnswer, Kind, Node, Relation, Role, Step, Walk

LOOSE = 6
"""Definitions of one name up to which a call known by name alone is an edge; more say nothing."""

Way = tuple[str, Edge, bool]
"""To which node, by which edge, and whether against its direction."""


class Graph:
    """Nodes and edges of one generation, for questions."""

    def __init__(self, files: Files) -> None:
        self.files = files

    # --- nodes ---

    @cached_property
    def nodes(self) -> dict[str, Node]:
        """Every directory, file and entity by id."""
        nodes: dict[str, Node] = {}
        for path, file in self.files.items():
            folder = dirname(path)
            while folder and folder not in nodes:
                nodes[folder] = Node(folder, Kind.DIRECTORY)
                folder = dirname(folder)
            last = max((node.end_line for node in file.nodes), default=0)
            nodes[path] = Node(path, Kind.FILE, 1, last, 1)
            for node in file.nodes:
                nodes[node.id] = node
        return nodes

    @cached_property
    def by_name(self) -> dict[str, list[str]]:
        """Ids of entities by their last name."""
        found: dict[str, list[str]] = {}
        for file in self.files.values():
            for node in file.nodes:
                found.setdefault(node.id.rpartition(":")[2].rpartition(".")[2], []).append(node.id)
        return found

    @cached_property
    def pairs(self) -> Pairs:
        """Which tests belong to which files, by their paths."""
        return Pairs({path: file.role for path, file in self.files.items()})

    @cached_property
    def children(self) -> dict[str, list[str]]:
        """What each node contains directly."""
        found: dict[str, list[str]] = {}
        for id in self.nodes:
            if parent := self.parent(id):
                found.setdefault(parent, []).append(id)
        return found

    def parent(self, id: str) -> str:
        """The node around a node; empty at the root."""
        path, colon, name = id.rpartition(":")
        if not colon or id in self.files:
            return dirname(id)
        while "." in name:
            name = name.rpartition(".")[0]
            if f"{path}:{name}" in self.nodes:
                return f"{path}:{name}"
        return path

    def members(self, id: str) -> Iterator[str]:
        """A node and everything inside of it."""
        waiting = deque([id])
        while waiting:
            node = waiting.popleft()
            yield node
            waiting.extend(self.children.get(node, ()))

    def file_of(self, id: str) -> str:
        """The path of a node's file; of a directory, its own."""
        if id in self.files:
            return id
        path = id.rpartition(":")[0]
        return path if path in self.files else id

    def is_test(self, id: str) -> bool:
        """Whether a node lies in a test file."""
        file = self.files.get(self.file_of(id))
        return file is not None and file.role is Role.TEST

    def matches(self, text: str) -> list[Node]:
        """The nodes that a person may mean: by id, end of a path, qualified name or name."""
        wanted = text.strip().removeprefix("./").rstrip("/")
        if node := self.nodes.get(wanted):
            return [node]
        path, colon, name = wanted.rpartition(":")
        if colon and not name.isdigit():
            fits = [n for n in self._named(name) if _ends_with(self.file_of(n.id), path)]
            return self._principal([n for n in fits if n.id.rpartition(":")[2] == name] or fits)
        if named := self._named(wanted):
            return self._principal(named)
        return [node for id, node in self.nodes.items() if ":" not in id and _ends_with(id, wanted)]

    def _named(self, name: str) -> list[Node]:
        found = self.by_name.get(name.rpartition(".")[2], ())
        ends = [id for id in found if f".{id.rpartition(':')[2]}".endswith(f".{name}")]
        whole = [id for id in ends if "." in name and id.rpartition(":")[2] == name]
        return [self.nodes[id] for id in whole or ends]

    def _principal(self, nodes: list[Node]) -> list[Node]:
        """Of things of one name those that it means: classes, not their constructors; definitions, not declarations."""
        ids = {node.id for node in nodes}
        nodes = [node for node in nodes if self.definitions.get(node.id) not in ids]
        if not any(node.kind in CLASSES for node in nodes):
            return nodes
        return [node for node in nodes if not self._is_constructor(node)]

    def _is_constructor(self, node: Node) -> bool:
        around, _, last = node.id.rpartition(":")[2].rpartition(".")
        dialect = dialect_of(self.files[self.file_of(node.id)].language)
        return node.kind in FUNCTIONS and last in dialect.constructors(around.rpartition(".")[2])

    # --- edges ---

    @cached_property
    def _loose(self) -> dict[tuple[str, str], tuple[str, ...]]:
        return {}

    def candidates(self, edge: Edge, language: str) -> tuple[str, ...]:
        """What an ambiguous edge may mean."""
        if edge.candidates:
            return edge.candidates
        key = (language, edge.target)
        if key not in self._loose:
            dialect = dialect_of(language)
            family = dialect.family or dialect.languages
            found = [
                id
                for id in self.by_name.get(edge.target, ())
                if self.nodes[id].kind in FUNCTIONS and self.files[self.file_of(id)].language in family
            ]
            found = [id for id in found if self.definitions.get(id) not in found]
            self._loose[key] = tuple(found) if len(found) <= LOOSE else ()
        return self._loose[key]

    @cached_property
    def _declares(self) -> dict[str, Edge]:
        edges = (edge for file in self.files.values() for edge in file.edges)
        return {edge.source: edge for edge in edges if edge.relation is Relation.DECLARES}

    @cached_property
    def definitions(self) -> dict[str, str]:
        """For each declaration whose definition is known, that."""
        return {id: edge.target for id, edge in self._declares.items()}

    @cached_property
    def declarations(self) -> dict[str, list[str]]:
        """For each definition that headers declare, where they do."""
        found: dict[str, list[str]] = {}
        for declaration, definition in self.definitions.items():
            found.setdefault(definition, []).append(declaration)
        return found

    @cached_property
    def uses(self) -> dict[str, list[tuple[str, Edge]]]:
        """For each node what it mentions: id (or outside name) and edge; ambiguous ones once for each candidate.

        A declaration does not depend on its definition: that is no part of it.
        """
        found: dict[str, list[tuple[str, Edge]]] = {}
        for file in self.files.values():
            for edge in file.edges:
                if edge.relation is Relation.DECLARES:
                    continue
                row = found.setdefault(edge.source, [])
                if edge.certainty is Certainty.AMBIGUOUS:
                    row.extend((id, edge) for id in self.candidates(edge, file.language))
                else:
                    row.append((edge.target, edge))
        return found

    @cached_property
    def used_by(self) -> dict[str, list[tuple[str, Edge]]]:
        """For each node in the tree, who mentions it."""
        found: dict[str, list[tuple[str, Edge]]] = {}
        for source, row in self.uses.items():
            for target, edge in row:
                if edge.certainty is not Certainty.EXTERNAL:
                    found.setdefault(target, []).append((source, edge))
        return found

    @cached_property
    def file_uses(self) -> dict[str, list[tuple[str, Edge]]]:
        """For each file the other files that it depends on, each once, by the surest edge."""
        found: dict[str, dict[str, Edge]] = {}
        for path, file in self.files.items():
            row = found.setdefault(path, {})
            for edge in file.edges:
                if edge.certainty is Certainty.RESOLVED and edge.relation is not Relation.DECLARES:
                    target = self.file_of(edge.target)
                    if target != path:
                        row.setdefault(target, edge)
        return {path: list(row.items()) for path, row in found.items()}

    @cached_property
    def file_used_by(self) -> dict[str, list[tuple[str, Edge]]]:
        """For each file, the files that depend on it."""
        found: dict[str, list[tuple[str, Edge]]] = {}
        for source, row in self.file_uses.items():
            for target, edge in row:
                found.setdefault(target, []).append((source, edge))
        return found

    # --- questions ---

    def walk(self, question: str, starts: Sequence[str], walk: Walk) -> GraphAnswer:
        """Everything within reach, each node once, at its shortest distance."""

        def around(here: str) -> Iterator[Way]:
            return (way for way in self._around(here, walk) if self._wanted(way[0], walk))

        return self._spread(question, starts, around, walk)

    def _spread(
        self, question: str, starts: Sequence[str], around: Callable[[str], Iterable[Way]], walk: Walk
    ) -> GraphAnswer:
        seen = dict.fromkeys(starts, 0)
        waiting = deque(starts)
        reached: dict[str, list[Step]] = {}
        cut = 0
        while waiting:
            here = waiting.popleft()
            if 0 <= walk.depth <= seen[here]:
                continue
            for other, edge, backward in around(here):
                if other in seen:
                    continue
                if len(seen) >= walk.limit + len(starts):
                    cut += 1
                    continue
                seen[other] = seen[here] + 1
                reached.setdefault(here, []).append(Step(seen[other], here, other, edge, backward))
                waiting.append(other)
        notes = (f"cut at {walk.limit} nodes: at least {cut} more (see --limit)",) if cut else ()
        return self.answer(question, starts, tuple(_in_order(starts, reached)), notes)

    def _around(self, here: str, walk: Walk) -> Iterator[Way]:
        """The neighbours of a node that a walk may go to."""
        if walk.direction is not Direction.USED_BY:
            for other, edge in self._contained(here, walk):
                yield other, edge, False
            for other, edge in self._uses_or_declares(here):
                if _passes(edge, walk):
                    yield other, edge, False
        if walk.direction is not Direction.USES:
            wanted = not walk.relations or Relation.CONTAINS in walk.relations
            if wanted and here in self.nodes and (parent := self.parent(here)):
                yield parent, _contains(parent, here), True
            declared = [(other, self._declares[other]) for other in self.declarations.get(here, ())]
            for other, edge in (*declared, *self.used_by.get(here, ())):
                if _passes(edge, walk):
                    yield other, edge, True

    def _uses_or_declares(self, here: str) -> list[tuple[str, Edge]]:
        edge = self._declares.get(here)
        return [*([(edge.target, edge)] if edge else ()), *self.uses.get(here, ())]

    def _contained(self, here: str, walk: Walk) -> Iterator[tuple[str, Edge]]:
        if not walk.relations or Relation.CONTAINS in walk.relations:
            for child in self.children.get(here, ()):
                yield child, _contains(here, child)

    def _wanted(self, id: str, walk: Walk) -> bool:
        node = self.nodes.get(id)
        if node is None:
            return walk.external
        return not walk.kinds or node.kind in walk.kinds

    def answer(
        self, question: str, starts: Sequence[str], steps: Sequence[Step], notes: Sequence[str] = ()
    ) -> GraphAnswer:
        """Steps with the nodes that they are about."""
        ids = dict.fromkeys([*starts, *(step.parent for step in steps), *(step.node for step in steps)])
        nodes = {id: self.nodes[id] for id in ids if id in self.nodes}
        return GraphAnswer(question, tuple(starts), nodes, tuple(steps), tuple(notes))

    def neighbours(self, question: str, id: str, walk: Walk, *, backward: bool) -> GraphAnswer:
        """Callers or callees: the surest first, and those known by name only last."""
        table = self.used_by if backward else self.uses
        rows = []
        for member in self.same(id, backward=backward):
            for other, edge in table.get(member, ()):
                known = edge.certainty is not Certainty.EXTERNAL or walk.external
                if edge.relation is Relation.INVOKES and known and (walk.ambiguous or not _is_loose(edge)):
                    rows.append(Step(1, id, other, edge, backward))
        order = {Certainty.RESOLVED: 0, Certainty.AMBIGUOUS: 1, Certainty.EXTERNAL: 2}
        rows.sort(key=lambda step: (order[step.edge.certainty], self.is_test(step.node)))
        first: dict[str, Step] = {}
        for step in rows:
            first.setdefault(step.node, step)
        return self.answer(question, [id], list(first.values()))

    def _constructors(self, id: str) -> list[str]:
        """The methods that are called when an object of a class is made."""
        if id not in self.nodes or self.nodes[id].kind not in CLASSES:
            return []
        name = id.rpartition(":")[2].rpartition(".")[2]
        names = dialect_of(self.files[self.file_of(id)].language).constructors(name)
        return [inner for name in names if (inner := f"{id}.{name}") in self.nodes]

    def same(self, id: str, *, backward: bool) -> list[str]:
        """A node and what else is called where it is: definition and declaration, class and constructor.

        What a constructor calls, its class does; who calls the class calls the constructor too.
        """
        found = {id: None}
        waiting = [id]
        while waiting:
            here = waiting.pop()
            others = [*self.declarations.get(here, ()), *self._constructors(here)]
            if here in self.definitions:
                others.append(self.definitions[here])
            around = here.rpartition(".")[0]
            if backward and here in self._constructors(around):
                others.append(around)
            waiting += [other for other in others if other not in found]
            found |= dict.fromkeys(others)
        return list(found)

    def dependencies(self, question: str, starts: Sequence[str], walk: Walk) -> GraphAnswer:
        """Files that files depend on, or that depend on them, as a tree."""
        backward = walk.direction is Direction.USED_BY
        table = self.file_used_by if backward else self.file_uses

        def around(here: str) -> Iterator[Way]:
            return ((other, edge, backward) for other, edge in table.get(here, ()))

        return self._spread(question, starts, around, walk)

    def impact(self, question: str, id: str, walk: Walk) -> GraphAnswer:
        """What depends on a node: of a file or folder, the files; of an entity, the entities that use it."""
        node = self.nodes[id]
        if node.kind in (Kind.FILE, Kind.DIRECTORY):
            starts = [member for member in self.members(id) if member in self.files]
            return self.dependencies(question, starts, walk)
        return self.dependents(question, [id], walk)

    def dependents(self, question: str, ids: Sequence[str], walk: Walk) -> GraphAnswer:
        """What uses some nodes, and what uses that."""
        return self._spread(question, ids, lambda here: self._dependents(here, walk), walk)

    def _dependents(self, id: str, walk: Walk) -> Iterator[Way]:
        """Who uses an entity; of a class, also who uses its members; of a constructor, who makes an object."""
        is_class = id in self.nodes and self.nodes[id].kind in CLASSES
        whole = dict.fromkeys(self.members(id) if is_class else (id,))
        for member in dict.fromkeys(same for inner in whole for same in self.same(inner, backward=True)):
            for other, edge in self.used_by.get(member, ()):
                is_meant = member in whole or edge.relation is Relation.INVOKES
                if is_meant and _passes(edge, walk) and not other.startswith(f"{id}."):
                    yield other, edge, True

    def hierarchy(self, id: str, walk: Walk) -> GraphAnswer:
        """The classes above a class and those below it."""
        inherits = frozenset({Relation.INHERITS})
        up = self.walk("hierarchy", [id], Walk(Direction.USES, walk.depth, inherits, external=True))
        down = self.walk("hierarchy", [id], Walk(Direction.USED_BY, walk.depth, inherits))
        return self.answer("hierarchy", [id], [*up.steps, *down.steps], [*up.notes, *down.notes])

    def path(self, start: str, end: str, *, ambiguous: bool = False) -> GraphAnswer:
        """The shortest way by which one node, or something inside, reaches another; no steps if it does not."""
        goal = set(self.members(end))
        came: dict[str, Step | None] = {start: None}
        for inner in self.members(start):
            if inner not in came:
                around = self.parent(inner)
                came[inner] = Step(0, around, inner, _contains(around, inner), False)
        waiting = deque(came)
        while waiting:
            here = waiting.popleft()
            for other, edge in self._uses_or_declares(here):
                if other in came or other not in self.nodes or (_is_loose(edge) and not ambiguous):
                    continue
                came[other] = Step(0, here, other, edge, False)
                if other in goal:
                    return self.answer("path", [start], _back(came, other))
                waiting.append(other)
        return self.answer("path", [start], [], [f"{start} does not reach {end}"])

    def cycles(self) -> list[list[str]]:
        """Files that import each other in a circle: for each group a shortest circle, longest groups first."""
        table = {
            path: [
                self.file_of(edge.target)
                for edge in file.edges
                if edge.relation is Relation.IMPORTS and edge.certainty is Certainty.RESOLVED
            ]
            for path, file in self.files.items()
        }
        groups = sorted((g for g in _components(table) if len(g) > 1), key=lambda g: (-len(g), min(g)))
        return [_circle(min(group), set(group), table) for group in groups]


def _passes(edge: Edge, walk: Walk) -> bool:
    if edge.certainty is Certainty.EXTERNAL and not walk.external:
        return False
    if _is_loose(edge) and not walk.ambiguous:
        return False
    return not walk.relations or edge.relation in walk.relations


def _is_loose(edge: Edge) -> bool:
    """Whether an edge is known by name alone."""
    return edge.certainty is Certainty.AMBIGUOUS and not edge.candidates


def _contains(parent: str, child: str) -> Edge:
    return Edge(parent, child, Relation.CONTAINS, Certainty.RESOLVED, 0)


def _ends_with(path: str, end: str) -> bool:
    return path == end or path.endswith(f"/{end}")


def _in_order(starts: Sequence[str], reached: Mapping[str, list[Step]]) -> Iterator[Step]:
    """The steps as a tree is printed: each node before what was reached from it."""
    stack = [step for start in reversed(starts) for step in reversed(reached.get(start, ()))]
    while stack:
        step = stack.pop()
        yield step
        stack.extend(reversed(reached.get(step.node, ())))


def _back(came: Mapping[str, Step | None], end: str) -> list[Step]:
    steps = []
    here: str = end
    while (step := came[here]) is not None:
        steps.append(step)
        here = step.parent
    return [step._replace(depth=depth + 1) for depth, step in enumerate(reversed(steps))]


def _components(table: Mapping[str, Sequence[str]]) -> Iterator[list[str]]:
    """Strongly connected components, without recursion (Tarjan)."""
    index: dict[str, int] = {}
    low: dict[str, int] = {}
    stack: list[str] = []
    on_stack: set[str] = set()
    for root in table:
        if root in index:
            continue
        work: list[tuple[str, Iterator[str]]] = [(root, iter(table[root]))]
        index[root] = low[root] = len(index)
        stack.append(root)
        on_stack.add(root)
        while work:
            node, others = work[-1]
            for other in others:
                if other not in index and other in table:
                    index[other] = low[other] = len(index)
                    stack.append(other)
                    on_stack.add(other)
                    work.append((other, iter(table[other])))
                    break
                if other in on_stack:
                    low[node] = min(low[node], index[other])
            else:
                work.pop()
                if work:
                    low[work[-1][0]] = min(low[work[-1][0]], low[node])
                if low[node] == index[node]:
                    group = []
                    while True:
                        member = stack.pop()
                        on_stack.discard(member)
                        group.append(member)
                        if member == node:
                            break
                    yield group


def _circle(start: str, group: set[str], table: Mapping[str, Sequence[str]]) -> list[str]:
    """A shortest way from a file of a group back to it."""
    came: dict[str, str] = {}
    waiting = deque([start])
    while waiting:
        here = waiting.popleft()
        for other in table[here]:
            if other == start:
                way = [here]
                while way[-1] != start:
                    way.append(came[way[-1]])
                return way[::-1]
            if other in group and other not in came:
                came[other] = here
                waiting.append(other)
    return [start]
