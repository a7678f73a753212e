"""Program output clean-up: strip ANSI colour codes and frames around exception groups, and cut long lines."""

from __future__ import annotations

from collections.abc import Iterator

from dowse.lazy_regex import compile_lazily

MAX_LINE_CHARS = 2000
"""Characters of a line that are read: what is longer is data, and frames stand at its beginning."""

_ANSI = compile_lazily(r"\x1b\[[0-9;:?]*+[ -/]*+[@-~]")
_GROUP_PREFIX = compile_lazily(r"\s*[|+] ")  # in front of every line of a Python exception group

_LOG_PREFIX = compile_lazily(
    r"(?=[\w./-]*[A-Za-z])[\w./-]{1,80}\s{1,20}\| "
    r"|\[?\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(?:[.,]\d{1,9})?(?:Z|[+-]\d\d:?\d\d)?\]? "
)
"""In front of every line in the logs of containers and pipelines: a service, a time."""


def strip_ansi(text: str) -> str:
    """Remove the escape sequences by which a terminal shows colors."""
    return _ANSI.sub("", text)


def clean_lines(text: str) -> Iterator[str]:
    """Split program output into lines that are short and plain."""
    for line in strip_ansi(text).split("\n"):
        short = line[:MAX_LINE_CHARS].rstrip()
        for pattern in (_LOG_PREFIX, _GROUP_PREFIX):
            if prefix := pattern.match(short):
                short = short[prefix.end() :]
        yield short
