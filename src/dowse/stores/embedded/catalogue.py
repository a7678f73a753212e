"""Catalogue reader (SQLite): files, parsed contents, symbols and vectors by generation, the source of truth of the
index.

Multi-version (MVCC): a file's row is never changed in place; a new content is a new row, and the old one is marked with
the generation that removed it, so that a reader of an earlier generation still sees it. Contents are addressed by hash
and shared by every view, branch and checkout. What was parsed of a content is one packed value, read as a whole; names
have a table of their own for lookup.
"""

from __future__ import annotations

import zlib
from collections.abc import Collection, Iterable, Iterator, Sequence
from hashlib import blake2b
from itertools import chain
from typing import Any, NamedTuple

from dowse.code import chunk_fields
from dowse.errors import IndexCorrupt
from dowse.serialization import inflate
from dowse.stores import row_codec
from dowse.stores.embedded.catalogue_connection import CatalogueConnection
from dowse.stores.protocol import StampRow
from dowse.types.discovered import (
    KEY_BYTES,
    ChunkVector,
    FileStamp,
    IndexReport,
    WatchedPath,
    WatchedTime,
)
from dowse.types.source import MaskedSecret, ParsedFile, Role
from dowse.types.stored import FileFacts, FileReferences, StoredFile

RETAINED_GENERATIONS = 2
"""Generations before the newest that can still be read: a derived index may be one commit behind, and
another commit may come while a reader opens it."""

KEYS_PER_LOOKUP = 100
"""Keys of vectors that are looked up by one statement: most files have fewer, and a statement for each takes more
than twice the time."""

TEXT_HASH_BYTES = 16

SQL_NO_LIMIT = -1
"""What SQLite takes for no LIMIT."""

_FACT_COLUMNS = "f.id, path, language, role, mtime_ns"


class CatalogueFile(NamedTuple):
    """A file of the manifest, and the settings it was written under."""

    id: int
    stamp: FileStamp
    content_hash: bytes
    fingerprint: str


class NamedEntity(NamedTuple):
    """An entity and its file, with what a filter needs of the two."""

    file: int
    entity: int
    chunk: int
    name: str
    kind: str
    path: str
    language: str
    role: str
    changed_ns: int

    @property
    def facts(self) -> FileFacts:
        """What a filter needs of the file."""
        return FileFacts(self.path, self.language, self.role, self.changed_ns)


