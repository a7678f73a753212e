"""What the address of the graph page asks for: the centre, the view, direction, depth, edges, what is expanded."""

from __future__ import annotations

from typing import NamedTuple

from dowse.interfaces.web.page_frame import PageRequest, address
from dowse.types.graph_values import Direction, Relation

MAX_NODES = 150
"""Nodes of a drawing: more cannot be read."""

DEFAULT_NODES = 40

MAX_DEPTH = 4

MAX_EXPANDED = 20
"""Nodes whose neighbours are shown too."""

SHOWN_RELATIONS = (
    Relation.IMPORTS,
    Relation.INVOKES,
    Relation.INHERITS,
    Relation.REFERENCES,
    Relation.CONTAINS,
)

VIEWS = (("around", "Neighbourhood"), ("impact", "Impact"), ("path", "Path"))


class GraphChoice(NamedTuple):
    """What the address asks for."""

    node: str
    view: str
    direction: Direction
    depth: int
    relations: frozenset[Relation]
    limit: int
    to: str
    expanded: tuple[str, ...]


def read_choice(request: PageRequest) -> GraphChoice:
    """Read what the address asks for; anything that is not known is as if it were not given."""
    direction = request.get("direction")
    names = request.get("relations").split(",")
    return GraphChoice(
        request.get("node").strip(),
        request.get("view") if request.get("view") in dict(VIEWS) else "around",
        Direction(direction) if direction in list(Direction) else Direction.BOTH,
        request.get_number("depth", 1, 1, MAX_DEPTH),
        frozenset(relation for relation in Relation if relation.value in names),
        request.get_number("limit", DEFAULT_NODES, 1, MAX_NODES),
        request.get("to").strip(),
        tuple(filter(None, request.get("expand").split("\n")))[:MAX_EXPANDED],
    )


def link_choice(request: PageRequest, choice: GraphChoice, path: str = "/graph", **changes: str | int) -> str:
    """Return the address of this choice with some changes."""
    values: dict[str, str | int] = {
        "repo": request.get("repo"),
        "node": choice.node,
        "view": choice.view if choice.view != "around" else "",
        "direction": choice.direction.value if choice.direction is not Direction.BOTH else "",
        "depth": choice.depth if choice.depth > 1 else 0,
        "relations": ",".join(relation.value for relation in SHOWN_RELATIONS if relation in choice.relations),
        "limit": choice.limit if choice.limit != DEFAULT_NODES else 0,
        "to": choice.to,
        "expand": "\n".join(choice.expanded),
    }
    return address(path, **values | changes)
