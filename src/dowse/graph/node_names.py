"""Resolve a user-supplied name to one node of the code graph, or raise an error that lists the candidates.

An ambiguous name is never picked silently; an unknown one gets suggestions.
"""

from __future__ import annotations

from difflib import get_close_matches

from dowse.errors import EntityAmbiguous, EntityNotFound
from dowse.graph.traversal import Graph
from dowse.types.graph_values import Node
from dowse.types.source import Kind

MAX_LISTED_CANDIDATES = 20
"""Candidates that an error lists."""


def find_node(graph: Graph, name: str, kinds: frozenset[Kind] = frozenset()) -> Node:
    """Find the one node that a name means; raise an error that lists the candidates if there are several."""
    found = graph.find_matches(name)
    fitting = [node for node in found if not kinds or node.kind in kinds] or found
    if len(fitting) == 1:
        return fitting[0]
    if not fitting:
        raise EntityNotFound(f"nothing has the name '{name}'{_describe_suggestions(graph, name)}")
    listed = [f"\n  {node.id} ({node.kind})" for node in fitting[:MAX_LISTED_CANDIDATES]]
    more = (
        f"\n  and {len(fitting) - MAX_LISTED_CANDIDATES} more" if len(fitting) > MAX_LISTED_CANDIDATES else ""
    )
    raise EntityAmbiguous(f"'{name}' is the name of {len(fitting)} things; say which:{''.join(listed)}{more}")


def suggest_ids(graph: Graph, name: str, limit: int = 5) -> list[str]:
    """Suggest ids that may have been meant: of the file that the name begins with, else of the whole tree."""
    path, _, qualified = name.rpartition(":")
    if path in graph.files:
        ids = {id.rpartition(":")[2]: id for id in graph.iter_members(path) if id != path}
        return [ids[match] for match in get_close_matches(qualified, ids, n=limit, cutoff=0)]
    last = qualified.rpartition("/")[2].rpartition(".")[2] or name
    close = get_close_matches(last, graph.by_name, n=limit)
    found = [id for word in close for id in graph.by_name[word]]
    if not found:
        files = {path.rpartition("/")[2]: path for path in graph.files}
        found = [files[match] for match in get_close_matches(name.rpartition("/")[2], files, n=limit)]
    return found[:limit]


def _describe_suggestions(graph: Graph, name: str) -> str:
    close = suggest_ids(graph, name)
    if close:
        return f": did you mean {', '.join(close)}?"
    return ": an id is a path or path:Class.method, with names as a search shows them"
