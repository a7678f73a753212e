"""Layered graph layout: columns by distance from the centre, rows ordered so that few edges cross (barycenters)."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import NamedTuple

COLUMN_UNITS = 320
ROW_UNITS = 46
NODE_UNITS = 220
NODE_HEIGHT = 38
MARGIN_UNITS = 24

MAX_COLUMN_ROWS = 44
"""Nodes in a column; more go into a column beside it."""

SWEEPS = 6
"""Times that the order within columns is improved; more change little."""


class Point(NamedTuple):
    """Where the middle of a node is."""

    x: float
    y: float


class Drawing(NamedTuple):
    """A drawing: where each node is, and how large it is in all."""

    points: Mapping[str, Point]
    width: float
    height: float


def lay_out(layers: Mapping[str, int], edges: Sequence[tuple[str, str]]) -> Drawing:
    """Lay out nodes by their layer (0 is the centre, negative ones to the left) and the edges between them."""
    columns = _fill_columns(layers)
    neighbours: dict[str, list[str]] = defaultdict(list)
    for source, target in edges:
        if source in layers and target in layers:
            neighbours[source].append(target)
            neighbours[target].append(source)
    for sweep in range(SWEEPS):
        for column in columns if sweep % 2 == 0 else reversed(columns):
            _sort_by_neighbours(column, _heights(columns), neighbours)
    rows = max(map(len, columns), default=1)
    height = rows * ROW_UNITS + 2 * MARGIN_UNITS
    points: dict[str, Point] = {}
    for number, column in enumerate(columns):
        top = (height - len(column) * ROW_UNITS) / 2 + ROW_UNITS / 2
        x = MARGIN_UNITS + NODE_UNITS / 2 + number * COLUMN_UNITS
        points |= {id: Point(x, top + row * ROW_UNITS) for row, id in enumerate(column)}
    width = 2 * MARGIN_UNITS + NODE_UNITS + (len(columns) - 1) * COLUMN_UNITS if columns else 0
    return Drawing(points, width, height)


def _fill_columns(layers: Mapping[str, int]) -> list[list[str]]:
    """Put the nodes of each layer into columns from left to right, a long layer into several."""
    by_layer: dict[int, list[str]] = defaultdict(list)
    for id, layer in layers.items():
        by_layer[layer].append(id)
    columns = []
    for layer in sorted(by_layer):
        ids = by_layer[layer]
        count = -(-len(ids) // MAX_COLUMN_ROWS)
        size = -(-len(ids) // count)
        columns += [ids[start : start + size] for start in range(0, len(ids), size)]
    return columns


def _heights(columns: Sequence[Sequence[str]]) -> dict[str, float]:
    """Return the height of each node from the middle of its column."""
    return {id: row - len(column) / 2 for column in columns for row, id in enumerate(column)}


def _sort_by_neighbours(
    column: list[str], heights: Mapping[str, float], neighbours: Mapping[str, Sequence[str]]
) -> None:
    def mean(id: str) -> float:
        others = neighbours.get(id, ())
        return sum(heights[other] for other in others) / len(others) if others else heights[id]

    column.sort(key=mean)
