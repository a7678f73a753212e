"""Change detection by file system events: track whether the index is still in sync with its tree, without a full scan.

For processes that search more than once. In any doubt the answer is "compare everything": events were lost, another
process wrote the index, a folder is not watched, or the last comparison is long ago.
"""

from __future__ import annotations

import time
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from dowse.stores.protocol import Snapshot
from dowse.types.discovered import WatchedPath, WatchKind

if TYPE_CHECKING:
    from dowse.indexing.inotify import Watch

MAX_WATCH_SECONDS = 300
"""Everything is compared again after so long: a file may be written through another name (a hard link) outside of the
tree, or something be mounted over a folder. Watching is also tried again after so long where it failed."""


class ChangeTracker:
    """Tracks by events which paths of one tree may have changed. Not for use in several threads at once."""

    def __init__(self, root: Path) -> None:
        self._root = root
        self._watch: Watch | None = None
        self._until = 0.0
        self._synced: tuple[str, int] | None = None  # the generation that is in sync with the disk

    def close(self) -> None:
        """Stop watching; a later comparison starts again."""
        if self._watch is not None:
            self._watch.close()
        self._watch = self._synced = None

    @property
    def is_unavailable(self) -> bool:
        """Whether watching was tried a short while ago, and failed."""
        return self._watch is None and time.monotonic() < self._until

    @property
    def is_watching(self) -> bool:
        """Whether events are collected: what is compared now need not be compared again."""
        return self._watch is not None

    def begin(self, snapshot: Snapshot) -> None:
        """Start watching, if that is possible: before everything is compared, so that no change is missed."""
        if self.is_unavailable:
            return
        self._until = time.monotonic() + MAX_WATCH_SECONDS
        from dowse.indexing.inotify import Unwatchable, Watch

        if self._watch is not None and self._watch.drain_events() is None:
            self.close()
        try:
            self._watch = self._watch or Watch(self._root)
            self._watch.add(_select_folders(snapshot.list_watched()))
        except Unwatchable:
            self.close()

    def drain_events(self, snapshot: Snapshot) -> set[str] | None:
        """Return the paths that may differ from the index; None if only a comparison of everything can tell.

        A path is returned once: until ``mark_synced``, the index counts as out of sync.
        """
        is_synced = self.is_synced(snapshot)
        if self._watch is None or not is_synced or time.monotonic() >= self._until:
            self.invalidate()
            return None
        changed = self._watch.drain_events()
        if changed or changed is None:
            self.invalidate()
        return None if changed and self._watch.lacks(_select_folders(snapshot.list_watched())) else changed

    def is_synced(self, snapshot: Snapshot) -> bool:
        """Return whether a generation differs from the disk only in events that are not drained yet."""
        return self._synced == (snapshot.identity, snapshot.generation)

    def mark_synced(self, snapshot: Snapshot) -> None:
        """Note that a generation is in sync with the disk."""
        if (
            not self.is_synced(snapshot)
            and self._watch
            and not self._watch.lacks(_select_folders(snapshot.list_watched()))
        ):
            self._synced = snapshot.identity, snapshot.generation

    def invalidate(self) -> None:
        """Forget which generation is in sync."""
        self._synced = None


def _select_folders(watched: Iterable[WatchedPath]) -> set[str]:
    """Select the folders of the tree from all that is watched."""
    return {path for kind, path in watched if kind is WatchKind.FOLDER}
