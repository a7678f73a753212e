"""Hits of a search as HTML: name, place, the best lines, and a bar of what its score is made of."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from functools import cache
from textwrap import dedent

from dowse.interfaces.web.code_view import build_word_pattern, code_list, highlight
from dowse.interfaces.web.html_builder import Html, element, fill, join, show_text
from dowse.interfaces.web.page_frame import address, file_address
from dowse.types.answers import (
    LIKELY_RELEVANCE,
    STRONG_RELEVANCE,
    Match,
    Reason,
    SearchResponse,
    SearchResult,
)
from dowse.types.source import Kind

SNIPPET_LINES = 3
"""Lines of a hit in the list; the preview has all of them."""

BAR_WIDTH = 1000
"""Units of the bar of contributions, which the page scales to its column."""

MIN_SHARE = 0.01
"""A contribution that is a smaller part of the bar is left to the table."""

MIN_VALUE = 0.005
"""A contribution below this is shown as 0."""

MAX_WHOLE_NAME = 24
"""Characters of a name that fit a line in any window."""

PALETTE = 8
"""Colours of contributions in the style sheet."""


def render_hits(
    response: SearchResponse, results: Sequence[SearchResult], repository: str, chosen: int
) -> Html:
    """Render the hits of an answer, best first."""
    marked = " ".join(dict.fromkeys([*response.query.words, *response.query.names]))
    rows = render_hit_rows(response, results, repository, chosen)
    return element("ol", rows, class_="hits", aria_label="Hits", data_words=marked)


def render_hit_rows(
    response: SearchResponse, results: Sequence[SearchResult], repository: str, chosen: int, first: int = 1
) -> list[Html]:
    """Render the hits of a page from the first that is wanted on."""
    words = build_word_pattern([*response.query.words, *response.query.names])
    shown = 1.0
    rows = []
    for number, result in enumerate(results, 1):
        shown = min(shown, result.relevance)  # what is shown never contradicts the order
        if number >= first:
            is_chosen = number == chosen
            rows.append(
                _render_hit(
                    result, number, shown, result.repository or repository, words, is_chosen=is_chosen
                )
            )
    return rows


def _render_hit(
    result: SearchResult,
    number: int,
    relevance: float,
    repository: str,
    words: re.Pattern[str] | None,
    *,
    is_chosen: bool,
) -> Html:
    href = file_address(repository, result.path, result.start_line, result.end_line)
    name = result.entity or result.path.rpartition("/")[2]
    kind = "" if result.kind is Kind.FILE else result.kind.value
    head = element(
        "h2",
        element("a", _break_name(name), href=href, class_="name"),
        element("span", kind, class_="kind") if kind else None,
        None if result.fresh else element("span", "changed since", class_="stale"),
    )
    return element(
        "li",
        element("div", head, relevance_mark(relevance), class_="hit-head"),
        element("p", _render_path(result, repository), class_="where"),
        _render_snippet(result, words),
        element(
            "div",
            render_reasons(result.reasons, result.match.value),
            _render_expand(result),
            class_="hit-foot",
        ),
        id=f"hit-{number}",
        class_="hit chosen" if is_chosen else "hit",
        data_repo=repository,
        data_path=result.path,
        data_first=result.start_line,
        data_last=result.end_line,
    )


def _break_name(name: str) -> Html:
    """Allow a long name to be broken where its words end."""
    shown = show_text(name)
    return Html(_END_OF_WORD.sub(r"\g<0><wbr>", shown)) if len(name) > MAX_WHOLE_NAME else shown


_END_OF_WORD = re.compile(r"[_.](?=\w)")


def _render_expand(result: SearchResult) -> Html | None:
    """Render the button that shows all lines of a hit in the list."""
    count = result.end_line - result.start_line + 1
    if count <= SNIPPET_LINES or not result.text.strip():
        return None
    return fill(_EXPAND, str(count))


_EXPAND = '<button type="button" class="expand-hit" aria-expanded="false">{} lines</button>'


def _render_path(result: SearchResult, repository: str) -> Html:
    folder, _, name = result.path.rpartition("/")
    lines = f"{result.start_line}\N{EN DASH}{result.end_line}"
    return join(
        element("span", f"{result.repository} / ", class_="repo") if result.repository else None,
        element("span", f"{folder}/" if folder else "", class_="folder"),
        element("span", name, class_="file"),
        element("span", f":{lines}", class_="lines"),
    )


def relevance_mark(relevance: float) -> Html:
    """Render how likely a hit is right, as three marks and in words."""
    level, text = (
        (3, "probably right")
        if relevance >= STRONG_RELEVANCE
        else (2, "possibly right")
        if relevance >= LIKELY_RELEVANCE
        else (1, "a guess")
    )
    title = f"{text}: relevance {relevance:.2f}"
    return fill(_RELEVANCE, str(level), title, title, *("on" if n < level else "off" for n in range(3)))


_RELEVANCE = (
    '<span class="relevance level-{}"><svg viewBox="0 0 28 10" width="28" height="10" role="img" aria-label="{}">'
    "<title>{}</title>" + "".join(f'<circle cx="{5 + 9 * n}" cy="5" r="3.2" class="{{}}"></circle>' for n in range(3))
    + "</svg></span>"
)  # fmt: skip


def _render_snippet(result: SearchResult, words: re.Pattern[str] | None) -> Html | None:
    lines = result.text.split("\n")
    if not result.text.strip():
        return None
    best = find_best_window(lines, words)
    at = next((number for number in range(best, len(lines)) if _HAS_WORD.search(lines[number])), best)
    last = at + len("\n".join(lines[at : at + SNIPPET_LINES]).rstrip().split("\n"))
    begin = _find_open_line(lines, at)
    part = dedent("\n".join(lines[begin:last])).split("\n")
    code = highlight(part, result.language, 1 + at - begin, len(part))
    return code_list(code._replace(first=result.start_line + at), words, anchors=False)


_LONG_TEXTS = (('"""', '"""'), ("'''", "'''"), ("/*", "*/"), ("<!--", "-->"))
"""What begins and ends a string or comment of several lines."""


def _find_open_line(lines: Sequence[str], at: int) -> int:
    """Find the line where a long string or comment begins that is open at a line; that line if there is none."""
    before = "\n".join(lines[:at])
    for opener, closer in _LONG_TEXTS:
        opened = before.count(opener)
        if opened % 2 if opener == closer else opened > before.count(closer):
            return before.count("\n", 0, before.rindex(opener))
    return at


_HAS_WORD = re.compile(r"\w")
"""A line without a word (a bracket, the begin of a comment) says nothing."""


def find_best_window(lines: Sequence[str], words: re.Pattern[str] | None) -> int:
    """Find where to begin so that the lines shown have the most words of the query; of equals, the first."""
    if words is None or len(lines) <= SNIPPET_LINES:
        return 0
    found = [{match.lower() for match in words.findall(line)} for line in lines]
    starts = range(len(lines) - SNIPPET_LINES + 1)
    return max(starts, key=lambda at: (len(set().union(*found[at : at + SNIPPET_LINES])), at == 0, -at))


def render_reasons(reasons: Sequence[Reason], match: str = "") -> Html | None:
    """Render what a score is made of: a bar of what speaks for the hit, and a table with everything."""
    if not reasons:
        return None
    ordered = sorted(reasons, key=lambda reason: -abs(reason.value))
    raised = [reason for reason in ordered if reason.value > 0]
    total = sum(reason.value for reason in raised) or 1.0
    parts, x = [], 0.0
    for place, reason in enumerate(raised):
        width = BAR_WIDTH * reason.value / total
        if reason.value / total >= MIN_SHARE:
            parts.append(
                fill(
                    _BAR_PART, str(round(x, 1)), str(round(max(width - 4, 1), 1)), str(min(place, PALETTE - 1)),
                    reason.name, f"{reason.value:+.2f}",
                )
            )  # fmt: skip
        x += width
    label = "Why: " + ", ".join(reason.name.replace("_", " ") for reason in raised[:3])
    colours = {reason.name: f"r{min(place, PALETTE - 1)}" for place, reason in enumerate(raised)}
    colours |= {reason.name: "against" for reason in ordered if reason.value <= -MIN_VALUE}
    rows = [_render_reason(reason, colours.get(reason.name, "none")) for reason in ordered]
    found = element("p", f"Found by {Match(match).words}.", class_="soft") if match else None
    return fill(_WHY, join(parts), label, found, join(rows))


_BAR_PART = '<rect x="{}" y="0" width="{}" height="10" class="r{}"><title>{} {}</title></rect>'

_WHY = (
    f'<details class="why"><summary><svg viewBox="0 0 {BAR_WIDTH} 10" preserveAspectRatio="none" class="bar" '
    'aria-hidden="true">{}</svg><span class="why-label">{}</span></summary>{}<table><tbody>{}</tbody></table></details>'
)

_REASON = '<tr><td><i class="swatch {}"></i>{}</td><td class="number">{}</td><td class="soft">{}</td></tr>'


def _render_reason(reason: Reason, colour: str) -> Html:
    detail = show_text(reason.detail) if reason.detail else ""
    return Html(_REASON.format(colour, _show_reason_name(reason.name), f"{reason.value:+.2f}", detail))


@cache
def _show_reason_name(name: str) -> Html:
    """Escape the name of a kind of evidence, of which there are few."""
    return show_text(name.replace("_", " "))


def hit_links(repository: str, place: str, name: str, editor: str) -> Iterable[Html]:
    """List the links that lead on from a place."""
    path = place.partition(":")[0]
    yield element(
        "a", "Graph", href=address("/graph", repo=repository, node=f"{path}:{name}" if name else path)
    )
    yield element("a", "Related", href=address("/related", repo=repository, place=place))
    if editor:
        yield element("a", "Open in editor", href=editor, class_="editor")
    yield element("button", "Copy for an agent", type="button", class_="copy-agent")
