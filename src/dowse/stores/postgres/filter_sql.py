"""SQL generation for filters: WHERE clauses with bound parameters. Tables go by letters: ``f`` files, ``n`` names."""

from __future__ import annotations

from typing import Any, NamedTuple

from dowse.filters import name_regex, path_regex
from dowse.types.stored import Filter

MAX_BIGINT = 2**63 - 1


class WhereClause(NamedTuple):
    """Conditions joined by AND, and their parameters; no conditions are the empty text."""

    text: str = ""
    values: tuple[Any, ...] = ()


def _join_conditions(*parts: tuple[str, Any]) -> WhereClause:
    return WhereClause("".join(f" AND {text}" for text, _ in parts), tuple(value for _, value in parts))


def file_conditions(filter: Filter) -> WhereClause:
    """Build the conditions on a file."""
    parts: list[tuple[str, Any]] = []
    if filter.languages:
        parts.append(("f.language = ANY(%s)", sorted(map(to_sql_text, filter.languages))))
    if filter.not_languages:
        parts.append(("f.language <> ALL(%s)", sorted(map(to_sql_text, filter.not_languages))))
    if filter.roles:
        parts.append(("f.role = ANY(%s)", sorted(filter.roles)))
    if filter.not_roles:
        parts.append(("f.role <> ALL(%s)", sorted(filter.not_roles)))
    if filter.changed_since_ns is not None:
        parts.append(("f.mtime_ns >= %s", min(filter.changed_since_ns, MAX_BIGINT)))
    if filter.paths:
        parts.append(("f.path ~ ANY(%s)", [_to_server_regex(path_regex(p)) for p in filter.paths]))
    if filter.not_paths:
        parts.append(("NOT f.path ~ ANY(%s)", [_to_server_regex(path_regex(p)) for p in filter.not_paths]))
    return _join_conditions(*parts)


def kind_conditions(values: Any) -> WhereClause:
    """Build the condition on the kind of a definition."""
    return _join_conditions(("n.kind = ANY(%s)", sorted(values)))


def name_conditions(patterns: tuple[str, ...]) -> WhereClause:
    """Build the condition on the name of a definition."""
    return _join_conditions(("n.name_key ~ ANY(%s)", [name_pattern(pattern) for pattern in patterns]))


def entity_conditions(filter: Filter) -> WhereClause:
    """Build the conditions on an entity that is to be a hit itself."""
    parts: list[tuple[str, Any]] = []
    if filter.kinds:
        parts.append(("n.kind = ANY(%s)", sorted(filter.kinds)))
    if filter.not_kinds:
        parts.append(("n.kind <> ALL(%s)", sorted(filter.not_kinds)))
    if filter.names:
        parts.append(("n.name_key ~ ANY(%s)", [name_pattern(pattern) for pattern in filter.names]))
    return _join_conditions(*parts)


def name_pattern(pattern: str) -> str:
    """Translate a name glob to the server's regular expression."""
    return _to_server_regex(name_regex(pattern))


def _to_server_regex(regex: str) -> str:
    """Translate a regular expression for the whole text to the server's: there, a dot matches line breaks."""
    return f"^(?:{regex.replace('(?s:.*)', '.*')})$".replace("\0", "\ufffd")


def to_sql_text(text: str) -> str:
    """Replace the one character (NUL) that the server cannot store."""
    return text.replace("\0", "\ufffd")


def letter_bits(key: str) -> int:
    """Encode the characters of a name as bits. An edit changes two of them at most, a swap none."""
    bits = 0
    for character in key:
        bits |= 1 << ord(character) % 63
    return bits
