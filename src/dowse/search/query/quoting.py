"""Quoting and escaping in the query language: phrases, the slashes around patterns, and text that was JSON-escaped."""

from __future__ import annotations

import re


def quote_phrase(text: str) -> str:
    """Quote a text, so that it is read as a phrase."""
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'


def unescape_phrase(body: str) -> str:
    """Take the backslashes out of a phrase."""
    return re.sub(r'\\(["\\])', r"\1", body)


def unescape_json(body: str) -> str:
    """Turn the escapes of JSON into what they stand for."""
    return re.sub(r"\\(.)", lambda match: {"n": "\n", "t": "\t", "r": ""}.get(match[1], match[1]), body)


def make_pattern(phrase: str) -> str:
    """Make a pattern of a phrase: the blanks between its words may differ."""
    return r"\s+".join(map(re.escape, phrase.split()))


def escape_slashes(pattern: str) -> str:
    """Put a backslash before each slash of a pattern."""
    return re.sub(r"\\.|/", lambda m: "\\/" if m.group() == "/" else m.group(), pattern)


def unescape_slashes(body: str) -> str:
    """Take the backslashes before slashes out of a pattern."""
    return re.sub(r"\\(.)", lambda m: "/" if m.group(1) == "/" else m.group(), body)
