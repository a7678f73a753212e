"""Hears from the operating system which files change. Optional: every search notices changes by itself."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator
from pathlib import Path

from dowse.errors import UsageError

QUIET_MS = 200
"""Changes that follow each other within this time are one: a commit to the lexical index costs as much."""

UNWATCHED = frozenset({".git", ".dowse", ".hg", ".svn", "node_modules", "__pycache__", ".venv"})
"""Folders in which much happens that is never indexed."""


def changed_paths(root: Path, index_folder: Path, stop: threading.Event | None = None) -> Iterator[list[str]]:
    """The paths that change from the first question on, from the root, in batches, until stopped."""
    try:
        import watchfiles
    except ImportError as error:  # said at once, before anything is waited for
        raise UsageError(f"watching needs one more package: pip install 'dowse[watch]' ({error})") from error
    ours = os.fspath(index_folder)

    def is_watched(change: object, path: str) -> bool:
        inside = Path(path).relative_to(root).parts
        return not (UNWATCHED.intersection(inside) or path.startswith(ours))

    batches = watchfiles.watch(
        root,
        watch_filter=is_watched,
        debounce=8 * QUIET_MS,
        step=QUIET_MS,
        stop_event=stop,
        raise_interrupt=True,
        ignore_permission_denied=True,
    )
    return (sorted({Path(path).relative_to(root).as_posix() for _, path in batch}) for batch in batches)
