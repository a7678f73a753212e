"""In-memory store: the reference implementation (BM25, cosine, name lookup) that every other store is tested against.

Everything is computed plainly from the rows, so that it can be read as the definition of what a store does.
"""

from __future__ import annotations

import math
import threading
import uuid
from array import array
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace

from dowse.errors import IndexLocked, IndexMissing
from dowse.filters import chunk_passes, entity_passes, file_passes, to_facts
from dowse.frozen import frozen
from dowse.stores import name_match
from dowse.stores.protocol import StampRow, merge_watched
from dowse.types.discovered import ChunkVector, FileStamp, IndexReport, SourceFile, WatchedPath, WatchedTimes
from dowse.types.queries import Term
from dowse.types.source import ChunkTerms, ParsedFile
from dowse.types.stored import (
    DEFAULT_BM25,
    Bm25,
    FileReferences,
    Filter,
    IndexState,
    IndexStatus,
    NameHit,
    NameTier,
    Scored,
    StoredFile,
    best_first,
    chunk_id,
    shortest_first,
    split_chunk_id,
)

_BODY = ChunkTerms._fields.index("body")


@frozen
class MemoryRow:
    """A file and what is searched of it."""

    file: StoredFile
    source: SourceFile
    fingerprint: str  # the settings it was written under
    counts: tuple[tuple[Counter[str], ...], ...]  # by chunk, then by field
    references: bytes

    @property
    def stamp(self) -> FileStamp:
        """The stamp of the file."""
        return self.file.stamp

    @property
    def content_hash(self) -> bytes:
        """The hash of its content."""
        return self.file.content_hash


class MemoryStore:
    """An index in memory that lives as long as the process."""

    def __init__(self, fingerprint: str = "") -> None:
        self.fingerprint = fingerprint
        self._written_fingerprint = ""
        self._lock = threading.Lock()
        self._identity = uuid.uuid4().hex
        # generation and rows, replaced together
        self._published: tuple[int, Mapping[str, MemoryRow]] = (0, {})
        self._next_id = 1
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
    def snapshot(self) -> Iterator[MemorySnapshot]:
        """Open the newest generation."""
        identity = self._identity  # before the rest: what is cleared meanwhile is then told apart
        generation, rows = self._published
        if not self._written_fingerprint and not generation:
            raise IndexMissing("there is no index in memory yet: index a tree first")
        is_current = self._written_fingerprint == self.fingerprint
        yield MemorySnapshot(identity, generation, rows, self._watched, is_current=is_current)

    @contextmanager
    def writer(self, *, thorough: bool = False) -> Iterator[MemoryWriter]:
        """Open the writer."""
        if not self._lock.acquire(blocking=False):
            raise IndexLocked("another thread is writing the index in memory: wait for it to finish")
        try:
            yield MemoryWriter(self)
        finally:
            self._lock.release()

    def clear(self) -> None:
        """Delete the whole index."""
        with self.writer():
            self._published = (0, {})
            self._identity = uuid.uuid4().hex
            self._written_fingerprint, self._report, self._watched = "", None, {}
            self._contents.clear()
            self._blobs.clear()
            self._vectors.clear()

    def find_corrupt_parts(self) -> tuple[str, ...]:
        """Find nothing: memory is what it is."""
        return ()

    def put_blob(self, name: str, data: bytes) -> None:
        """Keep something derived from the index."""
        self._blobs[name] = data

    def get_blob(self, name: str) -> bytes | None:
        """Return what was kept under a name."""
        return self._blobs.get(name)

    def dump(self) -> Iterator[tuple[object, ...]]:
        """List everything that is searchable, by path."""
        for path, row in sorted(self._published[1].items()):
            chunks, vectors = list(range(len(row.counts))), list(range(len(row.source.vectors)))
            yield (
                path,
                row.file.content_hash,
                row.file.role,
                row.file.parsed,
                row.source.content,
                chunks,
                vectors,
                row.references,
            )

    def close(self) -> None:
        """Do nothing: there is nothing to close."""


class MemoryWriter:
    """Writes a new set of rows beside the old one."""

    repaired: tuple[str, ...] = ()

    def __init__(self, store: MemoryStore) -> None:
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

    def apply(self, removed: Sequence[str], files: Sequence[SourceFile]) -> int:
        """Remove paths and add files."""
        store, generation, rows = self._store, self._store._published[0] + 1, dict(self._store._published[1])
        for path in removed:
            rows.pop(path, None)
        for source in files:
            stored = StoredFile(
                store._next_id,
                source.path,
                source.stamp,
                source.content_hash,
                source.role,
                source.parsed,
                source.definitions,
            )
            store._next_id += 1
            _, references = store._contents.setdefault(
                source.content_hash, (source.parsed, source.references)
            )
            store._vectors.update(source.vectors)
            counts = tuple(tuple(Counter(field.split()) for field in chunk) for chunk in source.terms)
            fingerprint = "" if source.awaits_vectors else store.fingerprint
            rows[source.path] = MemoryRow(stored, source, fingerprint, counts, references)
        store._published = (generation, rows)
        return generation

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


