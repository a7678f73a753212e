"""The catalogue: SQLite in WAL mode, the single source of truth of an embedded index.

Contents (what was parsed) are keyed by hash and shared by every view, branch and checkout; files are
rows of a view that point at a content. A file's row is never changed in place: a new content is a new
row, and the old one is marked with the generation that removed it, so that a reader of the generation
before still sees it. What was parsed of a content is one packed value, because it is read whole for every
candidate of a question; names have a table of their own, in their order, for looking them up.
"""

from __future__ import annotations

import json
import os
import sqlite3
import zlib
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from hashlib import blake2b
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple

from dowse.code import chunk_fields
from dowse.errors import IndexCorrupt, IndexLocked, IndexMissing, IndexTooNew, IndexUnwritable
from dowse.serialization import MAX_INFLATED_BYTES, deflated, inflate
from dowse.stores import row_codec
from dowse.stores.protocol import FORMAT, merged_folders
from dowse.types import (
    KEY_BYTES,
    ChunkVector,
    FileFacts,
    FileReferences,
    FileStamp,
    IndexReport,
    MaskedSecret,
    ParsedFile,
    Role,
    SourceFile,
    StoredFile,
)

BUSY_SECONDS = 10
"""How long a statement waits for another process's transaction; these are short."""

SPARE_CONTENTS = 1.0
"""Contents that no file uses are kept (a branch may come back) up to this share of those in use."""

RETAINED = 2
"""Generations before the newest that can still be read: a derived index may be one commit behind, and
another commit may come while a reader opens it."""

_SCHEMA = """
CREATE TABLE views (
    id INTEGER PRIMARY KEY, root TEXT NOT NULL UNIQUE, generation INTEGER NOT NULL DEFAULT 0,
    fingerprint TEXT NOT NULL DEFAULT '', restamps INTEGER NOT NULL DEFAULT 0,
    identity TEXT NOT NULL DEFAULT (hex(randomblob(8))), report TEXT, folders TEXT
);
CREATE TABLE contents (
    id INTEGER PRIMARY KEY, hash BLOB NOT NULL UNIQUE, language TEXT NOT NULL, health TEXT NOT NULL,
    entity_count INTEGER NOT NULL, chunk_count INTEGER NOT NULL, parsed BLOB NOT NULL, text BLOB NOT NULL,
    text_hash BLOB NOT NULL
);
CREATE TABLE names (
    name_key TEXT NOT NULL, content INTEGER NOT NULL, ordinal INTEGER NOT NULL, chunk INTEGER NOT NULL,
    name TEXT NOT NULL, kind TEXT NOT NULL, PRIMARY KEY (name_key, content, ordinal)
) WITHOUT ROWID;
CREATE TABLE mentions (content INTEGER PRIMARY KEY, packed BLOB NOT NULL);
CREATE TABLE files (
    id INTEGER PRIMARY KEY AUTOINCREMENT, view INTEGER NOT NULL, path TEXT NOT NULL, name_key TEXT NOT NULL,
    stem_key TEXT NOT NULL, content INTEGER NOT NULL, size INTEGER NOT NULL, mtime_ns INTEGER NOT NULL,
    ctime_ns INTEGER NOT NULL,
    role TEXT NOT NULL, fingerprint TEXT NOT NULL, added INTEGER NOT NULL, removed INTEGER
);
CREATE UNIQUE INDEX files_live ON files (view, path) WHERE removed IS NULL;
CREATE INDEX files_by_path ON files (view, path);
CREATE INDEX files_by_name ON files (view, name_key);
CREATE INDEX files_by_stem ON files (view, stem_key);
CREATE INDEX files_by_content ON files (content);
CREATE INDEX files_removed ON files (view, removed) WHERE removed IS NOT NULL;
CREATE TABLE secrets (file INTEGER NOT NULL, line INTEGER NOT NULL, rule TEXT NOT NULL);
CREATE INDEX secrets_by_file ON secrets (file);
CREATE TABLE vectors (key BLOB PRIMARY KEY, vector BLOB NOT NULL) WITHOUT ROWID;
CREATE TABLE file_vectors (file INTEGER PRIMARY KEY, keys BLOB NOT NULL);
"""

