"""Graphs of small trees, made by the same steps as an engine makes them."""

from __future__ import annotations

from collections.abc import Mapping

from dowse.graph import build
from dowse.graph.traversal import Graph
from dowse.stores.memory import MemoryStore
from dowse.types.graph_values import Certainty, Relation
from tests.stores.building import write


def graph_of(tree: Mapping[str, str]) -> Graph:
    """The graph of a tree."""
    store = MemoryStore()
    write(store, tree)
    with store.snapshot() as snapshot:
        return Graph(build.update_graph(snapshot, {}))


def edges(
    tree: Mapping[str, str], relation: Relation, certainty: Certainty = Certainty.RESOLVED
) -> set[tuple[str, str]]:
    """Sources and targets of the edges of a kind."""
    files = graph_of(tree).files.values()
    found = (edge for file in files for edge in file.edges)
    return {(e.source, e.target) for e in found if e.relation is relation and e.certainty is certainty}


def calls(tree: Mapping[str, str]) -> set[tuple[str, str]]:
    """Sources and targets of resolved calls."""
    return edges(tree, Relation.INVOKES)


def imports(tree: Mapping[str, str]) -> set[tuple[str, str]]:
    """Sources and targets of resolved imports."""
    return edges(tree, Relation.IMPORTS)
