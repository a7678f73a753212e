"""Source code as HTML: syntax highlighting (Pygments) of a window of lines, with line anchors and marked words.

Only the lines that are shown are highlighted, from the begin of the last definition before them on, so that a file of
ten thousand lines opens at once.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from itertools import zip_longest
from typing import Any, NamedTuple

from pygments.lexers import get_lexer_by_name
from pygments.util import ClassNotFound

from dowse.interfaces.web.html_builder import Html, show_text
from dowse.lru import LruCache
from dowse.types.source import Entity

WINDOW_LINES = 400
"""Lines that are highlighted at a time."""

MAX_LEAD_LINES = 400
"""Lines before a window that are read for its state: a longer definition begins in the middle."""

MAX_LINE_CHARS = 2000
"""Characters of a line that are shown."""

_LEXERS = {"objective c": "objective-c", "docker": "dockerfile", "shell": "bash", "text": "text"}
"""Names of Pygments that are not ours."""

_CLASSES = (
    ("Comment", "c"),
    ("Literal.String.Doc", "c"),
    ("Literal.String", "s"),
    ("Literal.Number", "m"),
    ("Keyword.Constant", "m"),
    ("Keyword.Type", "t"),
    ("Keyword", "k"),
    ("Operator.Word", "k"),
    ("Name.Function", "d"),
    ("Name.Class", "d"),
    ("Name.Decorator", "a"),
    ("Name.Attribute", "a"),
    ("Name.Tag", "k"),
    ("Name.Builtin", "b"),
    ("Name", "y"),
    ("Generic.Heading", "d"),
    ("Generic.Subheading", "d"),
    ("Generic.Strong", "d"),
)
"""Kinds of tokens and their classes in the style sheet, the more special ones first; a symbol can be clicked."""

SYMBOL_CLASSES = frozenset("ydab")


MAX_CACHED_CHARS = 3_000_000
"""Characters of code whose highlighted lines are kept: about ten times as many bytes."""

_HIGHLIGHTED: LruCache[tuple[str, str], Sequence[Html]] = LruCache(MAX_CACHED_CHARS)


class CodeLines(NamedTuple):
    """Lines of a file, the first of which has a number."""

    first: int
    lines: Sequence[Html]


def highlight(
    lines: Sequence[str], language: str, first: int, last: int, entities: Iterable[Entity] = ()
) -> CodeLines:
    """Highlight some lines of a file, counted from 1."""
    last = min(last, len(lines))
    begin = find_safe_start(entities, first)
    text = "\n".join(line[:MAX_LINE_CHARS] for line in lines[begin - 1 : last])
    return CodeLines(first, highlight_text(text, language)[first - begin :])


def highlight_text(text: str, language: str) -> Sequence[Html]:
    """Highlight a text, or take its lines from those that were shown lately: who types sees the same hits again."""
    lines = _HIGHLIGHTED.get((language, text))
    if lines is None:
        lines = _split_lines(_tokenize(text, language))
        _HIGHLIGHTED.put((language, text), lines, len(text))
    return lines


def find_safe_start(entities: Iterable[Entity], first: int) -> int:
    """Find a line at or before ``first`` where no string or comment can be open: where a definition begins."""
    begin = max((e.start_line for e in entities if e.start_line <= first), default=1)
    return begin if first - begin <= MAX_LEAD_LINES else first


def _tokenize(text: str, language: str) -> Iterator[tuple[str, str]]:
    """Split a text into pieces with the classes of their tokens; one piece if the language is unknown."""
    lexer = _find_lexer(_LEXERS.get(language, language), is_inside=not text.lstrip().startswith("<"))
    if lexer is None:
        yield text, ""
        return
    classes: dict[Any, str] = {}
    length = 0
    pieces = []
    for kind, piece in lexer.get_tokens(text):
        if kind not in classes:
            name = str(kind).removeprefix("Token.")
            classes[kind] = next((cls for prefix, cls in _CLASSES if name.startswith(prefix)), "")
        pieces.append((piece, classes[kind]))
        length += len(piece)
    if length != len(text):  # a lexer that drops or adds characters would shift the lines
        yield text, ""
        return
    yield from pieces


@cache
def _find_lexer(name: str, *, is_inside: bool) -> Any:
    """Find the lexer of a language; ``is_inside``: of PHP, the text does not begin with its opening tag."""
    try:
        return get_lexer_by_name(name, stripnl=False, ensurenl=False, startinline=is_inside)
    except ClassNotFound:
        return None


def _split_lines(pieces: Iterable[tuple[str, str]]) -> list[Html]:
    lines: list[list[str]] = [[]]
    for piece, kind in pieces:
        for number, part in enumerate(piece.split("\n")):
            if number:
                lines.append([])
            if part:
                shown = show_text(part.replace("\r", ""))
                lines[-1].append(f'<span class="{kind}">{shown}</span>' if kind else shown)
    return [Html("".join(line)) for line in lines]


def mark_words(line: Html, words: re.Pattern[str] | None) -> Html:
    """Mark words in a highlighted line, outside of its tags."""
    if words is None:
        return line
    parts = re.split(r"(<[^>]*>|&[#\w]+;)", line)
    return Html(
        "".join(
            part if number % 2 else words.sub(r"<mark>\g<0></mark>", part)
            for number, part in enumerate(parts)
        )
    )


def build_word_pattern(words: Iterable[str]) -> re.Pattern[str] | None:
    """Build the pattern that finds words of a query, at the begin of a word or of a part of an identifier."""
    found = sorted({word for word in words if len(word) > 1}, key=len, reverse=True)
    if not found:
        return None
    parts = "|".join(map(re.escape, found))
    return re.compile(rf"(?:(?<![A-Za-z])|(?<=[a-z])(?=[A-Z]))(?i:{parts})\w*")


def code_list(
    code: CodeLines,
    words: re.Pattern[str] | None = None,
    *,
    anchors: bool,
    href: str = "",
    chosen: range = range(0),
    before: Sequence[Html] = (),
) -> Html:
    """Make the list of numbered lines.

    ``anchors`` gives each an id, ``href`` is where the numbers lead, ``before`` has what stands before each line.
    """
    start = f'<a class="n" href="{show_text(href)}#L'
    rows = []
    columns = zip_longest(code.lines, before[: len(code.lines)], fillvalue="")
    for number, (line, cell) in enumerate(columns, code.first):
        id = f" id=L{number}" if anchors else ""
        kind = " class=on" if number in chosen else ""
        shown = mark_words(Html(line), words) or " "
        link = f'{start}{number}" tabindex="-1" aria-label="line {number}">{number}</a>'
        rows.append(f"<li{id}{kind}>{cell}{link}<code>{shown}</code></li>")
    return Html(f'<ol class="code">{"".join(rows)}</ol>')