_STATEMENTS = tuple(statement.strip() for statement in _SCHEMA.split(";\n") if statement.strip())

_LIMITS = (
    (sqlite3.SQLITE_LIMIT_LENGTH, MAX_INFLATED_BYTES),
    (sqlite3.SQLITE_LIMIT_ATTACHED, 0),
    (sqlite3.SQLITE_LIMIT_TRIGGER_DEPTH, 0),
)
"""What SQLite must not do, whatever a file asks of it."""

TEXT_HASH_BYTES = 16

_FACTS = "f.id, path, language, role, mtime_ns"
_LOCKED = (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED)
_UNWRITABLE = (sqlite3.SQLITE_READONLY, sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_PERM)
_NO_SPACE = (sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR)


class OlderFormat(IndexMissing):
    """An older dowse wrote the index: it is made again."""


class KnownFile(NamedTuple):
    """A file of the manifest, and the settings it was written under."""

    id: int
    stamp: FileStamp
    content_hash: bytes
    fingerprint: str


class NamedEntity(NamedTuple):
    """An entity and its file, with what a filter asks of the two."""

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
        """Of the file."""
        return FileFacts(self.path, self.language, self.role, self.changed_ns)


class ViewState(NamedTuple):
    """How far a view has come. ``restamps`` counts changes of stamps, which make no new generation."""

    generation: int
    fingerprint: str
    restamps: int
    identity: str


