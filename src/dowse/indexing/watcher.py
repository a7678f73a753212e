"""File watcher of ``dowse watch``: batches of changed paths, debounced, by the ``watchfiles`` package.

Optional: every search notices changes by itself.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator
from pathlib import Path

from dowse.errors import UsageError

DEBOUNCE_STEP_MS = 200
"""Changes that follow each other within this time are one: a commit to the lexical index costs as much."""

UNWATCHED_FOLDERS = frozenset({".git", ".dowse", ".hg", ".svn", "node_modules", "__pycache__", ".venv"})
"""Folders in which much happens that is never indexed."""


def watch_paths(root: Path, index_folder: Path, stop: threading.Event | None = None) -> Iterator[list[str]]:
    """Yield the paths that change, relative to the root and in batches, from the first ``next`` until stopped."""
    try:
        import watchfiles
    except ImportError as error:  # at once, before waiting for anything
        raise UsageError(f"watching needs one more package: pip install 'dowse[watch]' ({error})") from error
    ours = os.fspath(index_folder)

    def is_watched(change: object, path: str) -> bool:
        inside = Path(path).relative_to(root).parts
        return not (UNWATCHED_FOLDERS.intersection(inside) or path.startswith(ours))

    batches = watchfiles.watch(
        root,
        watch_filter=is_watched,
        debounce=8 * DEBOUNCE_STEP_MS,
        step=DEBOUNCE_STEP_MS,
        stop_event=stop,
        raise_interrupt=True,
        ignore_permission_denied=True,
    )
    return (sorted({Path(path).relative_to(root).as_posix() for _, path in batch}) for batch in batches)
