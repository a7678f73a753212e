"""The frame of every page: head, navigation, main part; and of pages without navigation."""

from __future__ import annotations

from dowse.interfaces.web.html_builder import Html, element, join

TITLE = "dowse"


def bare_page(title: str, main: Html) -> str:
    """Make a page without navigation."""
    return _document(title, element("main", main, id="main", class_="bare"))


def _document(title: str, body: Html) -> str:
    head = element(
        "head",
        element("meta", charset="utf-8"),
        element("meta", name="viewport", content="width=device-width, initial-scale=1"),
        element("title", f"{title} \N{MIDDLE DOT} {TITLE}" if title else TITLE),
    )
    return "<!doctype html>" + element("html", head, element("body", join(body)), lang="en")
