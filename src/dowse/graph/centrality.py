"""Centrality in the code graph: in-degree (number of dependents) of nodes, and PageRank of files, to find hubs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from dowse.graph.traversal import Graph
from dowse.types.graph_values import Certainty, Hub, Relation
from dowse.types.source import Kind

DAMPING = 0.85
"""The usual damping factor of PageRank."""

ITERATIONS = 20
"""Rounds after which the ranks of trees of any size are stable to the third digit."""


def rank_hubs(graph: Graph, kinds: frozenset[Kind], limit: int) -> list[Hub]:
    """List the nodes with most dependents (distinct ones outside of themselves), then by PageRank."""
    dependents: dict[str, set[str]] = {}
    for source, row in graph.uses.items():
        for target, edge in row:
            if edge.certainty is not Certainty.RESOLVED or edge.relation is Relation.CONTAINS:
                continue
            if target in graph.nodes and not source.startswith(target):
                dependents.setdefault(target, set()).add(source)
            file = graph.file_of(target)
            if file != target and graph.file_of(source) != file:
                dependents.setdefault(file, set()).add(graph.file_of(source))
    ranks = rank_files(graph)
    found = [
        Hub(graph.nodes[id], len(sources), ranks.get(graph.file_of(id), 0.0))
        for id, sources in dependents.items()
        if not kinds or graph.nodes[id].kind in kinds
    ]
    return sorted(found, key=lambda hub: (-hub.dependents, -hub.rank, hub.node.id))[:limit]


def rank_files(graph: Graph) -> dict[str, float]:
    """Compute PageRank of files over what they depend on; the mean is one."""
    table = {path: [target for target, _ in row] for path, row in graph.file_uses.items()}
    return compute_page_rank(table)


def compute_page_rank(table: Mapping[str, Sequence[str]]) -> dict[str, float]:
    """Compute PageRank of the nodes of a graph given by its out-edges; the mean is one."""
    ranks = dict.fromkeys(table, 1.0)
    for _ in range(ITERATIONS):
        new = dict.fromkeys(table, 1.0 - DAMPING)
        lost = 0.0
        for node, targets in table.items():
            inside = [target for target in targets if target in new]
            if not inside:
                lost += ranks[node]
                continue
            share = DAMPING * ranks[node] / len(inside)
            for target in inside:
                new[target] += share
        spread = DAMPING * lost / max(1, len(table))
        ranks = {node: rank + spread for node, rank in new.items()}
    return ranks