class SqliteCatalogue(CatalogueConnection):
    """Reads one view of the catalogue, at a given generation."""

    def report(self) -> IndexReport | None:
        """Read the report of the last complete run."""
        row = self._db.execute("SELECT report FROM views WHERE id = ?", (self.view,)).fetchone()
        return row_codec.unpack_report(row[0]) if row and row[0] else None

    def list_watched(self) -> dict[WatchedPath, WatchedTime]:
        """Read what is watched beside the files."""
        row = self._db.execute("SELECT watched FROM views WHERE id = ?", (self.view,)).fetchone()
        return row_codec.unpack_watched(row[0] if row else None)

    def manifest(self, generation: int, paths: Collection[str] | None = None) -> dict[str, CatalogueFile]:
        """Read the files of a generation by path: all of them, or those at some paths."""
        query = (
            "SELECT path, f.id, size, mtime_ns, ctime_ns, is_trusted, hash, fingerprint "
            "FROM files f JOIN contents c ON c.id = f.content "
            "WHERE view = ?1 AND added <= ?2 AND (removed IS NULL OR removed > ?2)"
        )
        if paths is None:
            rows: Iterable[tuple[Any, ...]] = self._db.execute(query, (self.view, generation))
        else:
            each = (
                self._db.execute(f"{query} AND path = ?3", (self.view, generation, path)) for path in paths
            )
            rows = chain.from_iterable(each)
        return {
            path: CatalogueFile(id, FileStamp(size, mtime_ns, ctime_ns, bool(trusted)), digest, fingerprint)
            for path, id, size, mtime_ns, ctime_ns, trusted, digest, fingerprint in rows
        }

    def list_stamps(self, generation: int) -> Iterable[StampRow]:
        """Read the files of a generation in order of path, with their stamps."""
        return self._db.execute(
            "SELECT path, size, mtime_ns, ctime_ns, is_trusted FROM files "
            "WHERE view = ?1 AND added <= ?2 AND (removed IS NULL OR removed > ?2) ORDER BY path",
            (self.view, generation),
        )

    def has_stamp(self, id: int, stamp: FileStamp, generation: int) -> bool:
        """Whether a generation has the file of this id, and its stamp is this one."""
        row = self._db.execute(
            "SELECT size, mtime_ns, ctime_ns, is_trusted FROM files "
            "WHERE id = ?1 AND view = ?2 AND added <= ?3 AND (removed IS NULL OR removed > ?3)",
            (id, self.view, generation),
        ).fetchone()
        return bool(row == stamp)

    def file_count(self, generation: int) -> int:
        """Count the files of a generation."""
        (count,) = self._db.execute(
            "SELECT count(*) FROM files WHERE view = ?1 AND added <= ?2 AND (removed IS NULL OR removed > ?2)",
            (self.view, generation),
        ).fetchone()
        return int(count)

    def count_live(self) -> tuple[int, int, int]:
        """Count live files, their chunks and their entities."""
        files, chunks, entities = self._db.execute(
            "SELECT count(*), total(chunk_count), total(entity_count) FROM files f "
            "JOIN contents c ON c.id = f.content WHERE view = ? AND removed IS NULL",
            (self.view,),
        ).fetchone()
        return files, int(chunks), int(entities)

    def count_files_by(self, column: str) -> dict[str, int]:
        """Count live files by their contents' ``language`` or ``health``, most first."""
        rows = self._db.execute(
            f"SELECT {column}, count(*) n FROM files f JOIN contents c ON c.id = f.content "
            f"WHERE view = ? AND removed IS NULL GROUP BY {column} ORDER BY n DESC, {column}",
            (self.view,),
        )
        return dict(rows)

    def secrets(self) -> tuple[MaskedSecret, ...]:
        """List where secrets were masked in live files."""
        rows = self._db.execute(
            "SELECT path, line, rule FROM secrets s JOIN files f ON f.id = s.file "
            "WHERE view = ? AND removed IS NULL ORDER BY path, line",
            (self.view,),
        )
        return tuple(map(MaskedSecret._make, rows))

    def file(self, id: int, generation: int) -> StoredFile | None:
        """Read a file by id; None if the generation does not have it."""
        row = self._db.execute(
            "SELECT path, size, mtime_ns, ctime_ns, is_trusted, role, hash, language, health, parsed, added, removed "
            "FROM files f JOIN contents c ON c.id = f.content WHERE f.id = ? AND view = ?",
            (id, self.view),
        ).fetchone()
        if row is None:
            return None
        path, size, mtime_ns, ctime_ns, trusted, role, digest, language, health, packed, added, removed = row
        if added > generation or (removed is not None and removed <= generation):
            return None
        parsed = row_codec.unpack_parsed(language, health, packed)
        definitions = chunk_fields.definitions_by_chunk(parsed)
        stamp = FileStamp(size, mtime_ns, ctime_ns, bool(trusted))
        return StoredFile(id, path, stamp, digest, Role(role), parsed, definitions)

    def file_id(self, path: str, generation: int) -> int | None:
        """Find the id of the file at a path."""
        row = self._db.execute(
            "SELECT id FROM files WHERE view = ? AND path = ? AND added <= ? AND (removed IS NULL OR removed > ?)",
            (self.view, path, generation, generation),
        ).fetchone()
        return row[0] if row else None

    def content(self, id: int) -> bytes:
        """Read what a file says, and make sure that it is what was written."""
        row = self._db.execute(
            "SELECT hash, text, text_hash FROM contents c JOIN files f ON f.content = c.id WHERE f.id = ?",
            (id,),
        ).fetchone()
        if row is None:
            return b""
        digest, packed, expected = row
        try:
            text = inflate(packed)
        except (ValueError, zlib.error) as error:
            raise self._corruption_error(error) from error
        if hash_text(digest, text) != expected:
            raise self._corruption_error("a text is not the one that was written")
        return text

    def _corruption_error(self, why: object) -> IndexCorrupt:
        return IndexCorrupt.beyond_repair(f"the index at {self.path.parent} is corrupt ({why})")

    def references(self, generation: int, paths: Collection[str] | None = None) -> Iterator[FileReferences]:
        """Read what the files of a generation define and mention, in order of path."""
        query = (
            "SELECT path, hash, language, role, packed FROM files f JOIN contents c ON c.id = f.content "
            "JOIN mentions m ON m.content = c.id "
            "WHERE view = ?1 AND added <= ?2 AND (removed IS NULL OR removed > ?2)"
        )
        if paths is None:
            rows: Iterable[tuple[Any, ...]] = self._db.execute(
                f"{query} ORDER BY path", (self.view, generation)
            )
        else:
            each = (
                self._db.execute(f"{query} AND path = ?3", (self.view, generation, path))
                for path in sorted(paths)
            )
            rows = chain.from_iterable(each)
        return (
            FileReferences(path, digest, language, Role(role), packed)
            for path, digest, language, role, packed in rows
        )

    def has_contents(self) -> bool:
        """Return whether there is any content, of whatever view."""
        return self._db.execute("SELECT 1 FROM contents LIMIT 1").fetchone() is not None

    def find_parsed(self, digest: bytes) -> ParsedFile | None:
        """Find what was parsed of a content before."""
        row = self._db.execute(
            "SELECT language, health, parsed FROM contents WHERE hash = ?", (digest,)
        ).fetchone()
        return row_codec.unpack_parsed(*row) if row else None

    def find_vectors(self, keys: Sequence[bytes]) -> dict[bytes, bytes]:
        """Find those of the requested vectors that are stored, packed."""
        found: dict[bytes, bytes] = {}
        for start in range(0, len(keys), KEYS_PER_LOOKUP):
            some = keys[start : start + KEYS_PER_LOOKUP]
            places = ", ".join(["?"] * len(some))
            found.update(self._db.execute(f"SELECT key, vector FROM vectors WHERE key IN ({places})", some))
        return found

    def file_vectors(self, id: int) -> list[ChunkVector]:
        """Read the packed vectors of a file's chunks, in order."""
        row = self._db.execute("SELECT keys FROM file_vectors WHERE file = ?", (id,)).fetchone()
        keys = split_keys(row[0]) if row else []
        found = self.find_vectors(keys)
        return [ChunkVector(key, found[key]) for key in keys]

    def find_names(self, first: str, last: str, generation: int, limit: int | None) -> Iterator[NamedEntity]:
        """Find the entities whose name in lower case lies between two, by name and path; not more than the limit."""
        rows = self._db.execute(
            "WITH found AS MATERIALIZED ("
            "SELECT f.id, ordinal, chunk, COALESCE(name, e.name_key) AS name, kind, path, language, role, "
            "mtime_ns, e.name_key FROM names e "
            "CROSS JOIN files f ON f.content = e.content JOIN contents c ON c.id = e.content "
            "WHERE e.name_key BETWEEN ? AND ? AND view = ? AND added <= ? "
            "AND (removed IS NULL OR removed > ?) LIMIT ?) "
            "SELECT id, ordinal, chunk, name, kind, path, language, role, mtime_ns FROM found "
            "ORDER BY name_key, path, ordinal",
            (first, last, self.view, generation, generation, SQL_NO_LIMIT if limit is None else limit),
        )
        return map(NamedEntity._make, rows)

    def find_files_called(self, name: str, generation: int) -> Iterator[tuple[int, FileFacts]]:
        """Find the files whose name or stem this is, in order of path."""
        rows = self._db.execute(
            f"SELECT {_FACT_COLUMNS} FROM files f JOIN contents c ON c.id = f.content "
            "WHERE f.id IN (SELECT id FROM files WHERE view = ?1 AND name_key = ?2 "
            "UNION SELECT id FROM files WHERE view = ?1 AND stem_key = ?2) "
            "AND added <= ?3 AND (removed IS NULL OR removed > ?3) ORDER BY path",
            (self.view, name, generation),
        )
        return ((id, FileFacts(*rest)) for id, *rest in rows)

    def find_changes_since(self, generation: int) -> tuple[list[int], list[int]]:
        """Find the ids of the files removed after a generation, and of the live ones added after it."""
        removed = self._db.execute(
            "SELECT id FROM files WHERE view = ? AND removed > ?", (self.view, generation)
        )
        gone = [id for (id,) in removed]
        added = self._db.execute(
            "SELECT id FROM files WHERE view = ? AND added > ? AND removed IS NULL", (self.view, generation)
        )
        return gone, [id for (id,) in added]

    def list_views(self) -> set[int]:
        """List the ids of all views."""
        return {id for (id,) in self._db.execute("SELECT id FROM views")}

    def list_retained_files(self) -> list[int]:
        """List the ids of the files of every generation that can still be read."""
        return [id for (id,) in self._db.execute("SELECT id FROM files WHERE view = ?", (self.view,))]

    def find_last_file_id(self) -> int:
        """Find the highest id that a file of any view was ever given."""
        row = self._db.execute("SELECT seq FROM sqlite_sequence WHERE name = 'files'").fetchone()
        return int(row[0]) if row else 0

    def is_intact(self) -> bool:
        """Whether SQLite finds its pages in order, and all texts are those that were written; reads all of them."""
        if self._db.execute("PRAGMA quick_check(1)").fetchone() != ("ok",):
            return False
        rows = self._db.execute("SELECT hash, text, text_hash FROM contents")
        return all(hash_text(digest, inflate(packed)) == expected for digest, packed, expected in rows)

    def list_live_files(self, generation: int) -> Iterator[tuple[int, FileFacts]]:
        """List every file of a generation, with its id."""
        rows = self._db.execute(
            f"SELECT {_FACT_COLUMNS} FROM files f JOIN contents c ON c.id = f.content "
            "WHERE view = ? AND added <= ? AND (removed IS NULL OR removed > ?)",
            (self.view, generation, generation),
        )
        return ((id, FileFacts(*rest)) for id, *rest in rows)


def hash_text(content_hash: bytes, text: bytes) -> bytes:
    """Hash a text together with what it is stored under, so that no text can stand in for another."""
    return blake2b(text, key=content_hash, digest_size=TEXT_HASH_BYTES).digest()


def split_keys(keys: bytes) -> list[bytes]:
    """Split the keys of vectors that were stored as one value."""
    return [keys[start : start + KEY_BYTES] for start in range(0, len(keys), KEY_BYTES)]
