"""The lines of hits that a terminal shows: how many of each hit, which, and cut to the width of the terminal."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Collection, Sequence
from itertools import islice
from typing import NamedTuple

from dowse.interfaces.render import MAX_LINE_LENGTH
from dowse.interfaces.theme import escape_code
from dowse.search.output.hit_view import HitView
from dowse.search.output.token_estimate import estimate_tokens
from dowse.types.answers import SearchResult, Strength

TAB_WIDTH = 4
"""Columns of a tab: what most editors that show code use."""

CUT_MARK = "…"
"""Stands for what is left out of a line that is too wide."""

LINE_LIMITS = ((10, 6, 5, 2), (8, 4, 4, 2), (6, 3, 3, 1))
"""Lines of the first hit, of a strong, of a likely and of a weak one: the most that fits is taken, else the last."""

GUESS_LINES = 1
"""Lines of a hit where none is good: enough to see that it is not what was meant."""

MAX_LINES_ABOVE_SIGNATURE = 40
"""Lines of a hit in which its signature is looked for: decorators and comments may be above it."""

_BRACKET_BLANK = re.compile(r"(?<=[(\[]) | (?=[)\]])")
_ESCAPE = re.compile(r"(\x1b\[[0-9;]*m)")


def limit_lines(hits: Sequence[SearchResult], height: int, *, are_guesses: bool) -> list[int]:
    """Decide how many lines of each hit to show, so that all fit into the height if they can."""
    if are_guesses:
        return [GUESS_LINES] * len(hits)
    limits: list[int] = []
    for first, *others in LINE_LIMITS:
        by_strength = dict(zip(Strength, others, strict=True))
        limits = [by_strength[hit.strength] if rank else first for rank, hit in enumerate(hits)]
        used = sum(2 + min(limit, 1 + hit.text.count("\n")) for limit, hit in zip(limits, hits, strict=True))
        if used <= height:
            break
    return limits


class ShownLines(NamedTuple):
    """What is shown of a hit: indexes of its lines, and before them its signature where that is joined to one line."""

    lines: list[int]
    signature: str = ""
    signature_index: int | None = None  # of the line it begins in; none if it is above the text


def choose_lines(hit: SearchResult, words: Collection[str], limit: int) -> ShownLines:
    """Choose what to show of a hit: its signature, and the lines with most of the query."""
    lines = hit.text.split("\n")
    begin, own = find_signature(hit.signature, lines)
    if len(lines) <= limit and (own or not hit.signature):
        return ShownLines([i for i, line in enumerate(lines) if line.strip()])
    view = HitView(hit, words, estimate_tokens)
    matching = view.words_by_line if words else [set[str]()] * len(lines)
    order = sorted(
        view.order_lines(0), key=lambda i: i < own.start and not matching[i]
    )  # decorators come last
    others = (i for i in order if i not in own and any(c.isalnum() for c in lines[i]))
    if not hit.signature:
        return ShownLines(sorted(islice(others, limit)))
    return ShownLines(sorted(islice(others, limit - 1)), _tidy(hit.signature), begin)


def find_signature(signature: str, lines: Sequence[str]) -> tuple[int | None, range]:
    """Find the line that a signature begins in, below decorators and comments, and the lines it takes."""
    wanted = "".join(signature.split())
    for begin, line in enumerate(lines[:MAX_LINES_ABOVE_SIGNATURE]):
        seen, end = "".join(line.split()), begin + 1
        if not (seen and wanted and (wanted.startswith(seen) or seen.startswith(wanted))):
            continue
        while len(seen) < len(wanted) and end < len(lines):
            seen, end = seen + "".join(lines[end].split()), end + 1
        return begin, range(begin, end)
    return None, range(0)


def _tidy(signature: str) -> str:
    """Return a signature on one line, as if it had been written there."""
    return _BRACKET_BLANK.sub("", " ".join(signature.split()))


def lay_out(text: str, shown: Sequence[int]) -> list[str]:
    """Split code into lines for a terminal: no control characters, tabs as blanks, without the indentation of all."""
    lines = [line.expandtabs(TAB_WIDTH)[:MAX_LINE_LENGTH] for line in escape_code(text).split("\n")]
    indents = [len(line) - len(line.lstrip()) for line in (lines[i] for i in shown) if line.strip()]
    common = min(indents, default=0)
    return [line[min(common, len(line) - len(line.lstrip())) :] for line in lines]


def measure_width(text: str) -> int:
    """Count the columns that a text takes: none for a combining mark, two for a wide character."""
    if text.isascii():
        return len(text)
    return sum(map(_measure_character, text))


def _measure_character(c: str) -> int:
    if unicodedata.combining(c) or unicodedata.category(c) in ("Cf", "Me"):
        return 0
    return 2 if unicodedata.east_asian_width(c) in "WF" else 1


def cut_text(text: str, width: int) -> str:
    """Cut a text, which may have colours, to some columns, with a mark at its end; width 0 is no limit."""
    if not width or measure_width(_ESCAPE.sub("", text)) <= width:
        return text
    kept, left = "", width - 1
    for n, part in enumerate(_ESCAPE.split(text)):
        if n % 2:
            kept += part
            continue
        for c in part:
            left -= _measure_character(c)
            if left < 0:
                return f"{kept}{CUT_MARK}" + ("\x1b[0m" if "\x1b" in kept else "")
            kept += c
    return kept


def cut_start(path: str, width: int) -> str:
    """Cut the beginning of a path, whose end says most, to some columns."""
    if measure_width(path) <= width:
        return path
    while path and measure_width(path) >= width:
        path = path[1:]
    return CUT_MARK + path
