"""In-memory store: the reference implementation (BM25, cosine, name lookup) that every other store is tested against.

Everything is computed plainly from the rows, so that it can be read as the definition of what a store does. The two
halves are apart, and joined as those of a cluster are: here is the catalogue, in ``memory_channels.py`` what is
searched.
"""

from __future__ import annotations

import threading
import uuid
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace

from dowse.errors import IndexLocked, IndexMissing
from dowse.filters import chunk_passes, file_passes, to_facts
from dowse.frozen import frozen
from dowse.stores import name_match
from dowse.stores.catalogue_protocol import StampRow
from dowse.stores.channels_protocol import NumberedFile, PlannedCommit, RemovedFile, VisibleGeneration
from dowse.stores.composed import ComposedStore
from dowse.stores.memory_channels import MemoryChannels, make_stored_file
from dowse.stores.protocol import merge_watched
from dowse.types.discovered import ChunkVector, FileStamp, IndexReport, SourceFile, WatchedPath, WatchedTimes
from dowse.types.source import ParsedFile
from dowse.types.stored import (
    FileReferences,
    Filter,
    IndexState,
    IndexStatus,
    StoredFile,
    split_chunk_id,
)


class MemoryStore(ComposedStore):
    """An index in memory that lives as long as the process."""

    def __init__(self, fingerprint: str = "") -> None:
        super().__init__(MemoryCatalogue(fingerprint), MemoryChannels())


@frozen
class MemoryRow:
    """A file as the catalogue has it."""

    file: StoredFile
    source: SourceFile
    fingerprint: str  # the settings it was written under
    references: bytes

    @property
    def stamp(self) -> FileStamp:
        """The stamp of the file."""
        return self.file.stamp

    @property
    def content_hash(self) -> bytes:
        """The hash of its content."""
        return self.file.content_hash


class MemoryCatalogue:
    """The files of an index in memory."""

    def __init__(self, fingerprint: str = "") -> None:
        self.fingerprint = fingerprint
        self._written_fingerprint = ""
        self._lock = threading.Lock()
        self._identity = uuid.uuid4().hex
        # generation and rows, replaced together
        self._published: tuple[int, Mapping[str, MemoryRow]] = (0, {})
        self._next_id = 1
        self._planned: set[int] = set()  # generations of commits that were not published
        self._report: IndexReport | None = None
        self._watched: WatchedTimes = {}
        self._contents: dict[bytes, tuple[ParsedFile, bytes]] = {}  # with its references
        self._blobs: dict[str, bytes] = {}
        self._vectors: dict[bytes, bytes] = {}

    def state(self) -> IndexState:
        """Return whether there is an index, and whether it is of these settings."""
        if not self._written_fingerprint:
            return IndexState.MISSING
        is_current = self._written_fingerprint == self.fingerprint
        return IndexState.CURRENT if is_current else IndexState.OTHER_SETTINGS

    def status(self) -> IndexStatus:
        """Describe the index."""
        generation, rows = self._published
        files = [row.file for row in rows.values()]
        return IndexStatus(
            self.state(),
            "memory",
            generation,
            len(files),
            sum(len(f.parsed.chunks) for f in files),
            sum(len(f.parsed.entities) for f in files),
            sum(len(row.source.content) for row in rows.values()),
            dict(Counter(f.parsed.language for f in files).most_common()),
            dict(Counter(f.parsed.health.value for f in files).most_common()),
            tuple(secret for _, row in sorted(rows.items()) for secret in row.source.secrets),
            self._report,
        )

    @contextmanager
    def snapshot(self) -> Iterator[MemoryCatalogueSnapshot]:
        """Open the newest generation."""
        identity = self._identity  # before the rest: what is cleared meanwhile is then told apart
        generation, rows = self._published
        if not self._written_fingerprint and not generation:
            raise IndexMissing("there is no index in memory yet: index a tree first")
        visible = self._make_visible(identity, generation)
        is_current = self._written_fingerprint == self.fingerprint
        yield MemoryCatalogueSnapshot(visible, rows, self._watched, is_current=is_current)

    def _make_visible(self, identity: str, generation: int) -> VisibleGeneration:
        abandoned = frozenset(one for one in tuple(self._planned) if one <= generation)
        return VisibleGeneration(identity, "", generation, abandoned)

    @contextmanager
    def writer(self, *, thorough: bool = False) -> Iterator[MemoryCatalogueWriter]:
        """Open the writer."""
        if not self._lock.acquire(blocking=False):
            raise IndexLocked("another thread is writing the index in memory: wait for it to finish")
        try:
            yield MemoryCatalogueWriter(self)
        finally:
            self._lock.release()

    def clear(self) -> None:
        """Delete the whole index."""
        with self.writer():
            self._published = (0, {})
            self._identity = uuid.uuid4().hex
            self._written_fingerprint, self._report, self._watched = "", None, {}
            for table in (self._planned, self._contents, self._blobs, self._vectors):
                table.clear()

    def put_blob(self, name: str, data: bytes) -> None:
        """Keep something derived from the index."""
        self._blobs[name] = data

    def get_blob(self, name: str) -> bytes | None:
        """Return what was kept under a name."""
        return self._blobs.get(name)

    def close(self) -> None:
        """Do nothing: there is nothing to close."""


