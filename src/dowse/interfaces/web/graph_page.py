"""The graph page: the neighbourhood of a node as a drawing, the impact of a change as a tree, paths, hubs; exports."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from dowse.engine import Engine
from dowse.errors import UsageError
from dowse.interfaces import render_graph
from dowse.interfaces.web.graph_choice import (
    MAX_DEPTH,
    MAX_NODES,
    SHOWN_RELATIONS,
    VIEWS,
    GraphChoice,
    link_choice,
    read_choice,
)
from dowse.interfaces.web.graph_drawing import SVG_STYLE, draw, render_legend
from dowse.interfaces.web.html_builder import Html, element, join
from dowse.interfaces.web.page_frame import PageRequest, address, file_address, full_page
from dowse.types.graph_values import (
    GraphAnswer,
    Node,
    Walk,
)

MAX_HUBS = 30


def graph_page(request: PageRequest) -> str:
    """Make the page."""
    choice = read_choice(request)
    engine, problem, answer = request.engine, "", None
    if choice.node:
        try:
            answer = walk(engine, choice)
        except UsageError as error:
            problem = str(error)
    inner = join(
        _render_form(request, choice),
        element("p", problem, class_="problem", role="alert") if problem else None,
        _render_answer(request, choice, answer) if answer else _render_hubs(request, engine),
    )
    title = choice.node.rpartition(":")[2] if choice.node else ""
    return full_page(request, f"Graph of {title}" if title else "Graph", inner, kind="graph")


def walk(engine: Engine, choice: GraphChoice) -> GraphAnswer:
    """Ask the graph for what the address names."""
    steps = Walk(
        direction=choice.direction,
        depth=choice.depth,
        relations=choice.relations,
        limit=choice.limit,
        external=False,
    )
    if choice.view == "impact":
        return engine.graph.impact(choice.node, replace(steps, depth=MAX_DEPTH))
    if choice.view == "path" and choice.to:
        return engine.graph.path(choice.node, choice.to)
    return engine.graph.traverse([choice.node, *choice.expanded], steps)


# --- the form ---


def _render_form(request: PageRequest, choice: GraphChoice) -> Html:
    node = element(
        "input",
        id="node",
        name="node",
        value=choice.node,
        required=True,
        placeholder="path, path:Name or name",
    )
    views = _choose("view", "View", VIEWS, choice.view)
    directions = (("both", "uses and used by"), ("uses", "uses"), ("used-by", "used by"))
    to = (
        (
            element("label", "To", for_="to"),
            element("input", id="to", name="to", value=choice.to, placeholder="path or name"),
        )
        if choice.view == "path"
        else None
    )
    around = choice.view == "around"
    return element(
        "form",
        element("label", "Centre", for_="node"),
        node,
        to,
        views,
        _choose("direction", "Direction", directions, choice.direction.value) if around else None,
        _choose("depth", "Depth", [(str(n), str(n)) for n in range(1, MAX_DEPTH + 1)], str(choice.depth))
        if around
        else None,
        _choose_relation(choice) if around else None,
        element("input", type="hidden", name="repo", value=request.get("repo"))
        if request.get("repo")
        else None,
        element("button", "Show", type="submit"),
        action="/graph",
        method="get",
        class_="graph-form",
    )


def _choose_relation(choice: GraphChoice) -> Html:
    current = next(iter(choice.relations)).value if len(choice.relations) == 1 else ""
    options = [("", "all edges"), *((relation.value, relation.value) for relation in SHOWN_RELATIONS)]
    return _choose("relations", "Edges", options, current)


def _choose(name: str, label: str, options: Iterable[tuple[str, str]], current: str) -> Html:
    rows = [element("option", text, value=value, selected=value == current) for value, text in options]
    select = element("select", rows, id=name, name=name)
    return element("span", element("label", label, for_=name), select, class_="field")


# --- the answer ---


def _render_answer(request: PageRequest, choice: GraphChoice, answer: GraphAnswer) -> Html:
    notes = [element("p", note.partition(" (")[0].capitalize(), class_="soft") for note in answer.notes]
    if not answer.steps:
        return element("p", "Nothing is connected with it in this way.", class_="lead")
    exports = element(
        "p",
        element("span", f"{len(answer.nodes)} nodes"),
        element("a", "SVG", href=link_choice(request, choice, "/graph.svg"), download="graph.svg"),
        element("a", "Mermaid", href=link_choice(request, choice, "/graph.mmd")),
        element("a", "More nodes", href=link_choice(request, choice, limit=MAX_NODES))
        if answer.notes and choice.limit < MAX_NODES
        else None,
        class_="links",
    )
    if choice.view == "impact":
        return join(notes, exports, _render_tree(request, answer))
    svg = draw(request, choice, answer)
    drawing = element(
        "div", svg, class_="drawing", tabindex="0", role="region", aria_label="Drawing of the graph"
    )
    return join(notes, exports, drawing, render_legend(answer), _render_list(request, answer))


def _render_list(request: PageRequest, answer: GraphAnswer) -> Html:
    """Render the drawing as a list, for those who do not see it."""
    rows = [
        element(
            "li",
            element("span", render_graph.relation_name(step), class_="soft"),
            " ",
            _node_link(request, answer, step.node),
        )
        for step in answer.steps
    ]
    return element("details", element("summary", "As a list"), element("ul", rows, class_="places"))


def _node_link(request: PageRequest, answer: GraphAnswer, id: str) -> Html:
    node = answer.nodes.get(id)
    path, _, name = id.partition(":")
    if node is None:
        return element("span", id)
    return join(
        element("a", name or path, href=file_address(request.repository, path, node.line or node.start_line)),
        element("span", f" {path}" if name else "", class_="soft"),
    )


def _render_tree(request: PageRequest, answer: GraphAnswer) -> Html:
    """Render what depends on the centre as a tree that can be folded."""
    children: dict[str, list[str]] = {}
    for step in answer.steps:
        children.setdefault(step.parent, []).append(step.node)
    shown: set[str] = set()

    def branch(id: str, depth: int) -> Html:
        below = [child for child in children.get(id, ()) if child not in shown]
        shown.update(below)
        link = _node_link(request, answer, id)
        if not below:
            return element("li", link)
        inner = element("ul", [branch(child, depth + 1) for child in below])
        summary = element("summary", f"used by {len(below)}")
        return element("li", link, element("details", summary, inner, open=depth < 2))

    return element("ul", [branch(start, 0) for start in answer.start], class_="impact")


def _render_hubs(request: PageRequest, engine: Engine) -> Html:
    """Render what most of the tree depends on: where to begin."""
    found = engine.graph.hubs((), MAX_HUBS)
    most = max((hub.dependents for hub in found), default=1)
    rows = [
        element(
            "tr",
            element("td", _hub_link(request, hub.node)),
            element("td", hub.node.kind.value, class_="soft"),
            element("td", _bar(hub.dependents / most)),
            element("td", f"{hub.dependents:,}", class_="number"),
        )
        for hub in found
    ]
    head = element(
        "tr",
        [element("th", text, scope="col") for text in ("What", "Kind")],
        element("td"),
        element("th", "Dependents", scope="col", class_="number"),
    )
    table = element("table", element("thead", head), element("tbody", rows), class_="hubs")
    return join(
        element("h1", "What most depends on"),
        table if rows else element("p", "The graph is empty.", class_="lead"),
    )


def _hub_link(request: PageRequest, node: Node) -> Html:
    path, _, name = node.id.partition(":")
    link = element("a", name or path, href=address("/graph", repo=request.get("repo"), node=node.id))
    return join(link, element("span", f" {path}" if name else "", class_="soft"))


def _bar(share: float) -> Html:
    bar = element("rect", x=0, y=0, width=round(100 * share, 1), height=8, rx=2, class_="r0")
    return element(
        "svg", bar, viewBox="0 0 100 8", preserveAspectRatio="none", class_="bar", aria_hidden="true"
    )


def graph_file(request: PageRequest, layout: str) -> str:
    """Return the drawing of the address as a file: ``svg`` or ``mermaid``."""
    choice = read_choice(request)
    answer = walk(request.engine, choice)
    if layout == "mermaid":
        return render_graph.mermaid(answer)
    svg = draw(request, choice, answer, links=False)
    style = element("style", Html(SVG_STYLE))
    return svg.replace("<defs>", f"{style}<defs>", 1)
