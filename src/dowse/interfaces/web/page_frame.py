"""The frame of every page: head, header with the search box and navigation, main part; and pages without navigation."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from urllib.parse import quote, urlencode

from dowse.engine import Engine
from dowse.interfaces.http.access import Caller
from dowse.interfaces.http.problems import RETRY_SECONDS
from dowse.interfaces.http.served import Served
from dowse.interfaces.web.assets import asset_url
from dowse.interfaces.web.html_builder import Html, element, join

TITLE = "dowse"

NAVIGATION = (("Search", "/"), ("Graph", "/graph"), ("Index", "/index"), ("Evaluations", "/evaluations"))


SCRIPTS = {
    "search": ("hits.js",),
    "related": ("hits.js",),
    "file": ("file.js",),
    "graph": ("graph.js",),
    "index": ("index.js",),
}
"""What kinds of pages have beside the script of all."""


@dataclass(frozen=True, slots=True)
class PageRequest:
    """A request for a page: what is served, who asks, the parameters of the address, each with one value."""

    served: Served
    caller: Caller
    path: str
    values: Mapping[str, str] = field(default_factory=dict)

    def get(self, name: str) -> str:
        """Return a parameter; empty if it is not given."""
        return self.values.get(name, "")

    def get_number(self, name: str, default: int, low: int, high: int) -> int:
        """Return a parameter that is a number, within bounds; anything else is the default."""
        text = self.get(name)
        if not (text.isascii() and text.isdigit() and len(text) < 10):
            return default
        return max(low, min(high, int(text)))

    @property
    def repository(self) -> str:
        """The repository that the address names, or the first."""
        return self.get("repo") or next(iter(self.served.folders(self.caller)), "")

    @property
    def engine(self) -> Engine:
        """The engine of that repository, with an index."""
        return self.served.ready_engine(self.caller, self.repository)

    @property
    def has_several(self) -> bool:
        """Whether there is more than one repository to choose from."""
        return len(self.served.folders(self.caller)) > 1


def address(path: str, /, **parameters: str | int) -> str:
    """Return the address of a page; parameters without a value are dropped."""
    given = {name: value for name, value in parameters.items() if value not in ("", 0)}
    return quote(path) + (f"?{urlencode(given)}" if given else "")


def file_address(repository: str, path: str, first: int = 0, last: int = 0, *, at: str = "") -> str:
    """Return the address of a file, or of lines in it; ``at`` is the commit that it is shown of."""
    lines = f"#L{first}" + (f"-L{last}" if last > first else "") if first else ""
    given = {name: value for name, value in (("at", at), ("line", first)) if value}
    query = f"?{urlencode(given)}" if given else ""
    return f"/file/{quote(repository, safe='')}/{quote(path, safe='/')}{query}{lines}"


def full_page(request: PageRequest, title: str, main: Html, *, kind: str, query: str = "") -> str:
    """Make a page with the search box and navigation."""
    body = join(
        element("a", "Skip to the content", href="#main", class_="skip"),
        _header(request, query),
        element("main", main, id="main", class_=kind, tabindex="-1"),
        _keyboard_help(),
        element("div", id="said", class_="said", role="status", aria_live="polite"),
    )
    return _document(title, body, ("page.js", *SCRIPTS.get(kind, ())))


def _header(request: PageRequest, query: str) -> Html:
    section = "/" + request.path.strip("/").partition("/")[0]
    links = [
        element("a", text, href=path, aria_current="page" if path == section else None)
        for text, path in NAVIGATION
    ]
    box = element(
        "form",
        element("label", "Search the code", for_="q", class_="hidden"),
        element(
            "input", id="q", name="q", type="search", value=query, autocomplete="off", autocapitalize="off",
            spellcheck="false", placeholder="What does it do, or what is it called?", role="combobox",
            aria_expanded="false", aria_controls="completions", aria_autocomplete="list",
            autofocus=request.path == "/" and not query,
        ),
        element("kbd", "/", aria_hidden="true"),
        element("ul", id="completions", role="listbox", aria_label="Completions", hidden=True),
        element("input", type="hidden", name="repo", value=request.get("repo")) if request.get("repo") else None,
        action="/",
        method="get",
        role="search",
        class_="box",
    )  # fmt: skip
    brand = element(
        "a", _drop(), element("span", TITLE), href="/", class_="brand", aria_label="dowse, start page"
    )
    return element("header", brand, box, element("nav", links, aria_label="Pages"), class_="top")


def _drop() -> Html:
    """Draw the sign of the program: a drop."""
    path = "M8 1.2C8 1.2 3 7 3 10.2a5 5 0 0 0 10 0C13 7 8 1.2 8 1.2Z"
    inner = element("path", d=path)
    return element("svg", inner, viewBox="0 0 16 16", width=16, height=16, aria_hidden="true", class_="drop")


KEYS = (
    ("/", "search"),
    ("j k", "next, previous hit"),
    ("Enter", "open the hit"),
    ("w", "why it ranks there"),
    ("o", "open in the editor"),
    ("c", "copy for an agent"),
    ("x", "all lines of the hit"),
    ("f", "find in the file"),
    ("l", "filter its outline"),
    ("t", "its place in the tree of files"),
    ("b", "who changed its lines last"),
    ("h", "its last changes"),
    ("y", "copy a link that stays at this commit"),
    ("g", "then s, g, i or e: to search, graph, index or evaluations"),
    ("?", "this help"),
    ("Esc", "close, or back to the list"),
)


def _keyboard_help() -> Html:
    rows = [
        (
            element("dt", [element("kbd", key) for key in keys.split(" ")]),
            element("dd", what),
        )
        for keys, what in KEYS
    ]
    inner = join(
        element("h2", "Keyboard", id="keys-title"),
        element("dl", rows),
        element(
            "form",
            element("button", "Close"),
            element("a", "HTTP API", href="/api"),
            method="dialog",
            class_="links",
        ),
    )
    return element("dialog", inner, id="keys", aria_labelledby="keys-title")


def bare_page(title: str, main: Html) -> str:
    """Make a page without navigation."""
    return _document(title, element("main", main, id="main", class_="bare"))


def message_page(request: PageRequest, title: str, text: str) -> str:
    """Make a page that says something went wrong."""
    inner = element(
        "section",
        element("h1", title),
        element("p", text),
        element("p", element("a", "Search", href="/")),
        class_="empty",
    )
    return full_page(request, title, inner, kind="message")


def building_page(request: PageRequest, how_far: str, percent: float) -> str:
    """Make the page that waits for an index: the script of all pages asks again, without scripts the browser does."""
    again = element("meta", http_equiv="refresh", content=str(RETRY_SECONDS))
    inner = element(
        "section",
        element("h1", "The index is being built"),
        element("p", how_far, role="status", class_="lead"),
        element("progress", max=100, value=round(percent), aria_label="indexed"),
        element("p", "The page goes on by itself.", class_="soft"),
        element("noscript", again),
        id="building",
        class_="empty",
    )
    return full_page(request, "The index is being built", inner, kind="message", query=request.get("q"))


def _document(title: str, body: Html, scripts: Sequence[str] = ()) -> str:
    head = element(
        "head",
        element("meta", charset="utf-8"),
        element("meta", name="viewport", content="width=device-width, initial-scale=1"),
        element("meta", name="color-scheme", content="light dark"),
        element("title", f"{title} \N{MIDDLE DOT} {TITLE}" if title else TITLE),
        element("link", rel="icon", href=asset_url("favicon.svg"), type="image/svg+xml"),
        element("link", rel="stylesheet", href=asset_url("style.css")),
        element(
            "link",
            rel="search",
            type="application/opensearchdescription+xml",
            title=TITLE,
            href="/opensearch.xml",
        ),
        [element("script", src=asset_url(name), defer=True) for name in scripts],
    )
    return "<!doctype html>" + element("html", head, element("body", body), lang="en")
