"""Code graph types: nodes, edges with relation and certainty, traversal options, and answers of graph queries."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import NamedTuple

from dowse.frozen import frozen
from dowse.types.source import Kind


class Relation(StrEnum):
    """How one node of the graph depends on another."""

    CONTAINS = "contains"
    IMPORTS = "imports"
    INVOKES = "invokes"
    INHERITS = "inherits"
    REFERENCES = "references"
    DECLARES = "declares"


class Certainty(StrEnum):
    """What is known of the other end of an edge."""

    RESOLVED = "resolved"
    AMBIGUOUS = "ambiguous"
    EXTERNAL = "external"


class Node(NamedTuple):
    """A directory, a file or an entity. The id is ``path`` or ``path:Class.method``; lines are 0 for directories."""

    id: str
    kind: Kind
    start_line: int = 0
    end_line: int = 0
    line: int = 0


class Edge(NamedTuple):
    """One node mentions another. Of an ambiguous edge the target is a name, and ``candidates`` what it may mean."""

    source: str
    target: str
    relation: Relation
    certainty: Certainty
    line: int
    candidates: tuple[str, ...] = ()


class Direction(StrEnum):
    """Which way edges are followed."""

    USES = "uses"
    USED_BY = "used-by"
    BOTH = "both"


class Step(NamedTuple):
    """How a walk came to a node: from which one, by which edge, and whether against its direction."""

    depth: int
    parent: str
    node: str
    edge: Edge
    backward: bool


DEFAULT_DEPTHS: dict[str, int | None] = {
    "callers": 1,
    "callees": 1,
    "deps": 1,
    "impact": 5,
    "traverse": 2,
    "hierarchy": None,
    "affected": 3,
}
"""Steps that each query of the graph follows by default; None: as far as it goes."""

ALL_STEPS = -1
"""How users and agents write the depth of a walk that goes as far as it can, where a number is expected."""


def parse_depth(steps: int) -> int | None:
    """Parse the depth of a walk as users write it."""
    return None if steps == ALL_STEPS else steps


def format_depth(depth: int | None) -> int:
    """Format the depth of a walk as users write it."""
    return ALL_STEPS if depth is None else depth


@frozen
class Walk:
    """The options of a graph traversal: direction, depth, relations, limits."""

    direction: Direction = Direction.USES
    depth: int | None = DEFAULT_DEPTHS["traverse"]  # None: as far as it goes
    relations: frozenset[Relation] = frozenset()  # none: all of them
    kinds: frozenset[Kind] = frozenset()  # none: all of them
    ambiguous: bool = False  # follow what is known by name only
    external: bool = False  # name what lies outside of the tree
    limit: int = 1000  # nodes


@frozen
class GraphAnswer:
    """A part of the graph: where it starts, and how each other node is reached, in the order of a tree."""

    question: str
    start: tuple[str, ...]
    nodes: Mapping[str, Node]
    steps: tuple[Step, ...]
    notes: tuple[str, ...] = ()


class EntityHit(NamedTuple):
    """An entity that a query names or describes; ``tier`` is id, file, directory, a ``NameTier`` or content.

    ``score`` is 1 for what is named exactly, less for less certain tiers, and least for content.
    """

    id: str
    kind: Kind
    path: str
    start_line: int
    end_line: int
    signature: str
    tier: str
    score: float


class EntityCode(NamedTuple):
    """The code of an entity. Of a directory, what it holds."""

    id: str
    kind: Kind
    path: str
    start_line: int
    end_line: int
    text: str


class Hub(NamedTuple):
    """A node and how many others depend on it."""

    node: Node
    dependents: int
    rank: float


@frozen
class Affected:
    """What a change reaches: entities changed, their dependents, tests to run, files that usually change with them."""

    changed: tuple[Node, ...]
    removed: tuple[str, ...]
    dependents: GraphAnswer
    tests: tuple[tuple[str, str], ...]  # path and why
    companions: tuple[tuple[str, float, int], ...]  # path, share of commits, commits
    notes: tuple[str, ...] = ()
