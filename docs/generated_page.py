"""Write a generated page, or compare it with what it should be (``--check``)."""

from __future__ import annotations

import sys
from pathlib import Path


def write_or_check(page: Path, text: str) -> int:
    """Write the page; with ``--check``, only say whether it is out of date. Return the exit code."""
    if "--check" not in sys.argv[1:]:
        page.write_text(text, encoding="utf-8")
        return 0
    if page.is_file() and page.read_text(encoding="utf-8") == text:
        return 0
    sys.stderr.write(f"{page} is out of date: run 'make docs'\n")
    return 1
