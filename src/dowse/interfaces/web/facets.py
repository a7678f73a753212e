"""Facets of an answer, with counts and links that narrow the query; and its filters as chips that can be taken out."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any

from dowse.errors import UsageError
from dowse.interfaces.web.html_builder import Html, element, fill
from dowse.interfaces.web.page_frame import PageRequest, address
from dowse.search.query.parse import parse_query
from dowse.search.query.query_format import format_query
from dowse.types.answers import SearchResult
from dowse.types.queries import ParsedQuery

MAX_FACET_VALUES = 8


def render_chips(request: PageRequest, query: str) -> Html | None:
    """Render each filter of the query as a chip that takes it out."""
    chips = [
        element(
            "a",
            element("span", text),
            element("b", "\N{MULTIPLICATION SIGN}", aria_hidden="true"),
            href=address("/", q=rest, repo=request.get("repo")),
            class_="chip",
            title="Remove this filter",
            aria_label=f"remove the filter {text}",
        )
        for text, rest in list_filters(query)
    ]
    return element("p", chips, class_="chips") if chips else None


def list_filters(query: str) -> list[tuple[str, str]]:
    """List the filters of a query, each with the query without it."""
    try:
        parsed = parse_query(query)
    except UsageError:
        return []
    found = []
    for field, shown in _FILTER_FIELDS:
        values: tuple[str, ...] = getattr(parsed, field)
        for value in values:
            others: dict[str, Any] = {field: tuple(other for other in values if other != value)}
            rest = parsed._replace(**others)
            found.append((f"{shown}{value}", format_query(rest)))
    if parsed.changed is not None:
        rest = parsed._replace(changed=None)
        text = format_query(ParsedQuery(changed=parsed.changed))
        found.append((text, format_query(rest)))
    return found


_FILTER_FIELDS = (
    ("languages", "lang:"),
    ("not_languages", "-lang:"),
    ("paths", "path:"),
    ("not_paths", "-path:"),
    ("kinds", "kind:"),
    ("not_kinds", "-kind:"),
    ("names", "name:"),
    ("roles", "is:"),
    ("not_roles", "-is:"),
)


def render_facets(request: PageRequest, query: str, results: Sequence[SearchResult]) -> Html:
    """Render what the hits have in common, with counts, as links that keep or leave out a part of them."""
    groups = [
        _render_facet(request, query, "Language", "lang", (result.language for result in results)),
        _render_facet(request, query, "Folder", "path", map(_top_folder, results)),
        _render_facet(
            request, query, "Kind", "kind", (result.kind.value for result in results if result.entity)
        ),
        _render_tests(request, query, results),
        _render_repositories(request, query, results),
    ]
    inner = element("details", element("summary", "Filter"), groups, open=True, class_="facets")
    return element("aside", inner, class_="side", aria_label="Filters")


def _top_folder(result: SearchResult) -> str:
    parts = result.path.split("/")
    return "/".join(parts[: min(2, len(parts) - 1)])


def _render_facet(
    request: PageRequest, query: str, title: str, field: str, values: Iterable[str]
) -> Html | None:
    counts = Counter(value for value in values if value)
    if len(counts) < 2:
        return None
    rows = []
    for value, count in counts.most_common(MAX_FACET_VALUES):
        written = f'"{value}"' if " " in value else value
        rows.append(_facet_row(request, query, value, count, f"{field}:{written}", f"-{field}:{written}"))
    return element("section", element("h3", title), element("ul", rows))


def _facet_row(request: PageRequest, query: str, value: str, count: int, only: str, without: str) -> Html:
    repo = request.get("repo")
    kept = address("/", q=f"{query} {only}", repo=repo)
    dropped = address("/", q=f"{query} {without}", repo=repo)
    return fill(_FACET_ROW, kept, f"only {only}", value, str(count), dropped, value, value)


_FACET_ROW = (
    '<li><a href="{}" title="{}"><span class="value">{}</span><span class="count">{}</span></a>'
    '<a href="{}" class="without" title="without {}" aria-label="without {}">\N{MINUS SIGN}</a></li>'
)


def _render_tests(request: PageRequest, query: str, results: Sequence[SearchResult]) -> Html | None:
    tests = sum("test" in result.path.lower() for result in results)
    if not tests or tests == len(results) or "is:" in query:
        return None
    row = _facet_row(request, query, "tests", tests, "is:test", "-is:test")
    return element("section", element("h3", "Tests"), element("ul", row))


def _render_repositories(request: PageRequest, query: str, results: Sequence[SearchResult]) -> Html | None:
    if not request.has_several:
        return None
    counts = Counter(result.repository for result in results)
    names = request.served.folders(request.caller)
    rows = [
        element(
            "li",
            element(
                "a",
                element("span", name, class_="value"),
                element("span", str(counts.get(name, "")), class_="count"),
                href=address("/", q=query, repo=name),
                aria_current="true" if name == request.get("repo") else None,
            ),
        )
        for name in names
    ]
    everywhere = (
        element("li", element("a", "all", href=address("/", q=query))) if request.get("repo") else None
    )
    return element("section", element("h3", "Repository"), element("ul", rows, everywhere))
