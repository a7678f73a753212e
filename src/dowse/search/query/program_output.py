"""Program output clean-up: strip ANSI colour codes and frames around exception groups, and cut long lines."""

from __future__ import annotations

from collections.abc import Iterator

from dowse.lazy_regex import compile_lazily

MAX_LINE_CHARS = 2000
"""Characters of a line that are read: what is longer is data, and frames stand at its beginning."""

_ANSI = compile_lazily(r"\x1b\[[0-9;:?]*+[ -/]*+[@-~]")
_GROUP_PREFIX = compile_lazily(r"\s*[|+] ")  # in front of every line of a Python exception group


def strip_ansi(text: str) -> str:
    """Remove the escape sequences by which a terminal shows colors."""
    return _ANSI.sub("", text)


def clean_lines(text: str) -> Iterator[str]:
    """Split program output into lines that are short and plain."""
    for line in strip_ansi(text).split("\n"):
        short = line[:MAX_LINE_CHARS].rstrip()
        prefix = _GROUP_PREFIX.match(short)
        yield short[prefix.end() :] if prefix else short
