"""Completions of the word that is being typed: fields of the query language, their values, names of definitions."""

from __future__ import annotations

from collections.abc import Iterable

from dowse.engine import Engine
from dowse.interfaces.web.html_builder import Html, element, join
from dowse.interfaces.web.page_frame import PageRequest
from dowse.search.query.field_names import FIELDS
from dowse.types.source import Kind, Role

MAX_ROWS = 8

MIN_NAME_CHARS = 3
"""Letters from which on names of definitions are looked up."""


def completions_part(request: PageRequest) -> str:
    """Make the list of completions of the last word of a query; each says the whole query with it."""
    query = request.get("q")
    before, _, word = query.rpartition(" ")
    found = list(dict.fromkeys(_complete(request.engine, word)))[:MAX_ROWS] if word else []
    rows = [
        _render_row(f"{before} {text}".lstrip(), text, what, number)
        for number, (text, what) in enumerate(found)
    ]
    return join(*rows)


def _render_row(query: str, text: str, what: str, number: int) -> Html:
    return element(
        "li",
        element("code", text),
        element("span", what, class_="soft"),
        id=f"completion-{number}",
        role="option",
        aria_selected="false",
        data_query=query,
    )


def _complete(engine: Engine, word: str) -> Iterable[tuple[str, str]]:
    minus = "-" if word.startswith("-") else ""
    field, colon, value = word.removeprefix("-").partition(":")
    if colon and field in FIELDS:
        values = _list_values(engine, field)
        yield from (
            (f"{minus}{field}:{name}", field)
            for name in values
            if name.startswith(value.lower()) and name != value
        )
        return
    yield from ((f"{minus}{name}:", "filter") for name in FIELDS if field and name.startswith(field.lower()))
    if len(word) >= MIN_NAME_CHARS and word.replace("_", "").replace(".", "").isalnum():
        hits = engine.graph.entities(f"{word}*", limit=MAX_ROWS, content=False)
        yield from (
            (hit.id.rpartition(":")[2], hit.kind.value) for hit in hits if hit.kind is not Kind.SECTION
        )


def _list_values(engine: Engine, field: str) -> list[str]:
    if field == "lang":
        return sorted(engine.status().languages)
    choices = {"kind": tuple(Kind), "is": tuple(Role), "changed": ("1d", "7d", "2w", "8w")}
    return [str(choice) for choice in choices.get(field, ())]