class MemorySnapshot:
    """One generation of the rows."""

    def __init__(
        self,
        identity: str,
        generation: int,
        rows: Mapping[str, MemoryRow],
        watched: WatchedTimes,
        *,
        is_current: bool,
    ) -> None:
        self.identity = identity
        self.is_current = is_current
        self.generation = generation
        self._rows = rows
        self._watched = watched
        self._by_id = {row.file.id: row for row in rows.values()}

    def lexical(
        self,
        terms: Sequence[Term],
        fields: Mapping[str, float],
        filter: Filter,
        limit: int,
        bm25: Bm25 = DEFAULT_BM25,
    ) -> list[Scored]:
        """Rank chunks by BM25 with length normalization, summed over terms and weighted fields."""
        chunks = [
            (chunk_id(row.file.id, i), counts)
            for row in self._by_id.values()
            for i, counts in enumerate(row.counts)
        ]
        scores: dict[int, float] = defaultdict(float)
        for index, field in enumerate(ChunkTerms._fields):
            weight = fields.get(field, 0.0)
            average = sum(counts[index].total() for _, counts in chunks) / max(1, len(chunks))
            for term in terms if weight else ():
                holders = [(id, counts[index]) for id, counts in chunks if term.text in counts[index]]
                idf = math.log(1 + (len(chunks) - len(holders) + 0.5) / (len(holders) + 0.5))
                for id, counts in holders:
                    frequency, length = counts[term.text], counts.total()
                    norm = bm25.k1 * (1 - bm25.b + bm25.b * length / average)
                    scores[id] += term.weight * weight * idf * frequency * (bm25.k1 + 1) / (frequency + norm)
        return self._top_k(((id, s) for id, s in scores.items() if s), filter, limit)

    def document_frequency(self, token: str) -> int:
        """Count the chunks that have a token in their body."""
        return sum(token in counts[_BODY] for row in self._by_id.values() for counts in row.counts)

    def find_tokens(self, part: str, limit: int) -> list[str]:
        """Find tokens of bodies that contain a text, shortest first."""
        held = {token for row in self._by_id.values() for counts in row.counts for token in counts[_BODY]}
        return shortest_first((token for token in held if part in token), limit)

    def chunk_count(self) -> int:
        """Count the chunks."""
        return sum(len(row.counts) for row in self._by_id.values())

    def dense(self, vector: Sequence[float], filter: Filter, limit: int) -> list[Scored]:
        """Rank chunks by the cosine with their vectors."""
        cosines = self.file_cosines(vector, list(self._by_id)).items()
        scored = ((chunk_id(id, n), cosine) for id, each in cosines for n, cosine in enumerate(each))
        return self._top_k(scored, filter, limit)

    def file_cosines(self, vector: Sequence[float], files: Sequence[int]) -> dict[int, list[float]]:
        """Compare the vector with all chunks of some files."""
        found: dict[int, list[float]] = {}
        for id in files:
            rows = [array("f", raw) for _, raw in self.file_vectors(id)]
            if rows and len(rows[0]) == len(vector):
                found[id] = [sum(map(float.__mul__, row, map(float, vector))) for row in rows]
        return found

    def _top_k(self, scored: Iterable[tuple[int, float]], filter: Filter, limit: int) -> list[Scored]:
        found = dict(scored)
        ranked = best_first(found.keys(), found.values())
        return [hit for hit in ranked if self.chunk_passes(hit.chunk, filter)][:limit]

    def chunk_passes(self, chunk: int, filter: Filter) -> bool:
        """Whether a chunk passes by its definitions, and its file."""
        file_id, ordinal = split_chunk_id(chunk)
        file = self._by_id[file_id].file
        return file_passes(filter, to_facts(file)) and chunk_passes(filter, file, ordinal)

    def _list_passing(self, filter: Filter) -> list[MemoryRow]:
        return [row for _, row in sorted(self._rows.items()) if file_passes(filter, to_facts(row.file))]

    def names(self, pattern: str, tier: NameTier, filter: Filter, limit: int) -> list[NameHit]:
        """Find entities whose name matches, by name and path."""
        found = []
        for row in self._list_passing(filter):
            chunks = enumerate(row.file.definitions)
            for chunk, ordinal in ((chunk, i) for chunk, held in chunks for i in held):
                entity = row.file.parsed.entities[ordinal]
                is_named = name_match.matches(tier, pattern, entity.name)
                if is_named and entity_passes(filter, entity.kind, entity.name):
                    hit = NameHit(row.file.id, ordinal, chunk, tier, entity.kind)
                    found.append(((entity.name.lower(), row.file.path, ordinal), hit))
        return [hit for _, hit in sorted(found)][:limit]

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
