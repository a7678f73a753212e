"""Embedded storage engine: an index in a folder, with a SQLite catalogue, a tantivy inverted index and a vector index.

Commit protocol: the catalogue is committed first; the derived indexes follow, each stamped with its generation, first
the vectors, which a reader of an older generation can use too, then the lexical index, whose commit makes the
generation visible. Crash recovery: a writer that finds a derived index behind or corrupt rebuilds it from the
catalogue.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from dowse.errors import IndexCorrupt, IndexMissing, IndexUnwritable
from dowse.index_folder import IndexFolder
from dowse.stores.embedded import layout, lexical_index, writer_lock
from dowse.stores.embedded.catalogue import RETAINED_GENERATIONS, SqliteCatalogue
from dowse.stores.embedded.catalogue_connection import CatalogueState, OlderFormat, translate_errors
from dowse.stores.embedded.catalogue_writer import SqliteCatalogueWriter
from dowse.stores.embedded.index_snapshot import EmbeddedSnapshot
from dowse.stores.embedded.index_writer import EmbeddedWriter
from dowse.stores.embedded.layout import CATALOGUE, LEXICAL, VECTORS, VIEWS
from dowse.stores.embedded.lexical_index import LexicalReader
from dowse.stores.embedded.open_index import OpenIndex
from dowse.stores.embedded.vector_index import VectorIndex
from dowse.types.stored import IndexState, IndexStatus, split_chunk_id

MAX_IDLE_CONNECTIONS = 3
"""Connections kept open between queries: each maps the catalogue for itself; opening one takes a third of a
millisecond."""

OPEN_ATTEMPTS = 20
"""How often a reader starts again because a commit came between its look at the catalogue and at the rest."""


class EmbeddedStore:
    """An index in a folder (storage engine). Safe to use from several threads and processes."""

    def __init__(self, index_folder: IndexFolder, root: str, fingerprint: str) -> None:
        self.folder = index_folder.path  # as messages call it
        self._index_folder = index_folder
        self._data = index_folder.data
        self._path = index_folder.data / CATALOGUE
        self.root = root
        self.fingerprint = fingerprint
        self._guard = threading.Lock()
        self._open_index: OpenIndex | None = None

    # --- the protocol ---

    def status(self) -> IndexStatus:
        """Describe the index, without changing anything."""
        try:
            return self._status()
        except OlderFormat:
            return IndexStatus(IndexState.OTHER_VERSION, str(self.folder))
        except IndexMissing:
            return IndexStatus(IndexState.MISSING, str(self.folder))

    def _status(self) -> IndexStatus:
        with self._borrow_catalogue() as (open_index, catalogue), catalogue.transaction("DEFERRED"):
            view = catalogue.state()
            files, chunks, entities = catalogue.count_live()
            return IndexStatus(
                self._state(view.fingerprint),
                str(self.folder),
                view.generation,
                files,
                chunks,
                entities,
                _sum_file_sizes(self._data),
                catalogue.count_files_by("language"),
                catalogue.count_files_by("health"),
                catalogue.secrets(),
                catalogue.report(),
                self._list_part_generations(open_index, catalogue, view),
            )

    def _list_part_generations(
        self, open_index: OpenIndex, catalogue: SqliteCatalogue, state: CatalogueState
    ) -> dict[str, int]:
        """List the generation of each part; 0 for one that is lost."""
        try:
            reader, vectors = self._open_derived(open_index, catalogue, state)
        except IndexCorrupt:
            return {"catalogue": state.generation, "lexical": 0}
        return {
            "catalogue": state.generation,
            "lexical": reader.generation,
            "vectors": vectors.generation,
        }

    def state(self) -> IndexState:
        """Return the state alone: cheap enough for every query."""
        try:
            with self._borrow_catalogue() as (_, catalogue):
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
        """Open the newest generation that the lexical index, the catalogue and the vectors all have."""
        with self._borrow_catalogue() as (open_index, catalogue):
            for _ in range(OPEN_ATTEMPTS):
                with catalogue.transaction("DEFERRED"):
                    state = catalogue.state()
                    if not state.generation and not state.fingerprint:
                        raise IndexMissing(f"there is no index of {self.root}: run 'dowse index'")
                    reader, vectors = self._open_derived(open_index, catalogue, state)
                    if max(reader.generation, vectors.generation) <= state.generation:
                        cache = open_index.refresh_cache(catalogue, (reader.generation, state.restamps))
                        is_current = state.fingerprint == self.fingerprint
                        yield EmbeddedSnapshot(
                            state.identity, catalogue, reader, vectors, cache, is_current=is_current
                        )
                        return
        raise IndexCorrupt(f"the index at {self.folder} is ahead of its catalogue")

    @contextmanager
    def writer(self, *, thorough: bool = False) -> Iterator[EmbeddedWriter]:
        """Take the lock and open a writer."""
        self._index_folder.create()
        layout.check_plain(self._data, any_owner=self._index_folder.any_owner)
        with writer_lock.hold(self._data, self.folder):
            writer_lock.write_holder(self._data, self.folder)
            with self._open_writer(thorough) as writer:
                yield writer

    def find_corrupt_parts(self) -> tuple[str, ...]:
        """Find the parts that are not as they were written; catalogue and derived indexes are read in full."""
        with self._borrow_catalogue() as (_, catalogue):
            if not catalogue.is_intact():
                raise IndexCorrupt.beyond_repair(f"the index at {self.folder} is corrupt")
            if not catalogue.view:  # of other trees only, or of this one where it was before
                return ()
            folder = self._view_folder(catalogue)
        intact = {
            "the lexical index": lexical_index.is_intact(folder / LEXICAL),
            "the vectors": VectorIndex(folder / VECTORS).is_intact(),
        }
        return tuple(part for part, is_intact in intact.items() if not is_intact)

    def files(self) -> list[Path]:
        """List the files that ``clear`` deletes."""
        return list(layout.own_files(self._data))

    def clear(self) -> None:
        """Delete our files, of every view, and the folders that are then empty; what else is there stays."""
        if not self._index_folder.is_there():
            return
        with writer_lock.hold(self._data, self.folder):
            self.close()
            layout.remove(self._data / VIEWS, layout.VIEWS_LAYOUT)
            self._remove_catalogue()
        layout.remove(self._data)
        with suppress(OSError):  # other things than our own are in it
            os.rmdir(self.folder)

    def put_blob(self, name: str, data: bytes) -> None:
        """Write a file beside the derived indexes of the view, all of it or nothing."""
        with self._borrow_catalogue() as (_, catalogue):
            folder = self._view_folder(catalogue)
        temporary = folder / f"{name}.{os.getpid()}.{threading.get_ident()}"
        try:
            temporary.write_bytes(data)
            temporary.replace(folder / name)
        except OSError as error:
            temporary.unlink(missing_ok=True)
            raise IndexUnwritable.because(f"the index at {self.folder}", error) from error

    def get_blob(self, name: str) -> bytes | None:
        """Read the file of that name; None if it cannot be read."""
        try:
            with self._borrow_catalogue() as (_, catalogue):
                return (self._view_folder(catalogue) / name).read_bytes()
        except (IndexMissing, OSError):
            return None

    def dump(self) -> Iterator[tuple[object, ...]]:
        """List everything that is searchable, by path."""
        with self.snapshot() as snapshot:
            embedded = snapshot.list_embedded_chunks()
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
        """Close files and connections; those in use are closed after use."""
        with self._guard:
            if self._open_index is not None:
                self._open_index.close()
            self._open_index = None

    # --- opening ---

    @contextmanager
    def _open_writer(self, thorough: bool) -> Iterator[EmbeddedWriter]:
        try:
            catalogue = SqliteCatalogueWriter(self._path, self.root)
        except (IndexCorrupt, OlderFormat):
            self._remove_catalogue()
            catalogue = SqliteCatalogueWriter(self._path, self.root)
        try:
            with translate_errors(self._path):
                folder = self._view_folder(catalogue)
                writer = EmbeddedWriter(catalogue, folder, self.fingerprint, thorough=thorough)
                try:
                    writer.repair()
                    yield writer
                finally:
                    writer.close()
        except IndexCorrupt as error:
            catalogue.close()
            if not error.is_repairable:
                self._remove_catalogue()
            raise
        finally:
            catalogue.close()

    def _remove_catalogue(self) -> None:
        """Remove a catalogue that cannot be read: an index is a cache, and the next run rebuilds it."""
        self.close()
        try:
            for suffix in ("", "-wal", "-shm"):
                (self._data / (CATALOGUE + suffix)).unlink(missing_ok=True)
        except OSError as error:  # on Windows, as long as another process has it open
            raise IndexUnwritable(
                f"the index at {self.folder} is corrupt and cannot be removed ({error}): "
                "stop other processes that use it, or remove that folder"
            ) from error

    @contextmanager
    def _borrow_catalogue(self) -> Iterator[tuple[OpenIndex, SqliteCatalogue]]:
        """Lend a connection to one reader, with what all readers share."""
        open_index = self._find_open_index()
        with translate_errors(self._path):
            with self._guard:
                catalogue = open_index.idle.pop() if open_index.idle else None
            catalogue = catalogue or SqliteCatalogue(self._path, self.root, create=False)
            try:
                yield open_index, catalogue
            except BaseException as error:
                catalogue.close()
                if isinstance(error, IndexCorrupt):
                    open_index.forget_derived()
                raise
        with self._guard:
            if open_index is self._open_index and len(open_index.idle) < MAX_IDLE_CONNECTIONS:
                open_index.idle.append(catalogue)
                return
        catalogue.close()

    def _find_open_index(self) -> OpenIndex:
        """Return what is open; start with nothing if the catalogue was removed and created again."""
        try:
            status = os.lstat(self._path)
        except OSError:
            raise IndexMissing(f"there is no index at {self.folder}: run 'dowse index'") from None
        identity = (status.st_dev, status.st_ino)
        with self._guard:
            if self._open_index is None or self._open_index.identity != identity:
                layout.check_plain(self._data, any_owner=self._index_folder.any_owner)
                if self._open_index is not None:
                    self._open_index.close()
                self._open_index = OpenIndex(identity)
            return self._open_index

    def _open_derived(
        self, open_index: OpenIndex, catalogue: SqliteCatalogue, state: CatalogueState
    ) -> tuple[LexicalReader, VectorIndex]:
        """Open lexical index and vectors, again if the catalogue has gone on; raise an error if one is lost."""
        reader, vectors = open_index.open_derived(self._view_folder(catalogue), state)
        oldest = max(0, state.generation - RETAINED_GENERATIONS)
        if reader.generation < oldest or vectors.generation < reader.generation:
            raise IndexCorrupt(f"the index at {self.folder} lacks a part of its files")
        return reader, vectors

    def _view_folder(self, catalogue: SqliteCatalogue) -> Path:
        """Return the folder of the derived indexes of the view."""
        return self._data / VIEWS / str(catalogue.view)


def _sum_file_sizes(folder: Path) -> int:
    """Add up the bytes on disk; files that a writer deletes meanwhile count nothing."""
    total = 0
    for path in layout.own_files(folder):
        with suppress(OSError):
            total += os.lstat(path).st_size
    return total
