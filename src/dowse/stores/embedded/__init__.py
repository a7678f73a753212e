"""The embedded store: a catalogue in SQLite, and a lexical and a vector index derived from it.

``catalogue.db`` is committed first; the derived indexes follow, each stamped with the catalogue's
generation: first the vectors, which a reader of an older generation can use too, then the lexical index,
whose commit makes the generation visible. A writer that finds a derived index behind (a process was killed
between the commits) or damaged repairs it from the catalogue before anything else.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from itertools import islice
from pathlib import Path
from typing import Any

from dowse.code import terms as chunk_fields
from dowse.errors import IndexCorrupt, IndexLocked, IndexMissing, IndexUnwritable
from dowse.stores import naming
from dowse.stores.embedded import lexical
from dowse.stores.embedded.catalogue import (
    RETAINED,
    Catalogue,
    KnownFile,
    NamedEntity,
    OlderFormat,
    ViewState,
    mapped,
)
from dowse.stores.embedded.lexical import LexicalIndex, LexicalReader
from dowse.stores.embedded.vectors import VectorIndex, packed, unpacked
from dowse.stores.filtering import chunk_passes, entity_passes, file_passes
from dowse.types import (
    CHUNK_BITS,
    ChunkVector,
    FileReferences,
    FileStamp,
    Filter,
    IndexReport,
    IndexState,
    IndexStatus,
    NameHit,
    NameTier,
    ParsedFile,
    Scored,
    SourceFile,
    StoredFile,
    Term,
    split_chunk_id,
)

CATALOGUE = "catalogue.db"
LOCK = "lock"
HOLDER = "writer"

CACHED_CONTENT = 16_000_000
"""Bytes of contents kept in memory between queries: unpacking takes most of the time of showing a hit."""

CACHED_FILES = 4000
"""Files whose rows are kept in memory between queries: about 20 MB."""

CACHED_FILTERS = 16
"""Filters for which the files that pass are kept in memory between queries: a reader asks with few."""

IDLE_CONNECTIONS = 8
"""Connections kept open between queries; opening one takes a third of a millisecond."""

OPEN_ATTEMPTS = 20
"""How often a reader begins anew because a commit came between its look at the catalogue and at the rest."""

NAME_SCAN = 1000
"""Definitions that a name may bring, or chunks that a glob or a typo may, before they are put in order: what is
more common than that points at nothing. A filter is applied before, so that it misses nothing."""


@dataclass
class _Remembered:
    """What was read of the catalogue at a generation and after a number of changes of stamps."""

    key: tuple[int, int] | None = None
    files: dict[int, StoredFile] = field(default_factory=dict)
    contents: dict[int, bytes] = field(default_factory=dict)
    content_bytes: int = 0
    file_count: int | None = None
    manifest: Mapping[str, KnownFile] | None = None
    folders: Mapping[str, int] | None = None
    passing: dict[Filter, frozenset[int]] = field(default_factory=dict)


@dataclass
class _Opened:
    """What is kept between queries, for as long as the catalogue is the same file."""

    identity: tuple[int, int]
    idle: list[Catalogue] = field(default_factory=list)
    lexical: LexicalIndex | None = None
    reader: LexicalReader | None = None
    vectors: VectorIndex | None = None
    remembered: _Remembered = field(default_factory=_Remembered)

    def close(self) -> None:
        while self.idle:
            self.idle.pop().close()


class EmbeddedStore:
    """An index in a folder. Safe to use from several threads and processes."""

    def __init__(self, folder: Path, root: str, fingerprint: str) -> None:
        self.folder = folder
        self.root = root
        self.fingerprint = fingerprint
        self._guard = threading.Lock()
        self._opened: _Opened | None = None

    # --- the protocol ---

    def status(self) -> IndexStatus:
        """What there is, without changing anything."""
        try:
            return self._status()
        except OlderFormat:
            return IndexStatus(IndexState.OTHER_VERSION, str(self.folder))
        except IndexMissing:
            return IndexStatus(IndexState.MISSING, str(self.folder))

    def _status(self) -> IndexStatus:
        with self._reading() as (opened, catalogue), catalogue.transaction("DEFERRED"):
            view = catalogue.state()
            files, chunks, entities = catalogue.counts()
            return IndexStatus(
                self._state(view.fingerprint),
                str(self.folder),
                view.generation,
                files,
                chunks,
                entities,
                _size(self.folder),
                catalogue.tally("language"),
                catalogue.tally("health"),
                catalogue.secrets(),
                catalogue.report(),
                self._parts(opened, catalogue, view),
            )

    def _parts(self, opened: _Opened, catalogue: Catalogue, state: ViewState) -> dict[str, int]:
        """The generation of each part; 0 for one that is lost."""
        try:
            reader, vectors = self._derived(opened, catalogue, state)
        except IndexCorrupt:
            return {"catalogue": state.generation, "lexical": 0}
        return {
            "catalogue": state.generation,
            "lexical": reader.generation,
            "vectors": vectors.generation,
        }

    def state(self) -> IndexState:
        """The index's state alone: cheap enough for every query."""
        try:
            with self._reading() as (_, catalogue):
                return self._state(catalogue.state().fingerprint)
        except OlderFormat:
            return IndexState.OTHER_VERSION
        except IndexMissing:
            return IndexState.MISSING

    def _state(self, fingerprint: str) -> IndexState:
        if not fingerprint:
            return IndexState.MISSING
        return IndexState.CURRENT if fingerprint == self.fingerprint else IndexState.OTHER_SETTINGS

    @contextmanager
    def snapshot(self) -> Iterator[EmbeddedSnapshot]:
        """The generation of the lexical index, which the catalogue and the vectors have too."""
        with self._reading() as (opened, catalogue):
            for _ in range(OPEN_ATTEMPTS):
                with catalogue.transaction("DEFERRED"):
                    state = catalogue.state()
                    if not state.generation and not state.fingerprint:
                        raise IndexMissing(f"there is no index of {self.root}: run 'dowse index'")
                    reader, vectors = self._derived(opened, catalogue, state)
                    if max(reader.generation, vectors.generation) <= state.generation:
                        remembered = self._remembered(opened, catalogue, (reader.generation, state.restamps))
                        yield EmbeddedSnapshot(state.identity, catalogue, reader, vectors, remembered)
                        return
        raise IndexCorrupt(
            f"the index at {self.folder} is ahead of its catalogue: run 'dowse index' to repair it"
        )

    @contextmanager
    def writer(self) -> Iterator[EmbeddedWriter]:
        """The lock and the means to write."""
        self._make_folder()
        with self._locked():
            self._note_holder()
            with self._open_writer() as writer:
                yield writer

    def clear(self) -> None:
        """Forget everything, every view of it."""
        import shutil

        if not self.folder.exists():
            return
        with self._locked():
            self.close()
            try:
                for path in self.folder.iterdir():
                    if path.is_dir():
                        lexical.remove(path)
                    elif path.name != LOCK:
                        path.unlink()
            except OSError as error:
                raise IndexUnwritable(f"the index at {self.folder} cannot be removed: {error}") from error
        shutil.rmtree(self.folder, ignore_errors=True)

    def keep(self, name: str, data: bytes) -> None:
        """Write a file beside the derived indexes of the view, all of it or nothing."""
        with self._reading() as (_, catalogue):
            folder = self.view_folder(catalogue)
        temporary = folder / f"{name}.{os.getpid()}.{threading.get_ident()}"
        try:
            temporary.write_bytes(data)
            temporary.replace(folder / name)
        except OSError as error:
            temporary.unlink(missing_ok=True)
            raise IndexUnwritable(f"the index at {self.folder} cannot be written: {error}") from error

    def kept(self, name: str) -> bytes | None:
        """The file of that name, if it can be read."""
        try:
            with self._reading() as (_, catalogue):
                return (self.view_folder(catalogue) / name).read_bytes()
        except (IndexMissing, OSError):
            return None

    def dump(self) -> Iterator[tuple[object, ...]]:
        """Everything that is searchable, by path."""
        with self.snapshot() as snapshot:
            embedded = snapshot.embedded_chunks()
            references = {row.path: row.packed for row in snapshot.references()}
            for path, known in sorted(snapshot.manifest().items()):
                file = snapshot.file(known.id)
                assert file is not None
                chunks = [split_chunk_id(chunk)[1] for chunk in snapshot.lexical_chunks(known.id)]
                content = snapshot.content(known.id)
                yield (
                    path,
                    file.content_hash,
                    file.role,
                    file.parsed,
                    content,
                    chunks,
                    embedded.get(known.id, []),
                    references[path],
                )

    def close(self) -> None:
        """Let go of files and connections; those in use are let go of after use."""
        with self._guard:
            if self._opened is not None:
                self._opened.close()
            self._opened = None

    # --- the lock ---

    def _make_folder(self) -> None:
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            ignore = self.folder / ".gitignore"
            if not ignore.exists():
                ignore.write_text("*\n", encoding="utf-8")
        except OSError as error:
            raise IndexUnwritable(f"the index at {self.folder} cannot be written: {error}") from error

    @contextmanager
    def _locked(self) -> Iterator[None]:
        from filelock import FileLock, Timeout

        lock = FileLock(self.folder / LOCK, timeout=0)
        try:
            lock.acquire()
        except Timeout:
            raise IndexLocked(
                f"another process{self._holder()} is writing the index at {self.folder}: "
                "wait for it to finish, or stop it"
            ) from None
        except OSError as error:
            raise IndexUnwritable(f"the index at {self.folder} cannot be locked: {error}") from error
        try:
            yield
        finally:
            lock.release()

    def _holder(self) -> str:
        try:
            return f" (pid {(self.folder / HOLDER).read_text(encoding='utf-8').strip()})"
        except OSError:
            return ""

    def _note_holder(self) -> None:
        try:
            (self.folder / HOLDER).write_text(str(os.getpid()), encoding="utf-8")
        except OSError as error:
            raise IndexUnwritable(f"the index at {self.folder} cannot be written: {error}") from error

    # --- parts ---

    @contextmanager
    def _open_writer(self) -> Iterator[EmbeddedWriter]:
        path = self.folder / CATALOGUE
        try:
            catalogue = Catalogue(path, self.root, create=True)
        except (IndexCorrupt, OlderFormat):
            self._discard()
            catalogue = Catalogue(path, self.root, create=True)
        try:
            with mapped(path):
                writer = EmbeddedWriter(self, catalogue)
                try:
                    writer.repair()
                    yield writer
                finally:
                    writer.close()
        except IndexCorrupt:
            catalogue.close()
            self._discard()
            raise
        finally:
            catalogue.close()

    def _discard(self) -> None:
        """Remove a catalogue that cannot be read: an index is a cache, and the next run makes it anew."""
        self.close()
        for suffix in ("", "-wal", "-shm"):
            (self.folder / (CATALOGUE + suffix)).unlink(missing_ok=True)

    @contextmanager
    def _reading(self) -> Iterator[tuple[_Opened, Catalogue]]:
        """A connection for one reader, and what all readers share."""
        path = self.folder / CATALOGUE
        opened = self._open()
        with mapped(path):
            with self._guard:
                catalogue = opened.idle.pop() if opened.idle else None
            catalogue = catalogue or Catalogue(path, self.root, create=False)
            try:
                yield opened, catalogue
            except BaseException:
                catalogue.close()
                raise
        with self._guard:
            if opened is self._opened and len(opened.idle) < IDLE_CONNECTIONS:
                opened.idle.append(catalogue)
                return
        catalogue.close()

    def _open(self) -> _Opened:
        """What is open; nothing yet if the catalogue was removed and made again since."""
        try:
            status = (self.folder / CATALOGUE).stat()
        except OSError:
            raise IndexMissing(f"there is no index at {self.folder}: run 'dowse index'") from None
        identity = (status.st_dev, status.st_ino)
        with self._guard:
            if self._opened is None or self._opened.identity != identity:
                if self._opened is not None:
                    self._opened.close()
                self._opened = _Opened(identity)
            return self._opened

    def view_folder(self, catalogue: Catalogue) -> Path:
        """Where the derived indexes of the view are."""
        return self.folder / "views" / str(catalogue.view)

    def _derived(
        self, opened: _Opened, catalogue: Catalogue, state: ViewState
    ) -> tuple[LexicalReader, VectorIndex]:
        """Lexical index and vectors, read anew if the catalogue has gone on; an error if one is lost."""
        folder, newest = self.view_folder(catalogue), state.generation
        with self._guard:
            if opened.reader is None or opened.reader.generation != newest:
                index = opened.lexical or LexicalIndex(folder / "lexical", create=False)
                opened.lexical = None  # unless it can be read
                opened.reader = index.reader()
                opened.lexical = index
            reader = opened.reader
            if opened.vectors is None or not reader.generation <= opened.vectors.generation <= newest:
                opened.vectors = VectorIndex(folder / "vectors")
            vectors = opened.vectors
        if reader.generation < max(0, newest - RETAINED) or vectors.generation < reader.generation:
            raise IndexCorrupt(
                f"the index at {self.folder} lacks a part of its files: run 'dowse index' to repair it"
            )
        return reader, vectors

    def _remembered(self, opened: _Opened, catalogue: Catalogue, key: tuple[int, int]) -> _Remembered:
        """What earlier queries have read, as far as it still holds.

        A content never changes under its file's id; a file's row changes only with the stamps, and goes with a
        generation.
        """
        with self._guard:
            old = opened.remembered
            if old.key != key or len(old.files) >= CACHED_FILES:
                new = _Remembered(key, contents=old.contents, content_bytes=old.content_bytes)
                if (
                    old.key
                    and old.key[1] == key[1]
                    and old.key[0] <= key[0]
                    and len(old.files) < CACHED_FILES
                ):
                    gone = frozenset(catalogue.changed_since(old.key[0])[0])
                    new.files = {id: file for id, file in old.files.items() if id not in gone}
                opened.remembered = new
            return opened.remembered


