"""Filters as WHERE clauses. Tables go by fixed letters: ``f`` files, ``n`` names. Everything is a parameter."""

from __future__ import annotations

from typing import Any, NamedTuple

from dowse.filters import name_regex, path_regex
from dowse.types import Filter

LATEST = 2**63 - 1


class Where(NamedTuple):
    """Conditions joined by AND, and their parameters; no conditions are the empty text."""

    text: str = ""
    values: tuple[Any, ...] = ()


def _where(*parts: tuple[str, Any]) -> Where:
    return Where("".join(f" AND {text}" for text, _ in parts), tuple(value for _, value in parts))


def files(filter: Filter) -> Where:
    """What a file must be."""
    parts: list[tuple[str, Any]] = []
    if filter.languages:
        parts.append(("f.language = ANY(%s)", sorted(map(stored, filter.languages))))
    if filter.not_languages:
        parts.append(("f.language <> ALL(%s)", sorted(map(stored, filter.not_languages))))
    if filter.roles:
        parts.append(("f.role = ANY(%s)", sorted(filter.roles)))
    if filter.not_roles:
        parts.append(("f.role <> ALL(%s)", sorted(filter.not_roles)))
    if filter.changed_since_ns is not None:
        parts.append(("abs(f.mtime_ns) >= %s", min(filter.changed_since_ns, LATEST)))
    if filter.paths:
        parts.append(("f.path ~ ANY(%s)", [_whole(path_regex(p)) for p in filter.paths]))
    if filter.not_paths:
        parts.append(("NOT f.path ~ ANY(%s)", [_whole(path_regex(p)) for p in filter.not_paths]))
    return _where(*parts)


def kinds(values: Any) -> Where:
    """What a definition must be."""
    return _where(("n.kind = ANY(%s)", sorted(values)))


def names(patterns: tuple[str, ...]) -> Where:
    """What a definition must be called."""
    return _where(("n.name_key ~ ANY(%s)", [named(pattern) for pattern in patterns]))


def definition(filter: Filter) -> Where:
    """What an entity must be to be a hit itself."""
    parts: list[tuple[str, Any]] = []
    if filter.kinds:
        parts.append(("n.kind = ANY(%s)", sorted(filter.kinds)))
    if filter.not_kinds:
        parts.append(("n.kind <> ALL(%s)", sorted(filter.not_kinds)))
    if filter.names:
        parts.append(("n.name_key ~ ANY(%s)", [named(pattern) for pattern in filter.names]))
    return _where(*parts)


def named(pattern: str) -> str:
    """A name glob as the server's regular expression."""
    return _whole(name_regex(pattern))


def _whole(regex: str) -> str:
    """A regular expression of ours for the whole text as the server reads it: there, a dot matches line breaks."""
    return f"^(?:{regex.replace('(?s:.*)', '.*')})$".replace("\0", "\ufffd")


def stored(text: str) -> str:
    """A text as the server can hold it: without the one character that it cannot."""
    return text.replace("\0", "\ufffd")


def letters(key: str) -> int:
    """The characters of a name as bits. An edit changes two of them at most, a swap none."""
    bits = 0
    for character in key:
        bits |= 1 << ord(character) % 63
    return bits
