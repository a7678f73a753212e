"""HTML builder: elements whose texts and attributes are escaped unless they are HTML already."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
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
    return Html("".join(_iter_parts(children)))


def _iter_parts(children: Iterable[Child]) -> Iterable[str]:
    for child in children:
        if child is None:
            continue
        if isinstance(child, Html):
            yield child
        elif isinstance(child, str):
            yield show_text(child)
        else:
            yield from _iter_parts(child)


def element(
    name: str, /, *children: Child, attributes: Mapping[str, Attribute] | None = None, **more: Attribute
) -> Html:
    """Make an element. ``class_`` is the class; underscores of names are dashes; None and False leave one out."""
    written = "".join(_write_attributes({**(attributes or {}), **more}))
    if name in VOID_ELEMENTS:
        return Html(f"<{name}{written}>")
    return Html(f"<{name}{written}>{join(*children)}</{name}>")


def _write_attributes(attributes: Mapping[str, Attribute]) -> Iterable[str]:
    for key, value in attributes.items():
        if value is None or value is False:
            continue
        name = _attribute_name(key)
        yield f" {name}" if value is True else f' {name}="{show_text(str(value))}"'


@cache
def _attribute_name(key: str) -> str:
    return key.rstrip("_").replace("_", "-")
