"""Index writer of the embedded store: atomic commits to catalogue, vectors and inverted index, and crash recovery.

Repairs derived indexes that a killed process left behind the catalogue, before anything is written.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import suppress
from functools import cache
from itertools import islice
from pathlib import Path
from typing import Any

from dowse.code import chunk_fields
from dowse.errors import IndexUnwritable
from dowse.stores.embedded import layout, lexical_index
from dowse.stores.embedded.catalogue import (
    RETAINED_GENERATIONS,
    CatalogueFile,
)
from dowse.stores.embedded.catalogue_writer import SqliteCatalogueWriter
from dowse.stores.embedded.quantize import pack_vectors, unpack_vectors
from dowse.stores.embedded.vector_index import VectorIndex
from dowse.types.discovered import FileStamp, IndexReport, SourceFile, WatchedPath, WatchedTimes
from dowse.types.source import ParsedFile
from dowse.types.stored import CHUNK_BITS


class EmbeddedWriter:
    """Writes generations: catalogue first, then vectors and the lexical index, which are derived from it."""

    def __init__(
        self, catalogue: SqliteCatalogueWriter, folder: Path, fingerprint: str, *, thorough: bool
    ) -> None:
        self._catalogue = catalogue
        self._folder = folder
        self._fingerprint = fingerprint
        self.repaired: tuple[str, ...] = ()
        index, self._lexical_generation = lexical_index.open_or_recreate(
            folder / layout.LEXICAL, thorough=thorough
        )
        self._lexical = index.writer()
        self._vectors = VectorIndex(folder / layout.VECTORS)
        if thorough and not self._vectors.is_intact():
            self._vectors.discard()
        self._is_empty = not catalogue.has_contents()

    def close(self) -> None:
        """Close the derived indexes."""
        self._lexical.close()

    def repair(self) -> None:
        """Detect derived indexes that are lost, or not at the generation of the catalogue, and rebuild them from it."""
        newest = self._catalogue.state().generation
        parts = {"the lexical index": self._lexical_generation, "the vectors": self._vectors.generation}
        self.repaired = tuple(part for part, generation in parts.items() if newest and not generation)
        if self._vectors.generation != newest:
            self._rebuild_vectors(newest)
        if self._lexical_generation != newest:
            readable = max(1, newest - RETAINED_GENERATIONS) <= self._lexical_generation < newest
            self._repair_lexical(self._lexical_generation if readable else 0, newest)

    def _repair_lexical(self, first_generation: int, newest: int) -> None:
        gone, added = self._catalogue.find_changes_since(first_generation)
        if first_generation == 0:
            self._lexical.delete_all()
        else:
            self._lexical.delete([*gone, *added])
        for id in added:
            file = self._catalogue.file(id, newest)
            assert file is not None
            found = chunk_fields.build_passages(self._catalogue.content(id), file.parsed, file.definitions)
            self._lexical.add(id, file, chunk_fields.chunk_terms(file.path, found))
        self._lexical.commit(newest)

    def _rebuild_vectors(self, newest: int) -> None:
        files = [(id, self._catalogue.file_vectors(id)) for id, *_ in self._catalogue.list_live_files(newest)]
        self._vectors.rebuild(newest, [(id, vectors) for id, vectors in files if vectors])

    def manifest(self, paths: Collection[str] | None = None) -> Mapping[str, CatalogueFile]:
        """List every file by path; those written under other settings do not count as known."""
        known = self._catalogue.manifest(self._catalogue.state().generation, paths)
        return {
            path: file
            if file.fingerprint == self._fingerprint
            else file._replace(stamp=file.stamp._replace(is_trusted=False), content_hash=b"")
            for path, file in known.items()
        }

    def find_parsed(self, content_hash: bytes) -> ParsedFile | None:
        """Find what was parsed of a content before."""
        return None if self._is_empty else self._catalogue.find_parsed(content_hash)

    def find_vectors(self, keys: Sequence[bytes]) -> dict[bytes, bytes]:
        """Find vectors that were computed before, to the precision that they are stored in."""
        found = {} if self._is_empty else self._catalogue.find_vectors(keys)
        return dict(zip(found, unpack_vectors(list(found.values())), strict=True))

    def apply(self, removed: Sequence[str], files: Sequence[SourceFile]) -> int:
        """Publish one new generation to readers: catalogue first, then what is derived from it."""
        catalogue = self._catalogue
        files = _pack_file_vectors(files)
        with catalogue.transaction():
            generation = catalogue.begin_generation()
            gone = catalogue.remove([*removed, *(file.path for file in files)], generation)
            ids = catalogue.add(files, generation, self._fingerprint)
        self._is_empty = False
        embedded = [(id, file.vectors) for id, file in zip(ids, files, strict=True) if file.vectors]
        self._vectors.append(generation, embedded, self._make_marker())
        self._lexical.delete(gone)
        for id, file in zip(ids, files, strict=True):
            self._lexical.add(id, file, file.terms)
        self._lexical.commit(generation)
        return generation

    def _make_marker(self) -> Callable[[Any], Any]:
        """Make the function that marks chunks of files that some readable generation has; it lists these once."""

        @cache
        def list_files() -> Any:
            import numpy as np

            return np.asarray(self._catalogue.list_retained_files(), dtype=np.int64)

        def mark(chunks: Any) -> Any:
            import numpy as np

            return np.isin(chunks >> CHUNK_BITS, list_files())

        return mark

    def restamp(
        self,
        stamps: Mapping[str, FileStamp],
        watched: WatchedTimes | None = None,
        unwatched: Collection[WatchedPath] = (),
    ) -> None:
        """Note new stamps of unchanged files, and changes in what is watched."""
        with self._catalogue.transaction():
            self._catalogue.restamp(stamps, watched or {}, unwatched)

    def finish(self, report: IndexReport, watched: WatchedTimes) -> None:
        """Record what the run saw, under the settings in force."""
        with self._catalogue.transaction():
            self._catalogue.finish(report, watched, self._fingerprint)
        self._remove_lost_views()

    def _remove_lost_views(self) -> None:
        """Delete the files of views that the catalogue does not have; those in use, a later run deletes."""
        known = {str(view) for view in self._catalogue.list_views()}
        for folder in layout.view_folders(self._folder.parent):
            if folder.name not in known:
                with suppress(IndexUnwritable):
                    layout.remove(folder, layout.VIEW_LAYOUT)


def _pack_file_vectors(files: Sequence[SourceFile]) -> list[SourceFile]:
    """Pack the vectors of files as the catalogue and the vector index have them; all at once, which is faster."""
    each = iter(pack_vectors([vector for file in files for vector in file.vectors]))
    return [
        file._replace(vectors=tuple(islice(each, len(file.vectors)))) if file.vectors else file
        for file in files
    ]