class Catalogue:
    """One connection to the catalogue, on one view. Not to be shared between threads."""

    def __init__(self, path: Path, root: str, *, create: bool) -> None:
        self.path = path
        self.root = root
        self.view = 0
        with mapped(path):
            try:
                self._open("rwc" if create else "rw", create)
            except sqlite3.OperationalError as error:
                if create or not self._can_be_read_as_it_is(error):
                    raise
                self._open("ro&immutable=1", create)

    def _open(self, mode: str, create: bool) -> None:
        self._db = sqlite3.connect(
            f"{self.path.absolute().as_uri()}?mode={mode}",
            uri=True,
            timeout=BUSY_SECONDS,
            isolation_level=None,
            check_same_thread=False,
        )
        try:
            self._distrust()
            self._prepare(create)
            self.state()
        except BaseException:
            self._db.close()
            raise

    def _can_be_read_as_it_is(self, error: sqlite3.OperationalError) -> bool:
        """Whether all is in the one file, where those that SQLite keeps beside it cannot be made: on a full disk, or on
        one that is only read.
        """
        code = error.sqlite_errorcode & 0xFF
        log = self.path.with_name(self.path.name + "-wal")
        return code in (*_UNWRITABLE, *_NO_SPACE) and (not log.exists() or not log.stat().st_size)

    def _distrust(self) -> None:
        """Have SQLite take the file for one that somebody else may have written."""
        for limit, value in _LIMITS:
            self._db.setlimit(limit, value)
        self._db.execute("PRAGMA trusted_schema = OFF")
        self._db.execute("PRAGMA cell_size_check = ON")

    def _check_schema(self) -> None:
        """Raise an error unless the file has just the tables that we make: no trigger, no view, nothing generated."""
        rows = self._db.execute("SELECT sql FROM sqlite_schema WHERE name NOT LIKE 'sqlite_%'")
        if sorted(sql for (sql,) in rows) != sorted(_STATEMENTS):
            raise IndexCorrupt.beyond_repair(f"the index at {self.path.parent} has other tables than ours")

    def _prepare(self, create: bool) -> None:
        (version,) = self._db.execute("PRAGMA user_version").fetchone()
        if version > FORMAT:
            raise IndexTooNew(
                f"the index at {self.path.parent} was written by a newer dowse "
                f"(format {version}, this one reads {FORMAT}): "
                "upgrade dowse, or remove the index with 'dowse clear' and search again"
            )
        if 0 < version < FORMAT:
            raise OlderFormat(
                f"the index at {self.path.parent} was written by an older dowse: run 'dowse index'"
            )
        if version == 0 and not create:
            raise IndexMissing(f"the index at {self.path.parent} is empty: run 'dowse index'")
        if version == 0:
            self._create_tables()
        self._check_schema()
        self._db.execute("PRAGMA synchronous = NORMAL")
        if create:
            self._db.execute("INSERT OR IGNORE INTO views (root) VALUES (?)", (self.root,))

    def _create_tables(self) -> None:
        """Make the tables; until they are there the file has nothing that would be worth waiting for the disk."""
        self._db.execute("PRAGMA synchronous = OFF")
        self._db.execute("PRAGMA journal_mode = MEMORY")
        self._db.execute("PRAGMA journal_mode = WAL")
        with self.transaction():
            for statement in _STATEMENTS:
                self._db.execute(statement)
            self._db.execute(f"PRAGMA user_version = {FORMAT}")

    def close(self) -> None:
        """Close the connection."""
        self._db.close()

    @contextmanager
    def transaction(self, kind: str = "IMMEDIATE") -> Iterator[None]:
        """All of what is done inside, or nothing."""
        with mapped(self.path):
            self._db.execute(f"BEGIN {kind}")
            try:
                yield
            except BaseException:
                if self._db.in_transaction:  # SQLite may have rolled back by itself
                    self._db.execute("ROLLBACK")
                raise
            self._db.execute("COMMIT")

    # --- reading ---

    def state(self) -> ViewState:
        """How far the view of this root has come; nowhere if it is not there yet."""
        row = self._db.execute(
            "SELECT id, generation, fingerprint, restamps, identity FROM views WHERE root = ?", (self.root,)
        ).fetchone()
        self.view, *state = row or (0, 0, "", 0, "")
        return ViewState(*state)

    def report(self) -> IndexReport | None:
        """What the last complete run saw."""
        row = self._db.execute("SELECT report FROM views WHERE id = ?", (self.view,)).fetchone()
        return row_codec.unpacked_report(row[0]) if row and row[0] else None

    def folders(self) -> dict[str, int]:
        """The folders of the last complete walk, with their modification times."""
        row = self._db.execute("SELECT folders FROM views WHERE id = ?", (self.view,)).fetchone()
        return json.loads(row[0]) if row and row[0] else {}

    def manifest(self, generation: int, paths: Collection[str] | None = None) -> dict[str, KnownFile]:
        """The files of a generation by path: all of them, or those at some paths."""
        query = (
            "SELECT path, f.id, size, mtime_ns, ctime_ns, hash, fingerprint "
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
            path: KnownFile(id, FileStamp(size, mtime_ns, ctime_ns), digest, fingerprint)
            for path, id, size, mtime_ns, ctime_ns, digest, fingerprint in rows
        }

    def has_stamp(self, id: int, stamp: FileStamp, generation: int) -> bool:
        """Whether a generation has the file of this id, and its stamp is this one."""
        row = self._db.execute(
            "SELECT size, mtime_ns, ctime_ns FROM files "
            "WHERE id = ?1 AND view = ?2 AND added <= ?3 AND (removed IS NULL OR removed > ?3)",
            (id, self.view, generation),
        ).fetchone()
        return bool(row == stamp)

    def file_count(self, generation: int) -> int:
        """How many files a generation has."""
        (count,) = self._db.execute(
            "SELECT count(*) FROM files WHERE view = ?1 AND added <= ?2 AND (removed IS NULL OR removed > ?2)",
            (self.view, generation),
        ).fetchone()
        return int(count)

    def counts(self) -> tuple[int, int, int]:
        """Live files, their chunks, their entities."""
        files, chunks, entities = self._db.execute(
            "SELECT count(*), total(chunk_count), total(entity_count) FROM files f "
            "JOIN contents c ON c.id = f.content WHERE view = ? AND removed IS NULL",
            (self.view,),
        ).fetchone()
        return files, int(chunks), int(entities)

    def tally(self, column: str) -> dict[str, int]:
        """Live files by their contents' ``language`` or ``health``, most first."""
        rows = self._db.execute(
            f"SELECT {column}, count(*) n FROM files f JOIN contents c ON c.id = f.content "
            f"WHERE view = ? AND removed IS NULL GROUP BY {column} ORDER BY n DESC, {column}",
            (self.view,),
        )
        return dict(rows)

    def secrets(self) -> tuple[MaskedSecret, ...]:
        """Where secrets were blanked out in live files."""
        rows = self._db.execute(
            "SELECT path, line, rule FROM secrets s JOIN files f ON f.id = s.file "
            "WHERE view = ? AND removed IS NULL ORDER BY path, line",
            (self.view,),
        )
        return tuple(map(MaskedSecret._make, rows))

    def file(self, id: int, generation: int) -> StoredFile | None:
        """A file by id, if the generation has it."""
        row = self._db.execute(
            "SELECT f.id, path, size, mtime_ns, ctime_ns, role, hash, language, health, parsed, added, removed "
            "FROM files f JOIN contents c ON c.id = f.content WHERE f.id = ? AND view = ?",
            (id, self.view),
        ).fetchone()
        if row is None:
            return None
        _, path, size, mtime_ns, ctime_ns, role, digest, language, health, packed, added, removed = row
        if added > generation or (removed is not None and removed <= generation):
            return None
        parsed = row_codec.unpacked(language, health, packed)
        definitions = chunk_fields.definitions_by_chunk(parsed)
        stamp = FileStamp(size, mtime_ns, ctime_ns)
        return StoredFile(id, path, stamp, digest, Role(role), parsed, definitions)

    def file_id(self, path: str, generation: int) -> int | None:
        """The id of the file at a path."""
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
            raise self._altered(error) from error
        if _text_hash(digest, text) != expected:
            raise self._altered("a text is not the one that was written")
        return text

    def _altered(self, why: object) -> IndexCorrupt:
        return IndexCorrupt.beyond_repair(f"the index at {self.path.parent} is damaged ({why})")

    def references(self, generation: int, paths: Collection[str] | None = None) -> Iterator[FileReferences]:
        """What the files of a generation define and mention, in order of path."""
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
        """Whether anything is known, of whatever view."""
        return self._db.execute("SELECT 1 FROM contents LIMIT 1").fetchone() is not None

    def parsed(self, digest: bytes) -> ParsedFile | None:
        """What is known of a content."""
        row = self._db.execute(
            "SELECT language, health, parsed FROM contents WHERE hash = ?", (digest,)
        ).fetchone()
        return row_codec.unpacked(*row) if row else None

    def vectors(self, keys: Sequence[bytes]) -> dict[bytes, bytes]:
        """Those of the asked vectors that are stored, packed."""
        found: dict[bytes, bytes] = {}
        for key in keys:
            if row := self._db.execute("SELECT vector FROM vectors WHERE key = ?", (key,)).fetchone():
                found[key] = row[0]
        return found

    def file_vectors(self, id: int) -> list[ChunkVector]:
        """The packed vectors of a file's chunks, in order."""
        row = self._db.execute("SELECT keys FROM file_vectors WHERE file = ?", (id,)).fetchone()
        keys = _cut(row[0]) if row else []
        found = self.vectors(keys)
        return [ChunkVector(key, found[key]) for key in keys]

    def named(self, first: str, last: str, generation: int, scan: int) -> Iterator[NamedEntity]:
        """The first ``scan`` (-1: all) entities whose name in lower case lies between two, by name and path."""
        rows = self._db.execute(
            "WITH found AS MATERIALIZED ("
            "SELECT f.id, ordinal, chunk, name, kind, path, language, role, mtime_ns, e.name_key FROM names e "
            "CROSS JOIN files f ON f.content = e.content JOIN contents c ON c.id = e.content "
            "WHERE e.name_key BETWEEN ? AND ? AND view = ? AND added <= ? "
            "AND (removed IS NULL OR removed > ?) LIMIT ?) "
            "SELECT id, ordinal, chunk, name, kind, path, language, role, mtime_ns FROM found "
            "ORDER BY name_key, path, ordinal",
            (first, last, self.view, generation, generation, scan),
        )
        return map(NamedEntity._make, rows)

    def files_called(self, name: str, generation: int) -> Iterator[tuple[int, FileFacts]]:
        """The files whose name or stem this is, in order of path."""
        rows = self._db.execute(
            f"SELECT {_FACTS} FROM files f JOIN contents c ON c.id = f.content "
            "WHERE f.id IN (SELECT id FROM files WHERE view = ?1 AND name_key = ?2 "
            "UNION SELECT id FROM files WHERE view = ?1 AND stem_key = ?2) "
            "AND added <= ?3 AND (removed IS NULL OR removed > ?3) ORDER BY path",
            (self.view, name, generation),
        )
        return ((id, FileFacts(*rest)) for id, *rest in rows)

    def changed_since(self, generation: int) -> tuple[list[int], list[int]]:
        """Ids of the files removed after a generation, and of the live ones added after it."""
        removed = self._db.execute(
            "SELECT id FROM files WHERE view = ? AND removed > ?", (self.view, generation)
        )
        gone = [id for (id,) in removed]
        added = self._db.execute(
            "SELECT id FROM files WHERE view = ? AND added > ? AND removed IS NULL", (self.view, generation)
        )
        return gone, [id for (id,) in added]

    def views(self) -> set[int]:
        """The ids of all views."""
        return {id for (id,) in self._db.execute("SELECT id FROM views")}

    def kept_files(self) -> list[int]:
        """Ids of the files of every generation that can still be read."""
        return [id for (id,) in self._db.execute("SELECT id FROM files WHERE view = ?", (self.view,))]

    def last_file(self) -> int:
        """The highest id that a file of any view was ever given."""
        row = self._db.execute("SELECT seq FROM sqlite_sequence WHERE name = 'files'").fetchone()
        return int(row[0]) if row else 0

    def is_intact(self) -> bool:
        """Whether SQLite finds its pages in order, and all texts are those that were written; reads all of them."""
        if self._db.execute("PRAGMA quick_check(1)").fetchone() != ("ok",):
            return False
        rows = self._db.execute("SELECT hash, text, text_hash FROM contents")
        return all(_text_hash(digest, inflate(packed)) == expected for digest, packed, expected in rows)

    def live_files(self, generation: int) -> Iterator[tuple[int, FileFacts]]:
        """Every file of a generation, by its id."""
        rows = self._db.execute(
            f"SELECT {_FACTS} FROM files f JOIN contents c ON c.id = f.content "
            "WHERE view = ? AND added <= ? AND (removed IS NULL OR removed > ?)",
            (self.view, generation, generation),
        )
        return ((id, FileFacts(*rest)) for id, *rest in rows)

    # --- writing: call inside a transaction ---

    def begin_generation(self) -> int:
        """The next generation; rows that only generations before those retained could see are dropped."""
        generation = self.state().generation + 1
        self._forget_files("view = ? AND removed <= ?", (self.view, generation - RETAINED))
        self._db.execute("UPDATE views SET generation = ? WHERE id = ?", (generation, self.view))
        return generation

    def _forget_files(self, which: str, bounds: tuple[int, ...]) -> None:
        """Drop the rows of some files; their contents stay."""
        for table in ("file_vectors", "secrets"):
            self._db.execute(
                f"DELETE FROM {table} WHERE file IN (SELECT id FROM files WHERE {which})", bounds
            )
        self._db.execute(f"DELETE FROM files WHERE {which}", bounds)

    def remove(self, paths: Iterable[str], generation: int) -> list[int]:
        """Mark the files at these paths as removed; their ids."""
        gone = []
        for path in paths:
            where = "WHERE view = ? AND path = ? AND removed IS NULL"
            if row := self._db.execute(f"SELECT id FROM files {where}", (self.view, path)).fetchone():
                self._db.execute(f"UPDATE files SET removed = ? {where}", (generation, self.view, path))
                gone.append(row[0])
        return gone

    def add(self, files: Sequence[SourceFile], generation: int, fingerprint: str) -> list[int]:
        """Insert files (and their contents, if new); their ids. Those that await vectors have no fingerprint.

        What a file has many rows of is inserted for all of them at once, in the order of the table.
        """
        names: list[tuple[str, int, int, int, str, str]] = []
        ids = [self._file_id(file, generation, fingerprint, names) for file in files]
        numbered = list(zip(ids, files, strict=True))
        insert = self._db.executemany
        insert("INSERT INTO names VALUES (?, ?, ?, ?, ?, ?)", sorted(names))
        insert(
            "INSERT INTO secrets VALUES (?, ?, ?)",
            [(id, s.line, s.rule) for id, f in numbered for s in f.secrets],
        )
        vectors = {vector.key: vector.vector for file in files for vector in file.vectors}
        insert(
            "INSERT OR IGNORE INTO vectors VALUES (?, ?)",
            # not bytes: sqlite3 would look in vain for an adapter of each, for as long as it takes to insert it
            [(bytearray(key), bytearray(vector)) for key, vector in sorted(vectors.items())],
        )
        insert(
            "INSERT INTO file_vectors VALUES (?, ?)",
            [(id, b"".join([v.key for v in file.vectors])) for id, file in numbered if file.vectors],
        )
        return ids

    def _file_id(
        self,
        file: SourceFile,
        generation: int,
        fingerprint: str,
        names: list[tuple[str, int, int, int, str, str]],
    ) -> int:
        """Insert a file and its content; what is to be inserted of its names is added to the others."""
        content = self._content_id(file, names)
        name = file.path.rpartition("/")[2].lower()
        cursor = self._db.execute(
            "INSERT INTO files (view, path, name_key, stem_key, content, size, mtime_ns, ctime_ns, role, fingerprint, "
            "added) VALUES (?,?,?,?,?,?,?,?,?,?,?)",
            (
                self.view, file.path, name, name.lstrip(".").partition(".")[0], content,
                *file.stamp, file.role.value,
                "" if file.awaits_vectors else fingerprint, generation,
            ),
        )  # fmt: skip
        assert cursor.lastrowid is not None
        return cursor.lastrowid

    def _content_id(self, file: SourceFile, names: list[tuple[str, int, int, int, str, str]]) -> int:
        row = self._db.execute("SELECT id FROM contents WHERE hash = ?", (file.content_hash,)).fetchone()
        if row:
            return int(row[0])
        parsed = file.parsed
        cursor = self._db.execute(
            "INSERT INTO contents (hash, language, health, entity_count, chunk_count, parsed, text, text_hash) "
            "VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
            (
                file.content_hash,
                parsed.language,
                parsed.health.value,
                len(parsed.entities),
                len(parsed.chunks),
                row_codec.packed(parsed),
                deflated(file.content),
                _text_hash(file.content_hash, file.content),
            ),
        )
        id = cursor.lastrowid
        assert id is not None
        self._db.execute("INSERT INTO mentions VALUES (?, ?)", (id, file.references))
        for chunk, places in enumerate(file.definitions):
            for place in places:
                entity = parsed.entities[place]
                names.append((entity.name.lower(), id, place, chunk, entity.name, entity.kind.value))
        return id

    def restamp(self, stamps: Mapping[str, FileStamp], folders: Mapping[str, int]) -> None:
        """Note new stamps of unchanged files, and new times of folders."""
        self._db.executemany(
            "UPDATE files SET size = ?, mtime_ns = ?, ctime_ns = ? WHERE view = ? AND path = ? AND removed IS NULL",
            ((*stamp, self.view, path) for path, stamp in stamps.items()),
        )
        if folders:
            known = json.dumps(merged_folders(self.folders(), folders))
            self._db.execute("UPDATE views SET folders = ? WHERE id = ?", (known, self.view))
        self._db.execute("UPDATE views SET restamps = restamps + 1 WHERE id = ?", (self.view,))

    def finish(self, report: IndexReport, folders: Mapping[str, int], fingerprint: str) -> None:
        """Note what a run saw and under which settings; drop views of lost trees and contents that nobody uses."""
        self._db.execute(
            "UPDATE views SET report = ?, folders = ?, fingerprint = ?, restamps = restamps + 1 WHERE id = ?",
            (row_codec.packed_report(report), json.dumps(dict(folders)), fingerprint, self.view),
        )
        self._drop_lost_views()
        self._collect()

    def _drop_lost_views(self) -> None:
        """Forget trees that are not there any more: work trees that were removed, former places of a project."""
        others = self._db.execute("SELECT id, root FROM views WHERE id != ?", (self.view,)).fetchall()
        for id, root in others:
            if _is_lost(root):
                self._forget_files("view = ?", (id,))
                self._db.execute("DELETE FROM views WHERE id = ?", (id,))

    def _collect(self) -> None:
        unused = "SELECT id FROM contents WHERE id NOT IN (SELECT content FROM files)"
        (total,) = self._db.execute("SELECT count(*) FROM contents").fetchone()
        (used,) = self._db.execute("SELECT count(DISTINCT content) FROM files").fetchone()
        if total - used <= used * SPARE_CONTENTS:
            return
        for table in ("names", "mentions"):
            self._db.execute(f"DELETE FROM {table} WHERE content IN ({unused})")
        self._db.execute(f"DELETE FROM contents WHERE id IN ({unused})")
        self._db.execute("CREATE TEMP TABLE used (key BLOB PRIMARY KEY) WITHOUT ROWID")
        for (keys,) in self._db.execute("SELECT keys FROM file_vectors"):
            self._db.executemany("INSERT OR IGNORE INTO used VALUES (?)", [(key,) for key in _cut(keys)])
        self._db.execute("DELETE FROM vectors WHERE key NOT IN (SELECT key FROM used)")
        self._db.execute("DROP TABLE used")


