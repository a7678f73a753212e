"""Storage interface (protocols ``Store``, ``Snapshot``, ``Writer``): what an index does for the engine, and not how.

Single writer, many readers: a snapshot shows one generation from its first call to its last (snapshot isolation), and
each ``apply`` of the writer is atomic. A store holds one *view*, the files of one checkout.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from typing import Protocol

from dowse.types.discovered import (
    ChunkVector,
    FileStamp,
    IndexReport,
    SourceFile,
    WatchedPath,
    WatchedTime,
    WatchedTimes,
)
from dowse.types.queries import Term
from dowse.types.source import ParsedFile
from dowse.types.stored import (
    DEFAULT_BM25,
    Bm25,
    Collected,
    FileReferences,
    Filter,
    IndexState,
    IndexStatus,
    NameHit,
    NameTier,
    Scored,
    ServerStatus,
    StoredFile,
)

FORMAT = 17
"""Version of what stores write. An index of another version is rebuilt, never migrated."""


class KnownFile(Protocol):
    """What the manifest has of a file."""

    @property
    def stamp(self) -> FileStamp:
        """Size and times as ``stat`` reported them when the file was read."""
        ...

    @property
    def content_hash(self) -> bytes:
        """Hash of the content and of the settings that change what is indexed of it."""
        ...


StampRow = tuple[str, int, int, int, bool]
"""A path, and the fields of its stamp: named tuples would take a third of the time of comparing a tree."""


class Snapshot(Protocol):
    """One generation of an index, for reading: BM25, nearest neighbours, names, files and contents."""

    @property
    def generation(self) -> int:
        """Counts the commits; equal numbers mean equal answers."""
        ...

    @property
    def identity(self) -> str:
        """Which index this is: generations count within one, and one that was cleared and rebuilt is another."""
        ...

    @property
    def is_current(self) -> bool:
        """Whether it was finished, with the settings of the store it is read from."""
        ...

    def lexical(
        self,
        terms: Sequence[Term],
        fields: Mapping[str, float],
        filter: Filter,
        limit: int,
        bm25: Bm25 = DEFAULT_BM25,
    ) -> list[Scored]:
        """Rank chunks by BM25 over the weighted fields of ``ChunkTerms``, best first.

        ``UsageError`` for constants that the engine of the store does not have.
        """
        ...

    def document_frequency(self, token: str) -> int:
        """Count the chunks that have a token in their body."""
        ...

    def find_tokens(self, part: str, limit: int) -> list[str]:
        """Find tokens of bodies that contain a text in lower case, shortest first; those just deleted may be there."""
        ...

    def chunk_count(self) -> int:
        """Count the chunks."""
        ...

    def dense(self, vector: Sequence[float], filter: Filter, limit: int) -> list[Scored]:
        """Rank chunks by cosine with the vector, best first; none where the index has no vectors."""
        ...

    def file_cosines(self, vector: Sequence[float], files: Sequence[int]) -> dict[int, list[float]]:
        """Compare the vector with all chunks of some files: cosines in order, by file; files without vectors lack."""
        ...

    def names(self, pattern: str, tier: NameTier, filter: Filter, limit: int) -> list[NameHit]:
        """Find entities whose name matches in this way, by name (ignoring case) and then by path."""
        ...

    def find_files_named(self, name: str, filter: Filter, limit: int) -> list[int]:
        """Find the ids of the files whose name, stem or trailing path this is, ignoring case, in order of path."""
        ...

    def file(self, id: int) -> StoredFile | None:
        """Read a file by its id; None if this generation does not have it."""
        ...

    def file_at(self, path: str) -> StoredFile | None:
        """Read a file by its path; None if this generation does not have it."""
        ...

    def prefetch(self, ids: Sequence[int]) -> None:
        """Read the contents of these files at once if the store is remote: they are needed next."""
        ...

    def content(self, id: int) -> bytes:
        """Read the content of a file as it was indexed, in UTF-8, secrets masked."""
        ...

    def contents(self, filter: Filter) -> Iterator[tuple[int, bytes]]:
        """Read id and content of every file that passes, in order of path."""
        ...

    def file_vectors(self, id: int) -> tuple[ChunkVector, ...]:
        """Read the vectors of a file's chunks, in order; none if it has none."""
        ...

    def references(self, paths: Collection[str] | None = None) -> Iterator[FileReferences]:
        """Read what the files at some paths, or all, define and mention, in order of path."""
        ...

    def chunk_passes(self, chunk: int, filter: Filter) -> bool:
        """Whether a chunk passes by its definitions; of a file that passes."""
        ...

    def file_count(self) -> int:
        """Count the files."""
        ...

    def manifest(self) -> Mapping[str, KnownFile]:
        """List every file by path, with its stamp and content hash."""
        ...

    def list_stamps(self) -> Iterable[StampRow]:
        """List every file in order of path, with its stamp alone: what a comparison with the disk needs."""
        ...

    def list_watched(self) -> WatchedTimes:
        """List what is watched beside the files: every folder that was walked, skipped files, outer rules."""
        ...


class Writer(Protocol):
    """The one writer. Each ``apply`` is atomic: a reader sees all of it or nothing."""

    @property
    def repaired(self) -> tuple[str, ...]:
        """Parts of the index that were corrupt or lost, and that this writer has rebuilt."""
        ...

    def manifest(self, paths: Collection[str] | None = None) -> Mapping[str, KnownFile]:
        """List some files or all by path; those of other settings have a stamp that is not trusted, and no hash."""
        ...

    def find_parsed(self, content_hash: bytes) -> ParsedFile | None:
        """Find what was parsed of a content before, in this or another checkout.

        It stays known, with its references, until the writer is done.
        """
        ...

    def find_vectors(self, keys: Sequence[bytes]) -> dict[bytes, bytes]:
        """Find those of the requested vectors that were computed before."""
        ...

    def apply(self, removed: Sequence[str], files: Sequence[SourceFile]) -> int:
        """Remove paths, add files (replacing what their paths held), and return the new generation.

        A file that awaits vectors can be searched, but does not count as known in the manifest of a later writer.
        """
        ...

    def restamp(
        self,
        stamps: Mapping[str, FileStamp],
        watched: WatchedTimes | None = None,
        unwatched: Collection[WatchedPath] = (),
    ) -> None:
        """Note new stamps of files whose content is the same; forget what is unwatched, then note what is watched."""
        ...

    def finish(self, report: IndexReport, watched: WatchedTimes) -> None:
        """Record what the run saw, and all that is watched; the index is current from here on."""
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
