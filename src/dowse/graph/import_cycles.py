"""Circular imports: strongly connected components (Tarjan) of the import graph, and a shortest cycle in each."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Mapping, Sequence

from dowse.graph.adjacency import Adjacency
from dowse.types.graph_values import Certainty, Relation


def find_cycles(graph: Adjacency) -> list[list[str]]:
    """Find circular imports: a shortest cycle per strongly connected component, largest components first."""
    table = {
        path: [
            graph.file_of(edge.target)
            for edge in file.edges
            if edge.relation is Relation.IMPORTS and edge.certainty is Certainty.RESOLVED
        ]
        for path, file in graph.files.items()
    }
    groups = sorted((g for g in _find_components(table) if len(g) > 1), key=lambda g: (-len(g), min(g)))
    return [_find_shortest_cycle(min(group), set(group), table) for group in groups]


def _find_components(table: Mapping[str, Sequence[str]]) -> Iterator[list[str]]:
    """Find the strongly connected components, without recursion (Tarjan)."""
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


def _find_shortest_cycle(start: str, group: set[str], table: Mapping[str, Sequence[str]]) -> list[str]:
    """Find a shortest cycle through a file, inside of its group."""
    came_from: dict[str, str] = {}
    waiting = deque([start])
    while waiting:
        here = waiting.popleft()
        for other in table[here]:
            if other == start:
                cycle = [here]
                while cycle[-1] != start:
                    cycle.append(came_from[cycle[-1]])
                return cycle[::-1]
            if other in group and other not in came_from:
                came_from[other] = here
                waiting.append(other)
    return [start]
