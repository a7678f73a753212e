"""The preview of a hit: all of its lines, with links that lead on from it and its text for an agent."""

from __future__ import annotations

from collections.abc import Sequence

from dowse.interfaces.web.code_view import build_word_pattern, code_list, highlight
from dowse.interfaces.web.file_view import editor_link, split_lines
from dowse.interfaces.web.hit_list import hit_links
from dowse.interfaces.web.html_builder import Html, element, join
from dowse.interfaces.web.page_frame import PageRequest, file_address
from dowse.types.answers import SearchResult

MAX_PREVIEW_LINES = 120

LINES_BEFORE, LINES_AFTER = 6, 24
"""Lines shown around a hit: what stands next to it often says what it is."""


def preview_part(request: PageRequest) -> str:
    """Make the preview of a place."""
    engine, path = request.engine, request.get("path")
    first = request.get_number("first", 1, 1, 10**9)
    last = request.get_number("last", first, first, 10**9)
    (result, *_) = engine.read(f"{path}:{first}-{last}")
    return render_preview_of(
        request, result._replace(repository=request.repository), request.get("words").split()
    )


def render_preview_of(request: PageRequest, result: SearchResult, words: Sequence[str]) -> Html:
    """Render the whole text of a hit, with what leads on from it."""
    repository = result.repository or request.repository
    engine = request.served.engine(request.caller, repository)
    loaded = engine.load_file(result.path)
    if loaded is None:
        return element("p", "This file is not in the index any more.", class_="note")
    file, text = loaded
    lines = split_lines(text)
    last = min(result.end_line, result.start_line + MAX_PREVIEW_LINES - 1)
    first = max(1, result.start_line - LINES_BEFORE)
    after = (
        min(len(lines), max(last, first + LINES_BEFORE + LINES_AFTER)) if last == result.end_line else last
    )
    code = highlight(lines, file.parsed.language, first, after, file.parsed.entities)
    chosen = range(result.start_line, last + 1)
    href = file_address(repository, result.path, result.start_line, result.end_line)
    place = f"{result.path}:{result.start_line}"
    more = result.end_line - last
    return join(
        element(
            "header",
            element(
                "h2",
                element("a", result.path, href=href),
                element("span", f":{result.start_line}", class_="lines"),
            ),
            element(
                "p",
                hit_links(repository, place, result.entity, editor_link(request, engine, place)),
                class_="links",
            ),
        ),
        code_list(code, build_word_pattern(words), anchors=False, href=href.partition("#")[0], chosen=chosen),
        element("p", element("a", f"{more} more lines", href=href), class_="soft more") if more > 0 else None,
        element(
            "template",
            f"{place}-{result.end_line}\n\n" + "\n".join(lines[result.start_line - 1 : result.end_line]),
            class_="for-agent",
        ),
    )
