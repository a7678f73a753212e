"""Knows whether an index says what the disk says, but for what the operating system tells has changed since.

Used by processes that ask more than once. Anything in doubt is answered by "compare everything": that the watch is
not sure, that somebody else wrote the index, that a folder of the index is not watched, that it is long ago.
"""

from __future__ import annotations

import time
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from dowse.stores.protocol import Snapshot
from dowse.types import LEFT_OUT

if TYPE_CHECKING:
    from dowse.indexing.inotify import Watch

LISTENED_SECONDS = 300
"""Everything is compared all the same after so long: a file may be written under another name of it that is outside
of the tree, or something be mounted over a folder. So long, too, until listening is tried again where it failed."""


class Listening:
    """To one tree. Not for use in several threads at once."""

    def __init__(self, root: Path) -> None:
        self._root = root
        self._watch: Watch | None = None
        self._has_compared = False
        self._until = 0.0
        self._good: tuple[str, int] | None = None  # the generation that says what the disk says

    def close(self) -> None:
        """Stop; a later comparison begins anew."""
        if self._watch is not None:
            self._watch.close()
        self._watch = self._good = None

    @property
    def is_impossible(self) -> bool:
        """Whether it was tried and failed, a short while ago."""
        return self._watch is None and time.monotonic() < self._until

    def begin(self, snapshot: Snapshot) -> None:
        """Hear of changes from now on, if that is possible: before everything is compared, so that none is missed.

        Not at the first time: a process that asks once does without.
        """
        first, self._has_compared = not self._has_compared, True
        if first or self.is_impossible:
            return
        self._until = time.monotonic() + LISTENED_SECONDS
        from dowse.indexing.inotify import Unwatchable, Watch

        if self._watch is not None and self._watch.heard() is None:
            self.close()
        try:
            self._watch = self._watch or Watch(self._root)
            self._watch.add(_walked(snapshot.folders()))
        except Unwatchable:
            self.close()

    def heard(self, snapshot: Snapshot) -> set[str] | None:
        """The paths that may differ from the index; None if only a comparison of everything can tell.

        Paths are told once: until ``note_good``, the index counts as one that lacks them.
        """
        good = self.is_good(snapshot)
        if self._watch is None or not good or time.monotonic() >= self._until:
            self.doubt()
            return None
        heard = self._watch.heard()
        if heard or heard is None:
            self.doubt()
        return None if heard and self._watch.lacks(_walked(snapshot.folders())) else heard

    def is_good(self, snapshot: Snapshot) -> bool:
        """Whether this generation is one that says what the disk says, or what is still to be heard."""
        return self._good == (snapshot.identity, snapshot.generation)

    def note_good(self, snapshot: Snapshot) -> None:
        """Take this generation for one of those."""
        if not self.is_good(snapshot) and self._watch and not self._watch.lacks(_walked(snapshot.folders())):
            self._good = snapshot.identity, snapshot.generation

    def doubt(self) -> None:
        """Take none for one."""
        self._good = None


def _walked(folders: Iterable[str]) -> set[str]:
    """The folders among what an index has for folders."""
    return {folder for folder in folders if not folder.startswith(LEFT_OUT)}
