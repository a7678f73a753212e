"""Storage interface (protocols ``Store``, ``Snapshot``, ``Writer``): what an index does for the engine, and not how.

Single writer, many readers: a snapshot shows one generation from its first call to its last (snapshot isolation), and
each ``apply`` of the writer is atomic. A store holds one *view*, the files of one checkout. Each of the three has two
halves, what there is (``catalogue_protocol.py``) and what is searched (``channels_protocol.py``): a store implements
both, or is joined of two by ``composed.py``.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from contextlib import AbstractContextManager
from typing import Protocol

from dowse.stores.catalogue_protocol import CatalogueSnapshot, CatalogueWriter
from dowse.stores.catalogue_protocol import KnownFile as KnownFile
from dowse.stores.catalogue_protocol import StampRow as StampRow
from dowse.stores.channels_protocol import ChannelsSnapshot
from dowse.types.discovered import SourceFile, WatchedPath, WatchedTime, WatchedTimes
from dowse.types.stored import Collected, IndexState, IndexStatus, ServerStatus

FORMAT = 17
"""Version of what stores write. An index of another version is rebuilt, never migrated."""


class Snapshot(CatalogueSnapshot, ChannelsSnapshot, Protocol):
    """One generation of an index, for reading: BM25, nearest neighbours, names, files and contents."""


class Writer(CatalogueWriter, Protocol):
    """The one writer. Each ``apply`` is atomic: a reader sees all of it or nothing."""

    def apply(self, removed: Sequence[str], files: Sequence[SourceFile]) -> int:
        """Remove paths, add files (replacing what their paths held), and return the new generation.

        A file that awaits vectors can be searched, but does not count as known in the manifest of a later writer.
        """
        ...


class Store(Protocol):
    """Where one index lives: opens snapshots and the writer, reports status, checks integrity, clears."""

    def status(self) -> IndexStatus:
        """Describe the index, without changing anything."""
        ...

    def state(self) -> IndexState:
        """Return the state alone: cheap enough for every query."""
        ...

    def snapshot(self) -> AbstractContextManager[Snapshot]:
        """Open the newest generation, for reading."""
        ...

    def writer(self, *, thorough: bool = False) -> AbstractContextManager[Writer]:
        """Take the lock and open a writer; raise ``IndexLocked`` if another process has the lock.

        What is derived and found corrupt is rebuilt; ``thorough`` looks at every byte of it first.
        """
        ...

    def find_corrupt_parts(self) -> tuple[str, ...]:
        """Find the parts that are not as they were written, by looking at every byte that the store answers for."""
        ...

    def clear(self) -> None:
        """Delete the whole index."""
        ...

    def put_blob(self, name: str, data: bytes) -> None:
        """Keep something derived from the index beside it, in place of what had the name; losing it costs only time."""
        ...

    def get_blob(self, name: str) -> bytes | None:
        """Return what was kept under a name; None if it is gone. It is cleared with the index."""
        ...

    def dump(self) -> Iterator[tuple[object, ...]]:
        """List everything that is searchable, by path and without ids: equal dumps mean equal indexes."""
        ...

    def close(self) -> None:
        """Close files and connections."""
        ...


class SharedStore(Store, Protocol):
    """A store that has the indexes of many trees, and is looked after as a whole."""

    def init(self, grant_read: Sequence[str] = (), *, rebuild: bool = False) -> None:
        """Create what is missing, and let roles read. ``rebuild`` removes all that was there."""
        ...

    def server_status(self) -> ServerStatus:
        """Describe all that the store has."""
        ...

    def collect_garbage(self, forget: Sequence[str], older_than_days: float | None) -> Collected:
        """Delete repositories and views by name or age, and then what nobody uses."""
        ...


def merge_watched(
    known: WatchedTimes,
    new: WatchedTimes,
    unwatched: Collection[WatchedPath],
) -> dict[WatchedPath, WatchedTime]:
    """Merge what an index watches with what came or changed, after dropping what is not watched any more."""
    return {path: time for path, time in known.items() if path not in unwatched} | dict(new)
