"""The search page: hits with facets and a preview; what a query filters by as chips; pages without a query teach."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from dowse.engine import Engine
from dowse.errors import DowseError, UsageError
from dowse.interfaces.web.facets import list_filters, render_chips, render_facets
from dowse.interfaces.web.hit_list import render_hit_rows, render_hits
from dowse.interfaces.web.html_builder import Html, element, join
from dowse.interfaces.web.page_frame import PageRequest, address, full_page
from dowse.interfaces.web.preview import render_preview_of
from dowse.interfaces.web.query_examples import list_examples
from dowse.types.answers import NO_GOOD_HITS_NOTE, SearchOptions, SearchResponse, SearchResult
from dowse.types.stored import IndexState

HITS_COUNTED = 60
"""Hits that are asked for: facets count them."""

PAGE_HITS = 20

FIRST_HITS = 8
"""Hits of the answer to somebody who is typing, more than a window shows; the rest comes when the typing rests."""


@dataclass(frozen=True, slots=True)
class Asked:
    """What the address asks for, and the answer."""

    query: str
    response: SearchResponse | None = None
    problem: str = ""


def search_page(request: PageRequest) -> str:
    """Make the page, or the part of it that changes while somebody types."""
    query = request.get("q")
    asked = _ask(request, query) if query.strip() else Asked(query)
    if request.get("part") == "rest":
        return join(_render_rest(request, asked.response))
    inner = _render_answer(request, asked)
    if request.get("part"):
        return inner
    return full_page(request, query, element("div", inner, id="results"), kind="search", query=query)


def _ask(request: PageRequest, query: str) -> Asked:
    try:
        return Asked(query, run_search(request, query))
    except UsageError as error:
        return Asked(query, problem=str(error))


def run_search(request: PageRequest, query: str) -> SearchResponse:
    """Search the repository that the address names, or all."""
    names = [request.get("repo")] if request.get("repo") else []
    target = request.served.find_target(request.caller, names)
    options = SearchOptions(limit=HITS_COUNTED, show_low_confidence=request.get("all") == "1" or None)
    return target.search(query, options)


def _render_answer(request: PageRequest, asked: Asked) -> Html:
    if asked.problem:
        return _render_empty(
            "This query cannot be read", asked.problem, _query_help(request), kind="empty unread"
        )
    if asked.response is None:
        return _render_welcome(request)
    if not asked.response.results:
        tips = _suggestions(request, asked.query)
        return _render_empty("Nothing found", "No place in the index answers this query.", tips)
    return _render_results(request, asked, asked.response)


def _render_results(request: PageRequest, asked: Asked, response: SearchResponse) -> Html:
    results = _cut_page(request, response)
    is_typing = request.get("part") == "first"
    chosen = min(request.get_number("hit", 1, 1, PAGE_HITS), len(results))
    summary = element("p", _summarize(response), class_="summary", role="status")
    said = NO_GOOD_HITS_NOTE if response.low_confidence else ""  # by the summary
    notes = [element("p", note, class_="note") for note in response.notes if note != said]
    middle = element(
        "section",
        render_chips(request, asked.query),
        summary,
        notes,
        render_hits(response, results[: FIRST_HITS if is_typing else None], request.repository, chosen),
        _render_pages(request, asked.query, len(response.results)),
        class_="list",
        aria_label="Results",
    )
    facets = render_facets(request, asked.query, response.results)
    preview = None
    if results and not is_typing:
        preview = render_preview_of(request, results[chosen - 1], _marked_words(response))
    right = element("aside", preview, id="preview", class_="preview", aria_label="Preview", tabindex="0")
    return join(facets, middle, right)


def _cut_page(request: PageRequest, response: SearchResponse) -> Sequence[SearchResult]:
    page = _page_number(request)
    return response.results[(page - 1) * PAGE_HITS : page * PAGE_HITS]


def _page_number(request: PageRequest) -> int:
    return request.get_number("page", 1, 1, HITS_COUNTED // PAGE_HITS)


def _render_rest(request: PageRequest, response: SearchResponse | None) -> list[Html]:
    """Render the hits of the page that were not in the answer to somebody who was typing."""
    if response is None:
        return []
    return render_hit_rows(response, _cut_page(request, response), request.repository, 0, FIRST_HITS + 1)


def _marked_words(response: SearchResponse) -> list[str]:
    return [*response.query.words, *response.query.names]


def _summarize(response: SearchResponse) -> str:
    count = len(response.results)
    many = f"the first {count} places" if response.has_more else f"{count} place{'s' if count != 1 else ''}"
    if response.low_confidence:
        return f"Nothing good was found; these {many} are guesses."
    if response.relaxed:
        return f"Nothing meets all of the query; this is what comes near: {many}."
    time = "answered before" if response.cached else f"in {response.milliseconds:.0f} ms"
    return f"{many[0].upper()}{many[1:]}, {time}"


def _render_pages(request: PageRequest, query: str, count: int) -> Html | None:
    page = _page_number(request)
    last = -(-count // PAGE_HITS)
    if last < 2:
        return None
    links = [
        element(
            "a",
            str(n),
            href=address("/", q=query, repo=request.get("repo"), page=n if n > 1 else 0),
            aria_current="page" if n == page else None,
            aria_label=f"page {n}",
        )
        for n in range(1, last + 1)
    ]
    return element("nav", links, class_="pages", aria_label="Pages of hits")


def _render_welcome(request: PageRequest) -> Html:
    cards = [
        element(
            "li", element("a", element("span", title), element("code", query), href=address("/", q=query))
        )
        for title, query in list_examples(_find_engine(request))
    ]
    return element(
        "section",
        element("h1", "Ask your code"),
        element(
            "p",
            "Say what it does, or what it is called. Nothing leaves the machine that answers.",
            class_="lead",
        ),
        element("ul", cards, class_="examples"),
        element("p", _describe_index(request), class_="soft"),
        class_="welcome",
    )


def _describe_index(request: PageRequest) -> Html:
    rows = []
    for name in request.served.folders(request.caller):
        try:
            status = request.served.engine(request.caller, name).status()
        except DowseError as error:
            rows.append(join(name, f" {error}"))
            continue
        state = (
            f"{status.files:,} files"
            if status.state is IndexState.CURRENT
            else "not indexed yet: the first query does it"
        )
        rows.append(join(element("a", name, href=address("/index", repo=name)), f" {state}"))
    return join(*(join(" \N{MIDDLE DOT} " if number else "", row) for number, row in enumerate(rows)))


def _render_empty(title: str, text: str, more: Html | None, kind: str = "empty") -> Html:
    return element("section", element("h1", title), element("p", text, class_="lead"), more, class_=kind)


def _suggestions(request: PageRequest, query: str) -> Html:
    tips = []
    for text, rest in list_filters(query):
        if rest.strip():
            link = element("a", rest, href=address("/", q=rest, repo=request.get("repo")))
            tips.append(element("li", "without ", element("code", text), ": ", link))
    tips.append(element("li", "with other words: say what the code does, not only what it is called"))
    if request.get("repo") and request.has_several:
        tips.append(element("li", element("a", "in all repositories", href=address("/", q=query))))
    tips.append(
        element(
            "li",
            element(
                "a", "look which files are not in the index", href=address("/index", repo=request.repository)
            ),
        )
    )
    return join(element("h2", "Try"), element("ul", tips, class_="tips"))


def _find_engine(request: PageRequest) -> Engine | None:
    """Find the repository that examples are made for; none if it cannot be asked."""
    try:
        return request.served.engine(request.caller, request.repository)
    except DowseError:
        return None


def _query_help(request: PageRequest) -> Html:
    rows = [
        element("tr", element("td", what), element("td", element("code", example)))
        for what, example in list_examples(_find_engine(request))
    ]
    return element("table", element("caption", "What a query can say"), element("tbody", rows), class_="help")


def related_page(request: PageRequest) -> str:
    """Make the page with what belongs to a place."""
    engine, place = request.engine, request.get("place")
    response = engine.related(*engine.parse_place(place), SearchOptions(limit=PAGE_HITS))
    inner = join(
        element("h1", "Related to ", element("code", place)),
        render_hits(response, response.results, request.repository, 0),
    )
    return full_page(request, f"Related to {place}", element("section", inner, class_="list"), kind="related")