def _is_lost(root: str) -> bool:
    """Whether a tree is surely gone; one that cannot be looked at may be there."""
    try:
        os.stat(root)
    except (FileNotFoundError, NotADirectoryError):
        return True
    except OSError:
        return False
    return False


def _text_hash(content_hash: bytes, text: bytes) -> bytes:
    """Hash a text together with what it is stored under, so that no text can stand in for another."""
    return blake2b(text, key=content_hash, digest_size=TEXT_HASH_BYTES).digest()


def _cut(keys: bytes) -> list[bytes]:
    """The keys of vectors that were stored as one value."""
    return [keys[start : start + KEY_BYTES] for start in range(0, len(keys), KEY_BYTES)]


@contextmanager
def mapped(path: Path) -> Iterator[None]:
    """SQLite's errors as ours."""
    try:
        yield
    except (sqlite3.IntegrityError, sqlite3.ProgrammingError):
        raise  # a mistake of the program, not of the file
    except zlib.error as error:
        raise IndexCorrupt.beyond_repair(f"the index at {path.parent} is damaged ({error})") from error
    except sqlite3.DatabaseError as error:
        code = getattr(error, "sqlite_errorcode", sqlite3.SQLITE_ERROR) & 0xFF
        if code in _LOCKED:
            raise IndexLocked(f"another process is writing the index at {path.parent}: try again") from error
        if code in _UNWRITABLE:
            raise IndexUnwritable(
                f"the index at {path.parent} cannot be written or opened: {error}"
            ) from error
        if code in _NO_SPACE:
            raise IndexUnwritable.because(f"the index at {path.parent}", error) from error
        raise IndexCorrupt.beyond_repair(f"the index at {path.parent} is damaged ({error})") from error