class EmbeddedSnapshot:
    """One generation of an embedded index."""

    def __init__(
        self,
        identity: str,
        catalogue: Catalogue,
        reader: LexicalReader,
        vectors: VectorIndex,
        remembered: _Remembered,
    ) -> None:
        self.identity = identity
        self.generation = reader.generation
        self._catalogue = catalogue
        self._lexical = reader
        self._vectors = vectors
        self._remembered = remembered

    def lexical(
        self, terms: Sequence[Term], fields: Mapping[str, float], filter: Filter, limit: int
    ) -> list[Scored]:
        """Chunks by BM25."""
        return self._lexical.search(terms, fields, filter, limit, self._changed_files(filter))

    def frequency(self, token: str) -> int:
        """How many chunks have a token in their body."""
        return self._lexical.frequency(token)

    def chunk_count(self) -> int:
        """How many chunks there are."""
        return self._lexical.chunk_count()

    def lexical_chunks(self, file: int) -> list[int]:
        """The chunks of a file that the lexical index has."""
        return self._lexical.chunks_of(file)

    def embedded_chunks(self) -> dict[int, list[int]]:
        """For each file, the places of the chunks that have a vector."""
        found: dict[int, list[int]] = {}
        for file, ordinal in map(split_chunk_id, sorted(self._vectors.chunks())):
            found.setdefault(file, []).append(ordinal)
        return found

    def dense(self, vector: Sequence[float], filter: Filter, limit: int) -> list[Scored]:
        """Chunks by cosine; filters on files act on the arrays, those on definitions on the best of these."""
        if limit < 1:
            return []
        fetch = limit
        files = self._passing(filter) if filter.about_files else None
        while True:
            hits = self._vectors.search(vector, fetch, files)
            kept = [hit for hit in hits if self._shows(hit.chunk, filter)]
            if len(kept) >= limit or len(hits) < fetch:
                return kept[:limit]
            fetch *= 4

    def _shows(self, chunk: int, filter: Filter) -> bool:
        """Whether a row of the vectors, which outlive their files for a while, is a hit."""
        if filter.about_chunks:
            return self.chunk_passes(chunk, filter)
        file, _ = split_chunk_id(chunk)
        return file in self._remembered.files or self._catalogue.has_file(file, self.generation)

    def _passing(self, filter: Filter) -> frozenset[int]:
        """The files that a filter lets through."""
        known = self._remembered.passing
        if filter not in known:
            if len(known) >= CACHED_FILTERS:
                known.clear()
            rows = self._catalogue.live_files(self.generation)
            known[filter] = frozenset(id for id, file in rows if file_passes(filter, file))
        return known[filter]

    def names(self, pattern: str, tier: NameTier, filter: Filter, limit: int) -> list[NameHit]:
        """Entities by name: equal names and prefixes from the catalogue, the rest from the lexical index."""
        if tier in (NameTier.GLOB, NameTier.FUZZY):
            candidates = self._defined_in(
                self._lexical.defining(pattern, tier, filter, NAME_SCAN, self._changed_files(filter))
            )
        else:
            key = pattern.lower()
            last = key + "\U0010ffff" if tier is NameTier.PREFIX else key
            scan = -1 if filter.about_files or filter.about_chunks else NAME_SCAN
            candidates = self._catalogue.named(key, last, self.generation, scan)
        found = (
            NameHit(row.file, row.entity, row.chunk, tier)
            for row in candidates
            if naming.matches(tier, pattern, row.name)
            and file_passes(filter, row.facts)
            and entity_passes(filter, row.kind, row.name)
        )
        return list(islice(found, max(0, limit)))

    def _changed_files(self, filter: Filter) -> Sequence[int] | None:
        """The files changed lately enough; their times are in the catalogue alone."""
        if filter.changed_since_ns is None:
            return None
        lately = Filter(changed_since_ns=filter.changed_since_ns)
        return [id for id, file in self._catalogue.live_files(self.generation) if file_passes(lately, file)]

    def _defined_in(self, chunks: list[int]) -> Iterable[NamedEntity]:
        """The entities that begin in some chunks, by name and path."""
        found = []
        for id in chunks:
            file_id, ordinal = split_chunk_id(id)
            if (file := self.file(file_id)) is None:
                continue
            for index in file.definitions[ordinal]:
                entity = file.parsed.entities[index]
                found.append(
                    NamedEntity(
                        file_id,
                        index,
                        ordinal,
                        entity.name,
                        entity.kind,
                        file.path,
                        file.parsed.language,
                        file.role.value,
                        file.stamp.mtime_ns,
                    )
                )
        return sorted(found, key=lambda row: (row.name.lower(), row.path, row.entity))

    def chunk_passes(self, chunk: int, filter: Filter) -> bool:
        """Whether a chunk passes by its definitions."""
        file_id, ordinal = split_chunk_id(chunk)
        file = self.file(file_id)
        return file is not None and chunk_passes(filter, file, ordinal)

    def files_named(self, name: str, filter: Filter, limit: int) -> list[int]:
        """Files by name, stem or trailing path."""
        wanted = name.lower().strip("/")
        last = wanted.rpartition("/")[2]
        found = (
            id
            for id, file in self._catalogue.files_called(last, self.generation)
            if naming.path_ends_with(file.path, wanted) and file_passes(filter, file)
        )
        return list(islice(found, max(0, limit)))

    def file(self, id: int) -> StoredFile | None:
        """A file by id."""
        files = self._remembered.files
        file = files.get(id)
        if file is None and (file := self._catalogue.file(id, self.generation)) is not None:
            files[id] = file
        return file

    def file_at(self, path: str) -> StoredFile | None:
        """A file by path."""
        id = self._catalogue.file_id(path, self.generation)
        return None if id is None else self.file(id)

    def content(self, id: int) -> bytes:
        """What a file says."""
        remembered = self._remembered
        content = remembered.contents.get(id)
        if content is None:
            content = self._catalogue.content(id)
            if remembered.content_bytes + len(content) > CACHED_CONTENT:
                remembered.contents, remembered.content_bytes = {}, 0
            remembered.contents[id] = content
            remembered.content_bytes += len(content)
        return content

    def contents(self, filter: Filter) -> Iterator[tuple[int, bytes]]:
        """Id and content of every file that passes, in order of path."""
        files = [
            (file.path, id)
            for id, file in self._catalogue.live_files(self.generation)
            if file_passes(filter, file)
        ]
        return ((id, self._catalogue.content(id)) for _, id in sorted(files))

    def file_count(self) -> int:
        """How many files there are."""
        remembered = self._remembered
        if remembered.file_count is None:
            remembered.file_count = self._catalogue.file_count(self.generation)
        return remembered.file_count

    def file_vectors(self, id: int) -> tuple[ChunkVector, ...]:
        """The vectors of a file's chunks, to the precision that they are kept in."""
        return tuple(ChunkVector(key, unpacked(data)) for key, data in self._catalogue.file_vectors(id))

    def references(self, paths: Collection[str] | None = None) -> Iterator[FileReferences]:
        """What files define and mention, in order of path."""
        return self._catalogue.references(self.generation, paths)

    def manifest(self) -> Mapping[str, KnownFile]:
        """Every file by path."""
        remembered = self._remembered
        if remembered.manifest is None:
            remembered.manifest = self._catalogue.manifest(self.generation)
        return remembered.manifest

    def folders(self) -> Mapping[str, int]:
        """The folders of the last walk."""
        remembered = self._remembered
        if remembered.folders is None:
            remembered.folders = self._catalogue.folders()
        return remembered.folders