class MemoryCatalogueWriter:
    """Writes a new set of rows beside the old one."""

    repaired: tuple[str, ...] = ()

    def __init__(self, store: MemoryCatalogue) -> None:
        self._store = store

    def manifest(self, paths: Collection[str] | None = None) -> Mapping[str, MemoryRow]:
        """List every file by path; those written under other settings do not count as known."""
        return {
            path: row
            if row.fingerprint == self._store.fingerprint
            else replace(
                row,
                file=replace(row.file, stamp=row.stamp._replace(is_trusted=False), content_hash=b""),
            )
            for path, row in self._store._published[1].items()
            if paths is None or path in paths
        }

    def find_parsed(self, content_hash: bytes) -> ParsedFile | None:
        """Find what was parsed of a content before."""
        known = self._store._contents.get(content_hash)
        return known[0] if known else None

    def find_vectors(self, keys: Sequence[bytes]) -> dict[bytes, bytes]:
        """Find vectors that were computed before."""
        return {key: self._store._vectors[key] for key in keys if key in self._store._vectors}

    def visible(self) -> VisibleGeneration:
        """Return what of the channels belongs to the newest generation."""
        return self._store._make_visible(self._store._identity, self._store._published[0])

    def forget_abandoned(self, visible: VisibleGeneration) -> None:
        """Forget abandoned commits: a writer that ended writes nothing more."""
        self._store._planned -= visible.abandoned

    def plan(self, removed: Sequence[str], files: Sequence[SourceFile]) -> PlannedCommit:
        """Assign numbers to the files and the generation of a commit."""
        store, (current, rows) = self._store, self._store._published
        generation = max((current, *store._planned)) + 1
        store._planned.add(generation)
        added = tuple(NumberedFile(store._next_id + i, file) for i, file in enumerate(files))
        store._next_id += len(files)
        gone = [
            rows[path].file for path in dict.fromkeys([*removed, *(f.path for f in files)]) if path in rows
        ]
        numbers = tuple(RemovedFile(f.id, len(f.parsed.chunks), len(f.parsed.entities)) for f in gone)
        return PlannedCommit(self.visible(), generation, added, numbers, tuple(removed))

    def publish(self, commit: PlannedCommit) -> None:
        """Replace the rows and the generation, together."""
        store, rows = self._store, dict(self._store._published[1])
        if store._published[0] != commit.base.generation:
            raise IndexLocked("another thread has written the index in memory meanwhile: try again")
        for path in commit.removed_paths:
            rows.pop(path, None)
        for id, source in commit.added:
            _, references = store._contents.setdefault(
                source.content_hash, (source.parsed, source.references)
            )
            store._vectors.update(source.vectors)
            fingerprint = "" if source.awaits_vectors else store.fingerprint
            rows[source.path] = MemoryRow(make_stored_file(id, source), source, fingerprint, references)
        store._planned.discard(commit.generation)
        store._published = (commit.generation, rows)

    def restamp(
        self,
        stamps: Mapping[str, FileStamp],
        watched: WatchedTimes | None = None,
        unwatched: Collection[WatchedPath] = (),
    ) -> None:
        """Note new stamps of unchanged files, and changes in what is watched."""
        generation, rows = self._store._published[0], dict(self._store._published[1])
        for path, stamp in stamps.items():
            if path in rows:
                rows[path] = replace(rows[path], file=replace(rows[path].file, stamp=stamp))
        self._store._published = (generation, rows)
        if watched or unwatched:
            self._store._watched = merge_watched(self._store._watched, watched or {}, unwatched)

    def finish(self, report: IndexReport, watched: WatchedTimes) -> None:
        """Record what the run saw."""
        self._store._report, self._store._watched = report, dict(watched)
        self._store._written_fingerprint = self._store.fingerprint


