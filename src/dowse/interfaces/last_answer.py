"""The hits of the last answer that was shown on a terminal, by number, so that ``dowse open`` finds them again.

One file for each tree, in the user's state folder: paths and lines, and nothing of the query.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from dowse import roots
from dowse.errors import UsageError
from dowse.safe_files import UnsafeFile, read_regular, write_regular

MAX_FILE_BYTES = 1_000_000


def save_hits(root: Path, hits: Sequence[tuple[str, int]], first: int) -> None:
    """Save files and lines of the hits, of which the first has a number; where nothing can be written, do nothing."""
    file = roots.last_answer_path(root)
    text = json.dumps({"first": first, "hits": [[path, line] for path, line in hits]})
    with suppress(OSError, UnsafeFile):
        file.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        write_regular(file, text.encode("utf-8", "surrogatepass"), 0o600)


def find_hit(root: Path, number: int) -> tuple[str, int]:
    """Find file and line of a hit of the last answer about a tree."""
    try:
        saved = json.loads(read_regular(roots.last_answer_path(root), MAX_FILE_BYTES))
        first, hits = int(saved["first"]), [(str(path), int(line)) for path, line in saved["hits"]]
    except (OSError, UnsafeFile, ValueError, KeyError, TypeError):
        raise UsageError(f"there is no answer about {root} yet: search on a terminal first") from None
    if not first <= number < first + len(hits):
        numbers = f"{first} to {first + len(hits) - 1}" if hits else "none"
        raise UsageError(f"there is no hit {number}: the last answer about {root} has {numbers}")
    return hits[number - first]