class EmbeddedWriter:
    """Writes catalogue, lexical index and vectors in that order."""

    def __init__(self, store: EmbeddedStore, catalogue: Catalogue) -> None:
        self._catalogue = catalogue
        self._fingerprint = store.fingerprint
        folder = store.view_folder(catalogue)
        index, self._behind = lexical.restored(folder / "lexical")
        self._lexical = index.writer()
        self._vectors = VectorIndex(folder / "vectors")

    def close(self) -> None:
        """Let go of the derived indexes."""
        self._lexical.close()

    def repair(self) -> None:
        """Bring derived indexes that are behind the catalogue, ahead of it or lost up to it."""
        newest = self._catalogue.state().generation
        if self._vectors.generation != newest:
            self._rebuild_vectors(newest)
        if self._behind != newest:
            readable = max(1, newest - RETAINED) <= self._behind < newest
            self._repair_lexical(self._behind if readable else 0, newest)

    def _repair_lexical(self, behind: int, newest: int) -> None:
        gone, added = self._catalogue.changed_since(behind)
        if behind == 0:
            self._lexical.delete_all()
        else:
            self._lexical.delete([*gone, *added])
        for id in added:
            file = self._catalogue.file(id, newest)
            assert file is not None
            content = self._catalogue.content(id)
            fields = chunk_fields.chunk_terms(file.path, content, file.parsed)
            self._lexical.add(id, file.path, file.role, file.parsed, fields)
        self._lexical.commit(newest)

    def _rebuild_vectors(self, newest: int) -> None:
        files = [(id, self._catalogue.file_vectors(id)) for id, *_ in self._catalogue.live_files(newest)]
        self._vectors.rebuild(newest, [(id, vectors) for id, vectors in files if vectors])

    def manifest(self, paths: Collection[str] | None = None) -> Mapping[str, KnownFile]:
        """Every file by path; those written under other settings do not count as known."""
        known = self._catalogue.manifest(self._catalogue.state().generation, paths)
        return {
            path: file
            if file.fingerprint == self._fingerprint
            else replace(file, stamp=FileStamp(-1, -1), content_hash=b"")
            for path, file in known.items()
        }

    def parsed(self, content_hash: bytes) -> ParsedFile | None:
        """What is known of a content."""
        return self._catalogue.parsed(content_hash)

    def vectors(self, keys: Sequence[bytes]) -> dict[bytes, bytes]:
        """Vectors computed before, to the precision that they are kept in."""
        return {key: unpacked(data) for key, data in self._catalogue.vectors(keys).items()}

    def apply(self, removed: Sequence[str], files: Sequence[SourceFile]) -> int:
        """One generation: catalogue first, then what is derived from it."""
        catalogue = self._catalogue
        files = _with_packed_vectors(files)
        with catalogue.transaction():
            generation = catalogue.begin_generation()
            gone = catalogue.remove([*removed, *(file.path for file in files)], generation)
            ids = [
                catalogue.add(file, generation, "" if file.awaits_vectors else self._fingerprint)
                for file in files
            ]
        embedded = [(id, file.vectors) for id, file in zip(ids, files, strict=True) if file.vectors]
        self._vectors.append(generation, embedded, self._kept)
        self._lexical.delete(gone)
        for id, file in zip(ids, files, strict=True):
            self._lexical.add(id, file.path, file.role, file.parsed, file.terms)
        self._lexical.commit(generation)
        return generation

    def _kept(self, chunks: Any) -> Any:
        """Which chunks are of files that some readable generation has."""
        import numpy as np

        return np.isin(chunks >> CHUNK_BITS, np.asarray(self._catalogue.kept_files(), dtype=np.int64))

    def restamp(self, stamps: Mapping[str, FileStamp], folders: Mapping[str, int] | None = None) -> None:
        """Note new stamps of unchanged files, and new times of folders."""
        with self._catalogue.transaction():
            self._catalogue.restamp(stamps, folders or {})

    def finish(self, report: IndexReport, folders: Mapping[str, int]) -> None:
        """Record what the run saw, under the settings in force."""
        with self._catalogue.transaction():
            self._catalogue.finish(report, folders, self._fingerprint)


def _with_packed_vectors(files: Sequence[SourceFile]) -> list[SourceFile]:
    """The files with their vectors as the catalogue and the vector index have them; all at once, which is faster."""
    each = iter(packed([vector for file in files for vector in file.vectors]))
    return [
        replace(file, vectors=tuple(islice(each, len(file.vectors)))) if file.vectors else file
        for file in files
    ]


def _size(folder: Path) -> int:
    """Bytes on disk; files that a writer deletes meanwhile count nothing."""
    total = 0
    for path in folder.rglob("*"):
        try:
            total += path.stat().st_size if path.is_file() else 0
        except OSError:
            continue
    return total
