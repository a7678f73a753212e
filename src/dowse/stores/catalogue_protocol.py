"""Storage interface, one half (protocols ``Catalogue``, ``CatalogueSnapshot``, ``CatalogueWriter``): what there is.

A catalogue knows the generations of an index, who writes it, its files with their contents and stamps, and what is
kept beside them. It alone decides which generation is visible. ``channels_protocol.py`` has the other half, what is
searched.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from typing import Protocol

from dowse.stores.channels_protocol import PlannedCommit, VisibleGeneration
from dowse.types.discovered import ChunkVector, FileStamp, IndexReport, SourceFile, WatchedPath, WatchedTimes
from dowse.types.source import ParsedFile
from dowse.types.stored import FileReferences, Filter, IndexState, IndexStatus, StoredFile


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


class CatalogueSnapshot(Protocol):
    """One generation of an index, as far as its files are concerned."""

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


class CatalogueWriter(Protocol):
    """The one writer of an index, as far as its files are concerned: it has the lock."""

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


class JoinableSnapshot(CatalogueSnapshot, Protocol):
    """A generation of a catalogue whose channels are elsewhere."""

    @property
    def visible(self) -> VisibleGeneration:
        """What of the channels belongs to this generation."""
        ...

    def prefetch_rows(self, ids: Sequence[int]) -> None:
        """Read these files at once, without their contents, if the catalogue is remote: they are hits."""
        ...

    def find_changed(self, since_ns: int) -> Collection[int]:
        """Find the ids of the files that were modified at a time or later: channels do not know stamps."""
        ...


class JoinableWriter(CatalogueWriter, Protocol):
    """The writer of a catalogue whose channels are elsewhere: a commit is planned, then published."""

    def plan(self, removed: Sequence[str], files: Sequence[SourceFile]) -> PlannedCommit:
        """Assign numbers to the files and the generation of a commit; no other gets them, whatever comes of it."""
        ...

    def publish(self, commit: PlannedCommit) -> None:
        """Make the commit visible, if its base still is what is visible; raise ``IndexLocked`` if it is not."""
        ...

    def visible(self) -> VisibleGeneration:
        """Read what of the channels belongs to the newest generation."""
        ...

    def forget_abandoned(self, visible: VisibleGeneration) -> None:
        """Forget abandoned commits that were swept, if their writers can send nothing any more."""
        ...


class Catalogue(Protocol):
    """Where the files of one index are, if its channels are elsewhere."""

    fingerprint: str

    def status(self) -> IndexStatus:
        """Describe the index, without changing anything."""
        ...

    def state(self) -> IndexState:
        """Return the state alone: cheap enough for every query."""
        ...

    def snapshot(self) -> AbstractContextManager[JoinableSnapshot]:
        """Open the newest generation, for reading."""
        ...

    def writer(self, *, thorough: bool = False) -> AbstractContextManager[JoinableWriter]:
        """Take the lock and open a writer; raise ``IndexLocked`` if another process has the lock."""
        ...

    def clear(self) -> None:
        """Delete the whole index; the next one has another identity."""
        ...

    def put_blob(self, name: str, data: bytes) -> None:
        """Keep something derived from the index beside it, in place of what had the name; losing it costs only time."""
        ...

    def get_blob(self, name: str) -> bytes | None:
        """Return what was kept under a name; None if it is gone. It is cleared with the index."""
        ...

    def close(self) -> None:
        """Close files and connections."""
        ...
