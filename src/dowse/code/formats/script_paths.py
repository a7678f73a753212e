"""Paths in commands: the scripts and files of the tree that a step of a pipeline runs or reads."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

MAX_PATHS = 200
"""Paths that are read of one step."""

_PATH = re.compile(
    r"(?<![\w./$@{}:-])(?:\./)?(?P<path>[\w-][\w.-]*(?:/[\w.-]+)+|[\w-]+\.(?:sh|bash|py|js|mjs|ts|rb|pl|ps1|php))(?![\w/])"
)


def find_paths(lines: Sequence[str], first: int, last: int) -> Iterator[tuple[str, int]]:
    """Find what may be paths on some rows, each with its row; which are, the tree decides."""
    count = 0
    for row in range(first, min(last + 1, len(lines))):
        for found in _PATH.finditer(lines[row][:1000]):
            yield found["path"], row
            count += 1
            if count >= MAX_PATHS:
                return
