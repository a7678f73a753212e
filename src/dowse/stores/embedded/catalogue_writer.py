"""Catalogue writer (SQLite): insert and tombstone files of a view by generation, garbage-collect unused contents."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable, Mapping, Sequence
from pathlib import Path

from dowse.serialization import deflate
from dowse.stores import row_codec
from dowse.stores.embedded.catalogue import RETAINED_GENERATIONS, SqliteCatalogue, hash_text, split_keys
from dowse.stores.protocol import merge_watched
from dowse.types.discovered import FileStamp, IndexReport, SourceFile, WatchedPath, WatchedTimes

SPARE_CONTENTS_SHARE = 1.0
"""Contents that no file uses are kept (a branch may come back) up to this share of those in use."""

NameRow = tuple[str, int, int, int, str | None, str]
"""Name in lower case, content, number of the entity, number of the chunk, name if it is not the first, kind."""


class SqliteCatalogueWriter(SqliteCatalogue):
    """Changes one view of the catalogue: call its methods inside a transaction, except for those that read."""

    def __init__(self, path: Path, root: str) -> None:
        super().__init__(path, root, create=True)

    def begin_generation(self) -> int:
        """Begin the next generation, and drop rows that only generations before those retained could see."""
        generation = self.state().generation + 1
        self._delete_files("view = ? AND removed <= ?", (self.view, generation - RETAINED_GENERATIONS))
        self._db.execute("UPDATE views SET generation = ? WHERE id = ?", (generation, self.view))
        return generation

    def _delete_files(self, which: str, bounds: tuple[int, ...]) -> None:
        """Drop the rows of some files; their contents stay."""
        for table in ("file_vectors", "secrets"):
            self._db.execute(
                f"DELETE FROM {table} WHERE file IN (SELECT id FROM files WHERE {which})", bounds
            )
        self._db.execute(f"DELETE FROM files WHERE {which}", bounds)

    def remove(self, paths: Iterable[str], generation: int) -> list[int]:
        """Mark the files at these paths as removed, and return their ids."""
        gone = []
        for path in paths:
            where = "WHERE view = ? AND path = ? AND removed IS NULL"
            if row := self._db.execute(f"SELECT id FROM files {where}", (self.view, path)).fetchone():
                self._db.execute(f"UPDATE files SET removed = ? {where}", (generation, self.view, path))
                gone.append(row[0])
        return gone

    def add(self, files: Sequence[SourceFile], generation: int, fingerprint: str) -> list[int]:
        """Insert files (and their contents, if new) and return their ids; those that await vectors have no fingerprint.

        What a file has many rows of is inserted for all of them at once, in the order of the table.
        """
        names: list[NameRow] = []
        ids = [self._insert_file(file, generation, fingerprint, names) for file in files]
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

    def _insert_file(
        self,
        file: SourceFile,
        generation: int,
        fingerprint: str,
        names: list[NameRow],
    ) -> int:
        """Insert a file and its content; what is to be inserted of its names is added to the others."""
        content = self._insert_content(file, names)
        name = file.path.rpartition("/")[2].lower()
        cursor = self._db.execute(
            "INSERT INTO files (view, path, name_key, stem_key, content, size, mtime_ns, ctime_ns, is_trusted, "
            "role, fingerprint, added) VALUES (?,?,?,?,?,?,?,?,?,?,?,?)",
            (
                self.view, file.path, name, name.lstrip(".").partition(".")[0], content,
                *file.stamp, file.role.value,
                "" if file.awaits_vectors else fingerprint, generation,
            ),
        )  # fmt: skip
        assert cursor.lastrowid is not None
        return cursor.lastrowid

    def _insert_content(self, file: SourceFile, names: list[NameRow]) -> int:
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
                row_codec.pack_parsed(parsed),
                deflate(file.content),
                hash_text(file.content_hash, file.content),
            ),
        )
        id = cursor.lastrowid
        assert id is not None
        self._db.execute("INSERT INTO mentions VALUES (?, ?)", (id, file.references))
        for chunk, ordinals in enumerate(file.definitions):
            for ordinal in ordinals:
                name, kind = parsed.entities[ordinal].name, parsed.entities[ordinal].kind
                key = name.lower()
                names.append((key, id, ordinal, chunk, name if name != key else None, kind.value))
        return id

    def restamp(
        self,
        stamps: Mapping[str, FileStamp],
        watched: WatchedTimes,
        unwatched: Collection[WatchedPath],
    ) -> None:
        """Note new stamps of unchanged files, and changes in what is watched."""
        self._db.executemany(
            "UPDATE files SET size = ?, mtime_ns = ?, ctime_ns = ?, is_trusted = ? "
            "WHERE view = ? AND path = ? AND removed IS NULL",
            ((*stamp, self.view, path) for path, stamp in stamps.items()),
        )
        if watched or unwatched:
            merged = row_codec.pack_watched(merge_watched(self.list_watched(), watched, unwatched))
            self._db.execute("UPDATE views SET watched = ? WHERE id = ?", (merged, self.view))
        self._db.execute("UPDATE views SET restamps = restamps + 1 WHERE id = ?", (self.view,))

    def finish(self, report: IndexReport, watched: WatchedTimes, fingerprint: str) -> None:
        """Note what a run saw and under which settings; drop views of lost trees and contents that nobody uses."""
        self._db.execute(
            "UPDATE views SET report = ?, watched = ?, fingerprint = ?, restamps = restamps + 1 WHERE id = ?",
            (row_codec.pack_report(report), row_codec.pack_watched(watched), fingerprint, self.view),
        )
        self._drop_lost_views()
        self._collect_garbage()

    def _drop_lost_views(self) -> None:
        """Drop the views of trees that are gone: work trees that were removed, former folders of a project."""
        others = self._db.execute("SELECT id, root FROM views WHERE id != ?", (self.view,)).fetchall()
        for id, root in others:
            if _is_tree_gone(root):
                self._delete_files("view = ?", (id,))
                self._db.execute("DELETE FROM views WHERE id = ?", (id,))

    def _collect_garbage(self) -> None:
        unused = "SELECT id FROM contents WHERE id NOT IN (SELECT content FROM files)"
        (total,) = self._db.execute("SELECT count(*) FROM contents").fetchone()
        (used,) = self._db.execute("SELECT count(DISTINCT content) FROM files").fetchone()
        if total - used <= used * SPARE_CONTENTS_SHARE:
            return
        for table in ("names", "mentions"):
            self._db.execute(f"DELETE FROM {table} WHERE content IN ({unused})")
        self._db.execute(f"DELETE FROM contents WHERE id IN ({unused})")
        self._db.execute("CREATE TEMP TABLE used (key BLOB PRIMARY KEY) WITHOUT ROWID")
        for (keys,) in self._db.execute("SELECT keys FROM file_vectors"):
            self._db.executemany(
                "INSERT OR IGNORE INTO used VALUES (?)", [(key,) for key in split_keys(keys)]
            )
        self._db.execute("DELETE FROM vectors WHERE key NOT IN (SELECT key FROM used)")
        self._db.execute("DROP TABLE used")


def _is_tree_gone(root: str) -> bool:
    """Whether a tree is surely gone; one that cannot be looked at may be there."""
    try:
        os.stat(root)
    except (FileNotFoundError, NotADirectoryError):
        return True
    except OSError:
        return False
    return False
