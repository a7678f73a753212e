"""The code graph as SVG: boxes in columns, edges by relation, links to go on; for the page and as a file."""

from __future__ import annotations

from dowse.interfaces.web.graph_choice import GraphChoice, link_choice
from dowse.interfaces.web.graph_layout import NODE_HEIGHT, NODE_UNITS, Drawing, Point, lay_out
from dowse.interfaces.web.html_builder import Html, element, join
from dowse.interfaces.web.page_frame import PageRequest
from dowse.types.graph_values import Certainty, GraphAnswer, Relation

MAX_LABEL_CHARS = 27

MAX_PATH_CHARS = 33

SVG_STYLE = (
    ".node rect{fill:#f4f6f6;stroke:#8aa3a8}.centre rect{fill:#d8ecef;stroke:#0f6e84}"
    "text{font:12px system-ui,sans-serif;fill:#1d2a2d}.edge{fill:none;stroke:#8aa3a8}.unsure{stroke-dasharray:4 3}"
    ".arrow{fill:#8aa3a8}"
)
"""The look of an exported drawing, which has no style sheet beside it."""


def place_nodes(answer: GraphAnswer) -> tuple[Drawing, list[tuple[str, str, str, bool]]]:
    """Place the nodes of an answer, and list its edges: source, target, relation, certainty."""
    layers = dict.fromkeys(answer.start, 0)
    edges: dict[tuple[str, str, str], bool] = {}
    for step in answer.steps:
        side = layers.get(step.parent, 0)
        sign = (1 if side > 0 else -1 if side < 0 else 0) or (-1 if step.backward else 1)
        layers.setdefault(step.node, side + sign)
        ends = (step.node, step.parent) if step.backward else (step.parent, step.node)
        edges[(*ends, step.edge.relation.value)] = step.edge.certainty is Certainty.RESOLVED
    rows = [(source, target, relation, sure) for (source, target, relation), sure in edges.items()]
    by_file = {id: layers[id] for id in sorted(layers)}  # side by side, where nothing else says how
    return lay_out(by_file, [(source, target) for source, target, *_ in rows]), rows


def draw(request: PageRequest, choice: GraphChoice, answer: GraphAnswer, *, links: bool = True) -> Html:
    """Draw an answer as SVG."""
    layout, edges = place_nodes(answer)
    lines = [
        _draw_edge(layout.points[source], layout.points[target], relation, is_sure=sure)
        for source, target, relation, sure in edges
        if source in layout.points and target in layout.points
    ]
    boxes = [
        _draw_node(request, choice, answer, id, point, links=links) for id, point in layout.points.items()
    ]
    arrow = element(
        "marker",
        element("path", d="M0 0 8 4 0 8z"),
        id="arrow",
        viewBox="0 0 8 8",
        refX=7,
        refY=4,
        markerWidth=7,
        markerHeight=7,
        orient="auto-start-reverse",
        class_="arrow",
    )
    return element(
        "svg",
        element("title", f"Graph around {choice.node}"),
        element("defs", arrow),
        element("g", lines, class_="edges"),
        element("g", boxes, class_="nodes"),
        viewBox=f"0 0 {layout.width:g} {layout.height:g}",
        width=round(layout.width),
        height=round(layout.height),
        xmlns="http://www.w3.org/2000/svg",
        class_="graph-drawing",
    )


def _draw_edge(source: Point, target: Point, relation: str, *, is_sure: bool) -> Html:
    toward = 1 if target.x >= source.x else -1
    x1, x2 = source.x + toward * NODE_UNITS / 2, target.x - toward * (NODE_UNITS / 2 + 3)
    if source.x == target.x:  # within a column: around its right side
        x1 = x2 = source.x + NODE_UNITS / 2
        middle = x1 + 36
        d = f"M{x1:g} {source.y:g}C{middle:g} {source.y:g} {middle:g} {target.y:g} {x2:g} {target.y:g}"
    else:
        middle = (x1 + x2) / 2
        d = f"M{x1:g} {source.y:g}C{middle:g} {source.y:g} {middle:g} {target.y:g} {x2:g} {target.y:g}"
    kind = f"edge {relation}" + ("" if is_sure else " unsure")
    return element("path", element("title", relation), d=d, class_=kind, marker_end="url(#arrow)")


def _draw_node(
    request: PageRequest, choice: GraphChoice, answer: GraphAnswer, id: str, point: Point, *, links: bool
) -> Html:
    node = answer.nodes.get(id)
    path, _, name = id.partition(":")
    label = name or path.rpartition("/")[2] or path
    short = (
        label if len(label) <= MAX_LABEL_CHARS else label[: MAX_LABEL_CHARS - 1] + "\N{HORIZONTAL ELLIPSIS}"
    )
    below = path if name else path.rpartition("/")[0]
    below = below if len(below) <= MAX_PATH_CHARS else "\N{HORIZONTAL ELLIPSIS}" + below[1 - MAX_PATH_CHARS :]
    x, y = point.x - NODE_UNITS / 2, point.y - NODE_HEIGHT / 2
    kind = node.kind.value if node else "external"
    box = join(
        element("title", f"{id} ({kind})"),
        element("rect", x=f"{x:g}", y=f"{y:g}", width=NODE_UNITS, height=NODE_HEIGHT, rx=7),
        element("text", short, x=f"{x + 12:g}", y=f"{point.y - 2:g}"),
        element("text", below, x=f"{x + 12:g}", y=f"{point.y + 12:g}", class_="from"),
    )
    cls = f"node {kind}" + (" centre" if id in answer.start else "")
    if not links or node is None:
        return element("g", box, class_=cls)
    centre = element(
        "a",
        box,
        href=link_choice(request, choice, node=id, expand="", view=""),
    )
    return element("g", centre, _draw_expander(request, choice, id, point), class_=cls)


def _draw_expander(request: PageRequest, choice: GraphChoice, id: str, point: Point) -> Html | None:
    """Draw the sign that shows a node's own neighbours too."""
    if choice.view != "around" or id == choice.node or id in choice.expanded:
        return None
    x = point.x + NODE_UNITS / 2 - 14
    sign = join(
        element("circle", cx=f"{x:g}", cy=f"{point.y:g}", r=8),
        element("path", d=f"M{x - 4:g} {point.y:g}h8M{x:g} {point.y - 4:g}v8"),
    )
    href = link_choice(request, choice, expand="\n".join((*choice.expanded, id)))
    return element("a", sign, href=href, class_="expand", aria_label=f"expand {id}")


def render_legend(answer: GraphAnswer) -> Html:
    """Render which line stands for which relation."""
    used = {step.edge.relation for step in answer.steps}
    rows = [
        element(
            "li",
            element(
                "svg",
                element("path", d="M0 5H26", class_=f"edge {relation.value}"),
                viewBox="0 0 26 10",
                width=26,
                height=10,
                aria_hidden="true",
            ),
            relation.value,
        )
        for relation in Relation
        if relation in used
    ]
    return element("ul", rows, class_="legend", aria_label="Edges")
