"""SQLite connection of the catalogue: schema, WAL mode, transactions, limits, and SQLite's errors as ours.

The database may have been written by somebody else: it is opened without trust in its schema, within limits, and only
if it has exactly the tables that are made here.
"""

from __future__ import annotations

import sqlite3
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from dowse.errors import IndexCorrupt, IndexLocked, IndexMissing, IndexTooNew, IndexUnwritable
from dowse.serialization import MAX_INFLATED_BYTES
from dowse.stores.protocol import FORMAT

BUSY_SECONDS = 10
"""How long a statement waits for another process's transaction; these are short."""

_SCHEMA = """
CREATE TABLE views (
    id INTEGER PRIMARY KEY, root TEXT NOT NULL UNIQUE, generation INTEGER NOT NULL DEFAULT 0,
    fingerprint TEXT NOT NULL DEFAULT '', restamps INTEGER NOT NULL DEFAULT 0,
    identity TEXT NOT NULL DEFAULT (hex(randomblob(8))), report TEXT, watched TEXT
);
CREATE TABLE contents (
    id INTEGER PRIMARY KEY, hash BLOB NOT NULL UNIQUE, language TEXT NOT NULL, health TEXT NOT NULL,
    entity_count INTEGER NOT NULL, chunk_count INTEGER NOT NULL, parsed BLOB NOT NULL, text BLOB NOT NULL,
    text_hash BLOB NOT NULL
);
CREATE TABLE names (
    name_key TEXT NOT NULL, content INTEGER NOT NULL, ordinal INTEGER NOT NULL, chunk INTEGER NOT NULL,
    name TEXT, kind TEXT NOT NULL, PRIMARY KEY (name_key, content, ordinal)
) WITHOUT ROWID;
CREATE TABLE mentions (content INTEGER PRIMARY KEY, packed BLOB NOT NULL);
CREATE TABLE files (
    id INTEGER PRIMARY KEY AUTOINCREMENT, view INTEGER NOT NULL, path TEXT NOT NULL, name_key TEXT NOT NULL,
    stem_key TEXT NOT NULL, content INTEGER NOT NULL, size INTEGER NOT NULL, mtime_ns INTEGER NOT NULL,
    ctime_ns INTEGER NOT NULL, is_trusted INTEGER NOT NULL,
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

_CREATE_STATEMENTS = tuple(statement.strip() for statement in _SCHEMA.split(";\n") if statement.strip())

_SQLITE_LIMITS = (
    (sqlite3.SQLITE_LIMIT_LENGTH, MAX_INFLATED_BYTES),
    (sqlite3.SQLITE_LIMIT_ATTACHED, 0),
    (sqlite3.SQLITE_LIMIT_TRIGGER_DEPTH, 0),
)
"""Limits that SQLite keeps to, whatever is in the file."""

_LOCKED_CODES = (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED)
_UNWRITABLE_CODES = (sqlite3.SQLITE_READONLY, sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_PERM)
_NO_SPACE_CODES = (sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR)


class OlderFormat(IndexMissing):
    """An older dowse wrote the index: it is made again."""


class CatalogueState(NamedTuple):
    """How far a view has come. ``restamps`` counts changes of stamps, which make no new generation."""

    generation: int
    fingerprint: str
    restamps: int
    identity: str


class CatalogueConnection:
    """One connection to the catalogue, on one view. Not to be shared between threads."""

    def __init__(self, path: Path, root: str, *, create: bool) -> None:
        self.path = path
        self.root = root
        self.view = 0
        with translate_errors(path):
            try:
                self._open("rwc" if create else "rw", create)
            except sqlite3.OperationalError as error:
                if create or not self._is_readable_as_is(error):
                    raise
                self._open("ro&immutable=1", create)

    def _open(self, mode: str, create: bool) -> None:
        """Open the file as one that somebody else may have written."""
        self._db = sqlite3.connect(
            f"{self.path.absolute().as_uri()}?mode={mode}",
            uri=True,
            timeout=BUSY_SECONDS,
            isolation_level=None,
            check_same_thread=False,
        )
        try:
            for limit, value in _SQLITE_LIMITS:
                self._db.setlimit(limit, value)
            self._db.execute("PRAGMA trusted_schema = OFF")
            self._db.execute("PRAGMA cell_size_check = ON")
            self._prepare(create)
            self.state()
        except BaseException:
            self._db.close()
            raise

    def _is_readable_as_is(self, error: sqlite3.OperationalError) -> bool:
        """Whether all is in the one file, where those that SQLite keeps beside it cannot be made: on a full disk, or on
        one that is only read.
        """
        code = error.sqlite_errorcode & 0xFF
        log = self.path.with_name(self.path.name + "-wal")
        return code in (*_UNWRITABLE_CODES, *_NO_SPACE_CODES) and (not log.exists() or not log.stat().st_size)

    def _prepare(self, create: bool) -> None:
        """Make the tables of a new file; raise an error unless it has just these: no trigger, no view."""
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
        rows = self._db.execute("SELECT sql FROM sqlite_schema WHERE name NOT LIKE 'sqlite_%'")
        if sorted(sql for (sql,) in rows) != sorted(_CREATE_STATEMENTS):
            raise IndexCorrupt.beyond_repair(f"the index at {self.path.parent} has other tables than ours")
        self._db.execute("PRAGMA synchronous = NORMAL")
        if create:
            self._db.execute("INSERT OR IGNORE INTO views (root) VALUES (?)", (self.root,))

    def _create_tables(self) -> None:
        """Make the tables; until they are there the file has nothing that would be worth waiting for the disk."""
        self._db.execute("PRAGMA synchronous = OFF")
        self._db.execute("PRAGMA journal_mode = MEMORY")
        self._db.execute("PRAGMA journal_mode = WAL")
        with self.transaction():
            for statement in _CREATE_STATEMENTS:
                self._db.execute(statement)
            self._db.execute(f"PRAGMA user_version = {FORMAT}")

    def close(self) -> None:
        """Close the connection."""
        self._db.close()

    @contextmanager
    def transaction(self, kind: str = "IMMEDIATE") -> Iterator[None]:
        """Run what is done inside as one transaction: all of it, or nothing."""
        with translate_errors(self.path):
            self._db.execute(f"BEGIN {kind}")
            try:
                yield
            except BaseException:
                if self._db.in_transaction:  # SQLite may have rolled back by itself
                    self._db.execute("ROLLBACK")
                raise
            self._db.execute("COMMIT")

    def state(self) -> CatalogueState:
        """Read how far the view of this root has come; zeros if it is not there yet."""
        row = self._db.execute(
            "SELECT id, generation, fingerprint, restamps, identity FROM views WHERE root = ?", (self.root,)
        ).fetchone()
        self.view, *state = row or (0, 0, "", 0, "")
        return CatalogueState(*state)


@contextmanager
def translate_errors(path: Path) -> Iterator[None]:
    """Translate SQLite's errors to ours."""
    try:
        yield
    except (sqlite3.IntegrityError, sqlite3.ProgrammingError):
        raise  # a mistake of the program, not of the file
    except zlib.error as error:
        raise IndexCorrupt.beyond_repair(f"the index at {path.parent} is corrupt ({error})") from error
    except sqlite3.DatabaseError as error:
        code = getattr(error, "sqlite_errorcode", sqlite3.SQLITE_ERROR) & 0xFF
        if code in _LOCKED_CODES:
            raise IndexLocked(f"another process is writing the index at {path.parent}: try again") from error
        if code in _UNWRITABLE_CODES:
            raise IndexUnwritable(
                f"the index at {path.parent} cannot be written or opened: {error}"
            ) from error
        if code in _NO_SPACE_CODES:
            raise IndexUnwritable.because(f"the index at {path.parent}", error) from error
        raise IndexCorrupt.beyond_repair(f"the index at {path.parent} is corrupt ({error})") from error
