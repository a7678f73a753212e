"""Pages of saved evaluations: the list, one with its charts, two compared, and failed queries that open as searches."""

from __future__ import annotations

from dowse.errors import DowseError
from dowse.evaluation import storage
from dowse.evaluation.compare import compare
from dowse.evaluation.eval_types import Evaluation
from dowse.interfaces.http.index_operations import find_evaluation, list_evaluations
from dowse.interfaces.reports import content
from dowse.interfaces.reports.html_report import render_comparison, render_sections
from dowse.interfaces.web.assets import asset_url
from dowse.interfaces.web.html_builder import Html, element, join
from dowse.interfaces.web.page_frame import PageRequest, address, full_page

MAX_FAILED = 100


def evaluations_page(request: PageRequest) -> str:
    """Make the page with the list of saved evaluations, or with one of them."""
    if request.get("name"):
        return _evaluation_page(request, request.get("name"), request.get("with"))
    rows = [_render_row(request, name) for name in list_evaluations(request.served)]
    head = element(
        "tr", [element("th", text, scope="col") for text in ("Name", "Made", "Queries", "Headline", "Value")]
    )
    table = (
        element("table", element("thead", head), element("tbody", rows), class_="wide") if rows else _teach()
    )
    return full_page(request, "Evaluations", join(element("h1", "Evaluations"), table), kind="evaluations")


def _teach() -> Html:
    return element(
        "section",
        element("p", "No evaluation is saved here yet.", class_="lead"),
        element("p", "Measure how well search works on your own code, and keep the runs in a folder:"),
        element(
            "pre",
            "dowse eval --mine 200 --save runs/first.json\ndowse serve --evaluations runs",
            tabindex="0",
        ),
        class_="empty",
    )


def _render_row(request: PageRequest, name: str) -> Html:
    link = element("a", name, href=address("/evaluations", name=name))
    try:
        found = storage.load(find_evaluation(request.served, name))
    except DowseError as error:
        return element("tr", element("td", link), element("td", str(error), colspan=4, class_="soft"))
    headline = found.metrics[0] if found.metrics else ""
    estimate = found.runs[0].summary.overall.get(headline) if found.runs else None
    cells = (
        found.made.replace("T", " ")[:16],
        str(len(found.runs[0].outcomes)) if found.runs else "0",
        headline,
        content.format_estimate(estimate) if estimate else "",
    )
    return element("tr", element("td", link), [element("td", cell) for cell in cells])


def _evaluation_page(request: PageRequest, name: str, other: str) -> str:
    found = storage.load(find_evaluation(request.served, name))
    parts = [
        element("link", rel="stylesheet", href=asset_url("report.css")),
        element("h1", content.title(found)),
        element("p", content.introduction(found), class_="soft"),
        _render_choice(request, name, other),
    ]
    if other:
        before = storage.load(find_evaluation(request.served, other))
        parts.append(
            Html(render_comparison(compare(before.runs[0], found.runs[0], found.metrics, (other, name))))
        )
    parts.append(_render_failed(found))
    parts.append(Html("\n".join(render_sections(found))))
    return full_page(request, name, element("div", parts, class_="report"), kind="evaluations")


def _render_choice(request: PageRequest, name: str, other: str) -> Html:
    others = [one for one in list_evaluations(request.served) if one != name]
    if not others:
        return Html("")
    options = [element("option", one, value=one, selected=one == other) for one in others]
    return element(
        "form",
        element("input", type="hidden", name="name", value=name),
        element("label", "Compare with", for_="with"),
        element("select", options, id="with", name="with"),
        element("button", "Compare", type="submit"),
        action="/evaluations",
        method="get",
        class_="graph-form",
    )


def _render_failed(evaluation: Evaluation) -> Html:
    """Render the queries whose answer was not found, as links to their search."""
    if not evaluation.runs:
        return Html("")
    failed = [outcome for outcome in evaluation.runs[0].outcomes if not content.first_rank(outcome)][
        :MAX_FAILED
    ]
    rows = [
        element("li", element("a", outcome.query, href=address("/", q=outcome.query))) for outcome in failed
    ]
    title = f"{len(rows)} queries whose answer was not found: open them as searches"
    return (
        element("details", element("summary", title), element("ul", rows), class_="card")
        if rows
        else Html("")
    )
