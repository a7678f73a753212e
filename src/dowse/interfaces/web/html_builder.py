"""HTML builder: elements whose texts and attributes are escaped unless they are HTML already."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import cache
from html import escape
from typing import Union

_CONTROL = dict.fromkeys((*range(9), 11, 12, *range(14, 32), *range(127, 160)), "�")
_BIDI = {
    code: f"\\u{code:04x}"
    for code in (0x061C, 0x200E, 0x200F, *range(0x202A, 0x202F), *range(0x2066, 0x206A))
}
_UNSAFE = {**_CONTROL, **_BIDI}
"""Characters that HTML has no place for, or that turn the direction of reading; surrogates are replaced too."""

_SURROGATE = re.compile("[\ud800-\udfff]")

_SPECIAL = re.compile(
    "[&<>\"'\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069\ud800-\udfff]"
)
"""What most texts have none of: they are HTML as they are."""

VOID_ELEMENTS = frozenset({"br", "hr", "img", "input", "link", "meta", "wbr", "col"})


class Html(str):
    """A text that is HTML already."""

    __slots__ = ()


Child = Union[str, None, "Iterable[Child]"]
Attribute = str | int | float | bool | None


def show_text(text: str) -> Html:
    """Escape a text for HTML; control characters and marks of reading direction are made visible."""
    if _SPECIAL.search(text) is None:
        return Html(text)
    clean = _SURROGATE.sub("\N{REPLACEMENT CHARACTER}", text.translate(_UNSAFE))
    return Html(escape(clean, quote=True))


def join(*children: Child) -> Html:
    """Join texts, elements and lists of them."""
    parts: list[str] = []
    _add_parts(parts, children)
    return Html("".join(parts))


def _add_parts(parts: list[str], children: Iterable[Child]) -> None:
    for child in children:
        if isinstance(child, str):
            parts.append(child if type(child) is Html else show_text(child))
        elif child is not None:
            _add_parts(parts, child)


def element(name: str, /, *children: Child, **attributes: Attribute) -> Html:
    """Make an element. ``class_`` is the class; underscores of names are dashes; None and False leave one out."""
    parts = ["<", name]
    for key, value in attributes.items():
        if value is None or value is False:
            continue
        written = _attribute_name(key)
        parts.append(f" {written}" if value is True else f' {written}="{show_text(str(value))}"')
    parts.append(">")
    if name not in VOID_ELEMENTS:
        _add_parts(parts, children)
        parts.append(f"</{name}>")
    return Html("".join(parts))


def fill(pattern: str, *values: Child) -> Html:
    """Fill the places ``{}`` of a pattern of HTML with values, as ``join`` does: for what a page has hundreds of."""
    return Html(pattern.format(*map(_escape_value, values)))


def _escape_value(value: Child) -> str:
    if isinstance(value, str):
        return value if type(value) is Html else show_text(value)
    return join(value)


@cache
def _attribute_name(key: str) -> str:
    return key.rstrip("_").replace("_", "-")