class MemoryCatalogueSnapshot:
    """One generation of the rows."""

    def __init__(
        self,
        visible: VisibleGeneration,
        rows: Mapping[str, MemoryRow],
        watched: WatchedTimes,
        *,
        is_current: bool,
    ) -> None:
        self.visible = visible
        self.identity = visible.identity
        self.generation = visible.generation
        self.is_current = is_current
        self._rows = rows
        self._watched = watched
        self._by_id = {row.file.id: row for row in rows.values()}

    def find_changed(self, since_ns: int) -> Collection[int]:
        """Find the files that were modified at a time or later."""
        return [id for id, row in self._by_id.items() if row.stamp.mtime_ns >= since_ns]

    def chunk_passes(self, chunk: int, filter: Filter) -> bool:
        """Whether a chunk passes by its definitions, and its file."""
        file_id, ordinal = split_chunk_id(chunk)
        file = self._by_id[file_id].file
        return file_passes(filter, to_facts(file)) and chunk_passes(filter, file, ordinal)

    def _list_passing(self, filter: Filter) -> list[MemoryRow]:
        return [row for _, row in sorted(self._rows.items()) if file_passes(filter, to_facts(row.file))]

    def find_files_named(self, name: str, filter: Filter, limit: int) -> list[int]:
        """Find files by name, stem or trailing path."""
        wanted = name.lower().strip("/")
        passing = (row.file for row in self._list_passing(filter))
        return [file.id for file in passing if name_match.path_ends_with(file.path, wanted)][:limit]

    def file(self, id: int) -> StoredFile | None:
        """Read a file by its id."""
        return row.file if (row := self._by_id.get(id)) else None

    def file_at(self, path: str) -> StoredFile | None:
        """Read a file by its path."""
        row = self._rows.get(path)
        return row.file if row else None

    def prefetch(self, ids: Sequence[int]) -> None:
        """Do nothing: contents are in memory."""

    def prefetch_rows(self, ids: Sequence[int]) -> None:
        """Do nothing: files are in memory."""

    def content(self, id: int) -> bytes:
        """Read the content of a file."""
        return self._by_id[id].source.content

    def contents(self, filter: Filter) -> Iterator[tuple[int, bytes]]:
        """Read id and content of every file that passes, in order of path."""
        for row in self._list_passing(filter):
            yield row.file.id, row.source.content

    def file_count(self) -> int:
        """Count the files."""
        return len(self._rows)

    def file_vectors(self, id: int) -> tuple[ChunkVector, ...]:
        """Read the vectors of a file's chunks."""
        return row.source.vectors if (row := self._by_id.get(id)) else ()

    def references(self, paths: Collection[str] | None = None) -> Iterator[FileReferences]:
        """Read what files define and mention, in order of path."""
        for path, row in sorted(self._rows.items()):
            if paths is None or path in paths:
                file = row.file
                yield FileReferences(path, file.content_hash, file.parsed.language, file.role, row.references)

    def manifest(self) -> Mapping[str, MemoryRow]:
        """List every file by path."""
        return self._rows

    def list_stamps(self) -> Iterable[StampRow]:
        """List every file in order of path, with its stamp."""
        return ((path, *row.stamp) for path, row in sorted(self._rows.items()))

    def list_watched(self) -> WatchedTimes:
        """List what is watched beside the files."""
        return self._watched
