"""The panel of a symbol: where it is defined, who calls it, what it calls."""

from __future__ import annotations

from collections.abc import Iterable

from dowse.engine import Engine
from dowse.errors import DowseError, UsageError
from dowse.interfaces.web.html_builder import Html, element, join
from dowse.interfaces.web.page_frame import PageRequest, address, file_address
from dowse.types.graph_values import EntityHit, GraphAnswer, Walk

MAX_PANEL_ROWS = 30
"""Definitions, callers and callees that the panel lists."""


def symbol_part(request: PageRequest) -> str:
    """Make the panel of a symbol: where it is defined, who uses it, what it uses."""
    engine, repository, name = request.engine, request.repository, request.get("name")
    if not name.strip():
        raise UsageError("'name' is missing: the name of a symbol")
    path = request.get("path")
    hits = engine.graph.entities(name, limit=MAX_PANEL_ROWS, content=False)
    exact = [hit for hit in hits if hit.tier in ("id", "exact", "file")] or hits
    exact.sort(key=lambda hit: hit.path != path)
    sections = [element("h2", name), _definitions(repository, exact)]
    if exact:
        sections += _uses(engine, repository, exact[0])
    search = element("a", f"Search for {name}", href=address("/", q=name, repo=request.get("repo")))
    return join(
        element("button", "\N{MULTIPLICATION SIGN}", type="button", class_="close", aria_label="close"),
        sections,
        element("p", search, class_="links"),
    )


def _definitions(repository: str, hits: Iterable[EntityHit]) -> Html:
    rows = [
        element(
            "li",
            element(
                "a",
                hit.id.partition(":")[2] or hit.path,
                href=file_address(repository, hit.path, hit.start_line),
            ),
            element("span", f"{hit.path}:{hit.start_line}", class_="soft"),
        )
        for hit in hits
    ]
    none = element("p", "It is not defined in this repository.", class_="soft") if not rows else None
    return join(element("h3", "Defined"), none, element("ul", rows, class_="places"))


def _uses(engine: Engine, repository: str, hit: EntityHit) -> list[Html]:
    walk = Walk(limit=MAX_PANEL_ROWS)
    found = []
    for title, ask in (("Called by", engine.graph.callers), ("Calls", engine.graph.callees)):
        try:
            answer = ask(hit.id, walk)
        except DowseError:
            continue  # not a thing that can be called
        if answer.steps:
            found += [element("h3", title), element("ul", _steps(repository, answer), class_="places")]
    link = element("a", "Show it in the graph", href=address("/graph", repo=repository, node=hit.id))
    return [*found, element("p", link, class_="links")]


def _steps(repository: str, answer: GraphAnswer) -> Iterable[Html]:
    for step in answer.steps:
        path, _, name = step.node.partition(":")
        node = answer.nodes.get(step.node)
        line = step.edge.line if step.backward else (node.start_line if node else 0)
        shown = (
            element("a", name or path, href=file_address(repository, path, line))
            if node
            else element("span", name or path)
        )
        yield element("li", shown, element("span", f"{path}:{line}" if line else path, class_="soft"))
