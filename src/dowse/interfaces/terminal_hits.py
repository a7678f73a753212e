"""Hits on a terminal: a header of one line, and the few lines that tell most, fitted to its width and height."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from dowse.interfaces.hit_lines import (
    ShownLines,
    choose_lines,
    cut_start,
    cut_text,
    lay_out,
    limit_lines,
    measure_width,
)
from dowse.interfaces.render import (
    STALE_MARK,
    View,
    all_lines,
    display_path,
    format_strength,
    neighbour_lines,
    query_analysis_text,
    query_pattern,
    reason_lines,
    root_of,
)
from dowse.interfaces.theme import code_lines, escape_text
from dowse.types.answers import SearchResponse, SearchResult, Strength

GUTTER_WIDTH = 6
"""Columns of the line numbers on a terminal: the same for every hit, so that code stands below code."""

SIGNATURE_INDENT = "  "
"""Sets lines of a definition off from its signature."""

MIN_PATH_WIDTH = 20
"""Columns of a path that are always shown: the name of the file is at its end."""

MIN_NAME_WIDTH = 6
"""Columns that are left for a name, or none of it is shown: the signature below has it too."""

SUMMARY_LINES = 3
"""Lines of a terminal that are left for the summary and the next prompt."""

STRENGTH_ROLES = {Strength.STRONG: "good", Strength.LIKELY: "number", Strength.WEAK: "faint"}
"""How the strength of a hit looks."""


def terminal_text(response: SearchResponse, view: View, first: int = 1) -> str:
    """Render the hits, best first, with numbers from ``first`` on, by which they can be opened."""
    pattern, hits = query_pattern(response.query), response.results
    blocks = [query_analysis_text(response, view)] if view.explain else []
    limits: Sequence[int] = ()
    if not view.whole:
        limits = limit_lines(hits, view.height - SUMMARY_LINES, are_guesses=response.low_confidence)
    for n, hit in enumerate(hits):
        lines = [terminal_header(hit, root_of(hit, response), view, first + n)]
        if view.explain:
            lines += reason_lines(hit, hits[n + 1] if n + 1 < len(hits) else None, view)
        if limits:
            lines += _best_lines(hit, choose_lines(hit, response.query.words, limits[n]), pattern, view)
        else:
            lines += all_lines(hit, pattern, view)
        blocks.append("\n".join([*lines, *neighbour_lines(hit, view)]))
    return "\n\n".join(blocks)


def terminal_header(result: SearchResult, root: str, view: View, number: int) -> str:
    """Render a header of one line: the path is whole as long as it fits, the name has what is left."""
    paint = view.paint
    place = escape_text(display_path(root, result.path, view.cwd))
    if result.repository:
        place = f"[{escape_text(result.repository)}] {place}"
    lines = f"{result.start_line}-{result.end_line}"
    count = f"{number:>2}  "
    kind = f"{result.kind}, "
    tail = f"{kind}{format_strength(result, view)}" + ("" if result.fresh else f", {STALE_MARK}")
    entity = escape_text(result.entity)
    if view.width:
        left = view.width - len(count) - len(lines) - len(tail) - 5  # blanks and the colon between them
        place = cut_start(place, max(MIN_PATH_WIDTH, left))
        left -= measure_width(place)
        if measure_width(entity) > left:
            entity = escape_text(result.entity.rpartition(".")[2])
        entity = cut_text(entity, left) if left >= MIN_NAME_WIDTH else ""
    strength = paint(format_strength(result, view), STRENGTH_ROLES[result.strength])
    stale = ", " + paint(STALE_MARK, "warning") if not result.fresh else ""
    fields = (
        paint(count, "faint") + paint(place, "path") + ":" + paint(lines, "lines"),
        paint(entity, "entity"),
        paint(kind, "faint") + strength + stale,
    )
    return "  ".join(field for field in fields if field)


def _best_lines(
    hit: SearchResult, shown: ShownLines, pattern: re.Pattern[str] | None, view: View
) -> Iterator[str]:
    """Render the lines that were chosen of a hit, none wider than the terminal."""
    begin = shown.signature_index
    if shown.signature and begin is None:
        yield _code_line("", shown.signature, hit, pattern, view)
    kept = sorted({*shown.lines, *(() if begin is None else (begin,))})
    if not kept:
        return
    lines = lay_out(hit.text, kept)
    indent = SIGNATURE_INDENT if shown.signature and begin is None else ""
    painted = code_lines("\n".join(lines[: kept[-1] + 1]), hit.language, view.paint, pattern)
    for i in kept:
        number = str(hit.start_line + i)
        if i == begin:
            blank = lines[i][: len(lines[i]) - len(lines[i].lstrip())]
            yield _code_line(number, blank + shown.signature, hit, pattern, view)
        else:
            yield _number_line(number, f"{indent}{painted[i]}", view)


def _code_line(number: str, code: str, hit: SearchResult, pattern: re.Pattern[str] | None, view: View) -> str:
    """Render one line of code by itself."""
    return _number_line(number, code_lines(code, hit.language, view.paint, pattern)[0], view)


def _number_line(number: str, line: str, view: View) -> str:
    """Put the number of a line in front of it, and cut it to the width of the terminal."""
    room = max(1, view.width - GUTTER_WIDTH - 2) if view.width else 0
    return view.paint(f"{number:>{GUTTER_WIDTH}}", "faint") + f"  {cut_text(line, room)}"
