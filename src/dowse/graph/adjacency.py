"""Adjacency lists of the code graph: nodes by id and name, outgoing and incoming edges of entities and of files.

Every table is built when it is first needed.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from functools import cached_property
from posixpath import dirname

from dowse.code.test_pairing import Pairs
from dowse.graph.build import FileGraphs
from dowse.graph.import_rules import get_dialect
from dowse.graph.scopes import CLASSES, FUNCTIONS
from dowse.types.graph_values import Certainty, Edge, Node, Relation
from dowse.types.source import Kind, Role

MAX_NAME_CANDIDATES = 6
"""A call known by name only is an edge to every definition of that name; beyond this many it says nothing."""


class Adjacency:
    """The adjacency lists of one generation of the index. Every table is built when it is first needed."""

    def __init__(self, files: FileGraphs) -> None:
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
        """Return the node around a node; empty at the root."""
        path, colon, name = id.rpartition(":")
        if not colon or id in self.files:
            return dirname(id)
        while "." in name:
            name = name.rpartition(".")[0]
            if f"{path}:{name}" in self.nodes:
                return f"{path}:{name}"
        return path

    def iter_members(self, id: str) -> Iterator[str]:
        """List a node and everything inside of it."""
        waiting = deque([id])
        while waiting:
            node = waiting.popleft()
            yield node
            waiting.extend(self.children.get(node, ()))

    def file_of(self, id: str) -> str:
        """Return the path of the file that a node is in; for a directory, the directory itself."""
        if id in self.files:
            return id
        path = id.rpartition(":")[0]
        return path if path in self.files else id

    def is_test(self, id: str) -> bool:
        """Tell whether a node is in a test file."""
        file = self.files.get(self.file_of(id))
        return file is not None and file.role is Role.TEST

    def find_matches(self, text: str) -> list[Node]:
        """Find the nodes that a name may mean: by id, end of a path, qualified name or name."""
        wanted = text.strip().removeprefix("./").rstrip("/")
        if node := self.nodes.get(wanted):
            return [node]
        path, colon, name = wanted.rpartition(":")
        if colon and not name.isdigit():
            fits = [n for n in self._find_named(name) if _is_path_suffix(self.file_of(n.id), path)]
            return self._drop_secondary([n for n in fits if n.id.rpartition(":")[2] == name] or fits)
        if named := self._find_named(wanted):
            return self._drop_secondary(named)
        return [node for id, node in self.nodes.items() if ":" not in id and _is_path_suffix(id, wanted)]

    def _find_named(self, name: str) -> list[Node]:
        found = self.by_name.get(name.rpartition(".")[2], ())
        ends = [id for id in found if f".{id.rpartition(':')[2]}".endswith(f".{name}")]
        whole = [id for id in ends if "." in name and id.rpartition(":")[2] == name]
        return [self.nodes[id] for id in whole or ends]

    def _drop_secondary(self, nodes: list[Node]) -> list[Node]:
        """Prefer classes to their constructors, and definitions to their declarations."""
        ids = {node.id for node in nodes}
        nodes = [node for node in nodes if self.definitions.get(node.id) not in ids]
        if not any(node.kind in CLASSES for node in nodes):
            return nodes
        return [node for node in nodes if not self._is_constructor(node)]

    def _is_constructor(self, node: Node) -> bool:
        owner, _, last = node.id.rpartition(":")[2].rpartition(".")
        dialect = get_dialect(self.files[self.file_of(node.id)].language)
        return node.kind in FUNCTIONS and last in dialect.list_constructor_names(owner.rpartition(".")[2])

    def _list_constructors(self, id: str) -> list[str]:
        """List the methods that are called when an object of a class is created."""
        if id not in self.nodes or self.nodes[id].kind not in CLASSES:
            return []
        name = id.rpartition(":")[2].rpartition(".")[2]
        names = get_dialect(self.files[self.file_of(id)].language).list_constructor_names(name)
        return [inner for name in names if (inner := f"{id}.{name}") in self.nodes]

    def list_aliases(self, id: str, *, backward: bool) -> list[str]:
        """List a node and the nodes that stand for it: its declarations or definition, its class or constructor.

        What a constructor calls, its class does; who calls the class calls the constructor too.
        """
        found = {id: None}
        waiting = [id]
        while waiting:
            here = waiting.pop()
            others = [*self.declarations.get(here, ()), *self._list_constructors(here)]
            if here in self.definitions:
                others.append(self.definitions[here])
            owner = here.rpartition(".")[0]
            if backward and here in self._list_constructors(owner):
                others.append(owner)
            waiting += [other for other in others if other not in found]
            found |= dict.fromkeys(others)
        return list(found)

    # --- edges ---

    @cached_property
    def _name_candidates(self) -> dict[tuple[str, str], tuple[str, ...]]:
        return {}

    def list_candidates(self, edge: Edge, language: str) -> tuple[str, ...]:
        """List what an ambiguous edge may lead to."""
        if edge.candidates:
            return edge.candidates
        key = (language, edge.target)
        if key not in self._name_candidates:
            dialect = get_dialect(language)
            family = dialect.family or dialect.languages
            found = [
                id
                for id in self.by_name.get(edge.target, ())
                if self.nodes[id].kind in FUNCTIONS and self.files[self.file_of(id)].language in family
            ]
            found = [id for id in found if self.definitions.get(id) not in found]
            self._name_candidates[key] = tuple(found) if len(found) <= MAX_NAME_CANDIDATES else ()
        return self._name_candidates[key]

    @cached_property
    def _declaration_edges(self) -> dict[str, Edge]:
        edges = (edge for file in self.files.values() for edge in file.edges)
        return {edge.source: edge for edge in edges if edge.relation is Relation.DECLARES}

    @cached_property
    def definitions(self) -> dict[str, str]:
        """The definition of each declaration, where it is known."""
        return {id: edge.target for id, edge in self._declaration_edges.items()}

    @cached_property
    def declarations(self) -> dict[str, list[str]]:
        """The declarations of each definition that headers declare."""
        found: dict[str, list[str]] = {}
        for declaration, definition in self.definitions.items():
            found.setdefault(definition, []).append(declaration)
        return found

    @cached_property
    def uses(self) -> dict[str, list[tuple[str, Edge]]]:
        """For each node the ids (or external names) it mentions, with the edge; ambiguous edges once per candidate.

        A declaration does not depend on its definition: that is no part of it.
        """
        found: dict[str, list[tuple[str, Edge]]] = {}
        for file in self.files.values():
            for edge in file.edges:
                if edge.relation is Relation.DECLARES:
                    continue
                row = found.setdefault(edge.source, [])
                if edge.certainty is Certainty.AMBIGUOUS:
                    row.extend((id, edge) for id in self.list_candidates(edge, file.language))
                else:
                    row.append((edge.target, edge))
        return found

    @cached_property
    def used_by(self) -> dict[str, list[tuple[str, Edge]]]:
        """For each node in the tree, the nodes that mention it."""
        found: dict[str, list[tuple[str, Edge]]] = {}
        for source, row in self.uses.items():
            for target, edge in row:
                if edge.certainty is not Certainty.EXTERNAL:
                    found.setdefault(target, []).append((source, edge))
        return found

    @cached_property
    def file_uses(self) -> dict[str, list[tuple[str, Edge]]]:
        """For each file the other files it depends on, each once, by the first resolved edge."""
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


def _is_path_suffix(path: str, end: str) -> bool:
    return path == end or path.endswith(f"/{end}")
