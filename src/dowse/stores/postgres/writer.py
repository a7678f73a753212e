"""Writing: every ``apply`` is one transaction, so that a reader sees all of it or nothing.

Who writes a view holds its advisory lock for as long as the connection lives: a killed process loses both, and the
last complete generation is what is there. Writers of one repository share its contents; they take turns for the
moment of a commit. If the connection breaks, the writer takes up the lock again and looks whether the commit went
through before it repeats it.
"""

from __future__ import annotations

import json
import zlib
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Any, NamedTuple, TypeVar

import numpy as np
import psycopg
from psycopg import errors as codes
from psycopg import sql

from dowse.code import terms as chunk_fields
from dowse.errors import IndexLocked
from dowse.stores import packing
from dowse.stores.base import merged_folders
from dowse.stores.postgres import conditions, postings, schema
from dowse.stores.postgres.conditions import stored
from dowse.stores.postgres.connection import Connection, ConnectionLost, Connections, unreachable
from dowse.stores.postgres.postings import FIELDS
from dowse.stores.postgres.snapshot import (
    MANIFEST,
    KnownFile,
    ViewState,
    manifest,
    segment,
    unzipped,
    view_state,
)
from dowse.types import CHUNK_BITS, FileStamp, IndexReport, ParsedFile, SourceFile

COMPRESSION = 1
"""zlib level: three quarters of the best ratio at a fraction of its time."""

SPARE_CONTENTS = 1.0
"""Contents that no file uses are kept (a branch may come back) up to this share of those in use."""

DROP_MILLISECONDS = 200
"""How long dropping a table may hold up those who want to read it; if it takes longer, it is left to the next time."""

ATTEMPTS = 3
"""How often a commit is repeated because the connection broke."""

VIEW_LOCK, USE_LOCK, COMMIT_LOCK = 0, 1, 2
"""What an advisory lock is for: to write a view, to rely on a repository's contents, to commit to a repository."""

T = TypeVar("T")

_COPY_HEAD = b"PGCOPY\n\xff\r\n\0" + bytes(8)
_COPY_TAIL = b"\xff\xff"


def lock_keys(schema_oid: int, kind: int, id: int) -> tuple[int, int]:
    """The two numbers of an advisory lock."""
    return schema_oid - (1 << 32) if schema_oid >= 1 << 31 else schema_oid, id * 4 + kind


def schema_oid(connection: Connection, name: str) -> int:
    """The number of the schema: locks of two schemas of a database are apart."""
    row = connection.execute("SELECT oid::bigint FROM pg_namespace WHERE nspname = %s", [name]).fetchone()
    return int(row[0]) if row else 0


class _Removed(NamedTuple):
    """Files that were taken out: their ids, chunks and tokens."""

    ids: list[int]
    chunks: int
    tokens: list[int]


class PostgresWriter:
    """The one writer of a view."""

    def __init__(self, connections: Connections, names: tuple[str, str], fingerprint: str) -> None:
        self._connections = connections
        self._names = names
        self._fingerprint = fingerprint
        self._changed = 0
        self._connection = self._locked_connection()

    def close(self) -> None:
        """Let go of the lock, then of the connection: the server notices the end of a connection a moment later."""
        with suppress(psycopg.Error):  # a connection that is lost has lost its locks
            self._connection.rollback()
            self._connection.execute("SELECT pg_advisory_unlock_all()")
        self._connection.close()

    # --- the lock ---

    def _locked_connection(self) -> Connection:
        connection = self._connections.open(writing=True)
        try:
            with self._connections.mapped(writing=True):
                schema.require_current(self._connections, connection)
                self._lock(connection)
        except BaseException:
            connection.close()
            raise
        return connection

    def _lock(self, connection: Connection) -> None:
        repository, view = self._names
        oid, state = schema_oid(connection, self._connections.server.schema), None
        while state is None:  # a view may be cleared between a look at it and its lock
            id = self._made_view(connection)
            keys = lock_keys(oid, VIEW_LOCK, id)
            row = connection.execute("SELECT pg_try_advisory_lock(%s, %s)", keys).fetchone()
            if not (row and row[0]):
                raise IndexLocked(
                    f"another process{_holder(connection, keys)} is writing the index of {view} at "
                    f"{self._connections.server.shown}: wait for it to finish, or stop it"
                )
            state = view_state(connection, repository, view)
            if state is not None and state.id != id:
                state = None
        connection.execute(
            "SELECT pg_advisory_lock_shared(%s, %s)", lock_keys(oid, USE_LOCK, state.repository)
        )
        self.schema_oid, self.view, self.repository = oid, state.id, state.repository

    def _made_view(self, connection: Connection) -> int:
        repository, view = self._names
        connection.execute("INSERT INTO repositories (name) VALUES (%s) ON CONFLICT DO NOTHING", [repository])
        connection.execute(
            "INSERT INTO views (repository, name) SELECT id, %s FROM repositories WHERE name = %s "
            "ON CONFLICT DO NOTHING",
            [view, repository],
        )
        state = view_state(connection, repository, view)
        return state.id if state else 0

    # --- asking ---

    def _run(self, work: Callable[[Connection], T]) -> T:
        """Do something that may be repeated."""
        for attempt in range(ATTEMPTS):
            try:
                with self._connections.mapped(writing=True):
                    return work(self._connection)
            except ConnectionLost as error:
                if attempt == ATTEMPTS - 1:
                    raise unreachable(self._connections.server, error) from error
                self._connection.close()
                self._connection = self._locked_connection()
        raise AssertionError  # the last attempt returns or raises

    def _state(self, connection: Connection) -> ViewState:
        state = view_state(connection, *self._names)
        assert state is not None, "the view is there as long as it is locked"
        return state

    def manifest(self, paths: Collection[str] | None = None) -> Mapping[str, KnownFile]:
        """Every file by path; those written under other settings do not count as known."""
        some = "" if paths is None else " AND f.path = ANY(%s)"
        values = [self.view] if paths is None else [self.view, list(map(stored, paths))]
        rows = self._run(lambda c: c.execute(MANIFEST + some, values, binary=True).fetchall())
        return {
            path: file
            if file.fingerprint == self._fingerprint
            else replace(file, stamp=FileStamp(-1, -1), content_hash=b"")
            for path, file in manifest(rows).items()
        }

    def parsed(self, content_hash: bytes) -> ParsedFile | None:
        """What is known of a content."""
        row = self._run(
            lambda c: c.execute(
                "SELECT language, health, parsed FROM contents WHERE repository = %s AND hash = %s",
                [self.repository, content_hash],
                binary=True,
            ).fetchone()
        )
        return packing.unpacked(row[0], row[1], unzipped(row[2]).decode()) if row else None

    def vectors(self, keys: Sequence[bytes]) -> dict[bytes, bytes]:
        """Vectors computed before."""
        if not keys:
            return {}
        rows = self._run(
            lambda c: c.execute(
                "SELECT key, vector FROM vectors WHERE repository = %s AND key = ANY(%s)",
                [self.repository, list(keys)],
                binary=True,
            ).fetchall()
        )
        return dict(rows)

    # --- writing ---

    def apply(self, removed: Sequence[str], files: Sequence[SourceFile]) -> int:
        """One generation, in one transaction; repeated if it is sure that it did not go through."""
        by_path = {file.path: file for file in files}  # of two at one path the later one
        packed = postings.pack([file.terms for file in by_path.values()])
        expected = self._run(lambda c: self._state(c).generation) + 1

        def commit(connection: Connection) -> int:
            state = self._state(connection)
            if state.generation == expected:
                return expected  # it went through before the connection broke
            with connection.transaction():
                self._one_at_a_time(connection)
                _Commit(connection, state, self._fingerprint).write(removed, list(by_path.values()), packed)
            return expected

        generation = self._run(commit)
        self._changed += len(files) + len(removed)
        return generation

    def _one_at_a_time(self, connection: Connection) -> None:
        keys = lock_keys(self.schema_oid, COMMIT_LOCK, self.repository)
        connection.execute("SET LOCAL lock_timeout = 0")  # others may have much to write
        connection.execute("SELECT pg_advisory_xact_lock(%s, %s)", keys)

    def restamp(self, stamps: Mapping[str, FileStamp], folders: Mapping[str, int] | None = None) -> None:
        """Note new stamps of unchanged files, and new times of folders."""

        def work(connection: Connection) -> None:
            with connection.transaction():
                connection.execute(
                    "UPDATE files f SET size = s.size, mtime_ns = s.mtime_ns "
                    "FROM unnest(%s::text[], %s::bigint[], %s::bigint[]) s (path, size, mtime_ns) "
                    "WHERE f.view = %s AND f.path = s.path",
                    [
                        list(map(stored, stamps)),
                        [stamp.size for stamp in stamps.values()],
                        [stamp.mtime_ns for stamp in stamps.values()],
                        self.view,
                    ],
                )
                if folders:
                    row = connection.execute(
                        "SELECT folders FROM views WHERE id = %s", [self.view]
                    ).fetchone()
                    known = json.loads(row[0]) if row and row[0] else {}
                    connection.execute(
                        "UPDATE views SET folders = %s WHERE id = %s",
                        [json.dumps(merged_folders(known, folders)), self.view],
                    )
                connection.execute("UPDATE views SET restamps = restamps + 1 WHERE id = %s", [self.view])

        self._run(work)

    def finish(self, report: IndexReport, folders: Mapping[str, int]) -> None:
        """Record what the run saw, under the settings in force; then put the house in order."""

        def work(connection: Connection) -> None:
            connection.execute(
                "UPDATE views SET report = %s, folders = %s, fingerprint = %s, restamps = restamps + 1, "
                "written = now() WHERE id = %s",
                [packing.packed_report(report), json.dumps(dict(folders)), self._fingerprint, self.view],
            )

        self._run(work)
        self._run(self._tidy)

    def clear(self) -> None:
        """Forget the view and what only it used. Its dense indexes go now, or later if somebody reads them."""

        def work(connection: Connection) -> list[int]:
            with connection.transaction():
                self._one_at_a_time(connection)
                return drop_view(connection, self.schema_oid, self.repository, self.view)

        for dimensions in self._run(work):
            drop_dense(self._connection, self.view, dimensions)

    def _tidy(self, connection: Connection) -> None:
        """Contents that nobody has used for long go, large dense indexes get their graph, plans their figures."""
        state = self._state(connection)
        with connection.transaction():
            collect(connection, self.schema_oid, self.repository, spare=SPARE_CONTENTS)
        for dimensions in state.dimensions:
            schema.build_graph(connection, self.view, dimensions)
        if 10 * self._changed > state.files:
            tables = [sql.Identifier(name) for name in ("files", "names", "contents")]
            tables += [schema.dense_table(self.view, dimensions) for dimensions in state.dimensions]
            connection.execute(sql.SQL("ANALYZE {}").format(sql.SQL(", ").join(tables)))
        self._changed = 0


def _holder(connection: Connection, keys: tuple[int, int]) -> str:
    """Who has a lock, as the server knows them."""
    row = connection.execute(
        "SELECT application_name FROM pg_locks l JOIN pg_stat_activity a USING (pid) WHERE locktype = 'advisory' "
        "AND classid = %s::bigint::oid AND objid = %s AND objsubid = 2 AND granted",
        [keys[0] % (1 << 32), keys[1]],
    ).fetchone()
    return f" ({row[0].removeprefix('dowse ').replace(' ', ', pid ')})" if row and row[0] else ""


class _Commit:
    """What one transaction writes."""

    def __init__(self, connection: Connection, state: ViewState, fingerprint: str) -> None:
        self._connection = connection
        self._state = state
        self._fingerprint = fingerprint
        self._view = state.id
        self._segment = state.generation + 1

    def write(self, removed: Sequence[str], files: Sequence[SourceFile], packed: postings.Packed) -> None:
        """Take paths out, put files in, and count on."""
        gone = self._remove([*removed, *(file.path for file in files)])
        first = self._first_id(len(files))
        contents = self._contents(files)
        self._files(files, first, contents, packed)
        self._vectors(files)
        dimensions = self._dense(files, first)
        self._postings(first, packed)
        self._merge()
        new = [sum(column) for column in zip(*packed.tokens, strict=True)] or [0] * len(FIELDS)
        tokens = [t + n - g for t, n, g in zip(self._state.tokens, new, gone.tokens, strict=True)]
        self._connection.execute(
            "UPDATE views SET generation = generation + 1, files = files + %s, chunks = chunks + %s, tokens = %s, "
            "dimensions = %s, next_file = next_file + %s, written = now() WHERE id = %s",
            [
                len(files) - len(gone.ids),
                sum(packed.chunks) - gone.chunks,
                tokens,
                dimensions,
                len(files),
                self._view,
            ],
        )

    def _copy(self, into: str, types: Sequence[str], rows: Iterable[Sequence[Any]]) -> None:
        with (
            self._connection.cursor() as cursor,
            cursor.copy(f"COPY {into} FROM STDIN (FORMAT BINARY)") as copy,
        ):
            copy.set_types(types)
            for row in rows:
                copy.write_row(row)

    def _remove(self, paths: Sequence[str]) -> _Removed:
        rows = self._connection.execute(
            "DELETE FROM files WHERE view = %s AND path = ANY(%s) RETURNING id, segment, chunks, tokens",
            [self._view, list(map(stored, paths))],
            binary=True,
        ).fetchall()
        by_segment: dict[int, list[int]] = {}
        for id, number, _, _ in rows:
            by_segment.setdefault(number, []).append(id)
        for number, ids in by_segment.items():
            self._connection.execute(
                "UPDATE segments SET removed = removed || %s::bigint[] WHERE view = %s AND number = %s",
                [ids, self._view, number],
            )
        gone = [row[0] for row in rows]
        for dimensions in self._state.dimensions if gone else ():
            self._connection.execute(
                sql.SQL(
                    "DELETE FROM {} d USING unnest(%s::bigint[]) id "
                    "WHERE d.chunk BETWEEN id << 20 AND id << 20 | 1048575"
                ).format(schema.dense_table(self._view, dimensions)),
                [gone],
            )
        tokens = [sum(column) for column in zip(*(row[3] for row in rows), strict=True)] or [0] * len(FIELDS)
        return _Removed(gone, sum(row[2] for row in rows), tokens)

    def _first_id(self, count: int) -> int:
        row = self._connection.execute("SELECT next_file FROM views WHERE id = %s", [self._view]).fetchone()
        assert row is not None
        return int(row[0])

    def _contents(self, files: Sequence[SourceFile]) -> dict[bytes, int]:
        """Ids of contents by hash; those that are new are written."""
        by_hash = {file.content_hash: file for file in reversed(files)}
        known: dict[bytes, int] = dict(
            self._connection.execute(
                "SELECT hash, id FROM contents WHERE repository = %s AND hash = ANY(%s)",
                [self._state.repository, list(by_hash)],
                binary=True,
            ).fetchall()
        )
        new = [file for digest, file in by_hash.items() if digest not in known]
        ids = self._new_content_ids(len(new))
        self._copy(
            "contents (id, repository, hash, language, health, entity_count, chunk_count, parsed, mentions, "
            "text)",
            ["int8", "int4", "bytea", "text", "text", "int4", "int4", "bytea", "bytea", "bytea"],
            (self._content_row(id, file) for id, file in zip(ids, new, strict=True)),
        )
        self._copy(
            "names (content, ordinal, repository, chunk, around, kind, name, name_key, letters)",
            ["int8", "int4", "int4", "int4", "int4[]", "text", "text", "text", "int8"],
            (row for id, file in zip(ids, new, strict=True) for row in self._name_rows(id, file.parsed)),
        )
        return known | {file.content_hash: id for id, file in zip(ids, new, strict=True)}

    def _new_content_ids(self, count: int) -> list[int]:
        rows = self._connection.execute(
            "SELECT nextval(pg_get_serial_sequence('contents', 'id')) FROM generate_series(1, %s)", [count]
        ).fetchall()
        return [row[0] for row in rows]

    def _content_row(self, id: int, file: SourceFile) -> tuple[Any, ...]:
        parsed = file.parsed
        return (
            id, self._state.repository, file.content_hash, parsed.language, parsed.health.value,
            len(parsed.entities), len(parsed.chunks),
            zlib.compress(packing.packed(parsed).encode(), COMPRESSION), file.references,
            zlib.compress(file.content, COMPRESSION),
        )  # fmt: skip

    def _name_rows(self, id: int, parsed: ParsedFile) -> Iterator[tuple[Any, ...]]:
        around: dict[int, list[int]] = {}
        for place, chunk in enumerate(parsed.chunks):
            if chunk.entity is not None:
                around.setdefault(chunk.entity, []).append(place)
        chunks = chunk_fields.chunks_of_entities(parsed)
        for i, entity in enumerate(parsed.entities):
            key = stored(entity.name.lower())
            yield (
                id, i, self._state.repository, chunks[i], around.get(i, []), entity.kind.value,
                stored(entity.name), key, conditions.letters(key),
            )  # fmt: skip

    def _files(
        self, files: Sequence[SourceFile], first: int, contents: Mapping[bytes, int], packed: postings.Packed
    ) -> None:
        self._copy(
            "files (view, id, segment, path, name_key, stem_key, content, language, role, size, mtime_ns, "
            "fingerprint, chunks, tokens, vectors, secrets)",
            [
                "int4", "int8", "int4", "text", "text", "text", "int8", "text", "text", "int8", "int8", "text",
                "int4", "int4[]", "bytea[]", "text",
            ],
            (
                self._file_row(first + i, file, contents[file.content_hash], tokens)
                for i, (file, tokens) in enumerate(zip(files, packed.tokens, strict=True))
            ),
        )  # fmt: skip

    def _file_row(self, id: int, file: SourceFile, content: int, tokens: list[int]) -> tuple[Any, ...]:
        path = stored(file.path)
        name = path.rpartition("/")[2].lower()
        return (
            self._view, id, self._segment, path, name, name.lstrip(".").partition(".")[0], content,
            file.parsed.language, file.role.value, file.stamp.size, file.stamp.mtime_ns,
            "" if file.awaits_vectors else self._fingerprint, len(file.terms), tokens,
            [vector.key for vector in file.vectors], json.dumps([(s.line, s.rule) for s in file.secrets]),
        )  # fmt: skip

    def _vectors(self, files: Sequence[SourceFile]) -> None:
        """Vectors by key, in full: who embeds the same text again need not."""
        vectors = {vector.key: vector.vector for file in files for vector in file.vectors}
        if not vectors:
            return
        known = {
            key
            for (key,) in self._connection.execute(
                "SELECT key FROM vectors WHERE repository = %s AND key = ANY(%s)",
                [self._state.repository, list(vectors)],
                binary=True,
            )
        }
        self._copy(
            "vectors (repository, key, vector)",
            ["int4", "bytea", "bytea"],
            ((self._state.repository, key, vectors[key]) for key in sorted(vectors.keys() - known)),
        )

    def _dense(self, files: Sequence[SourceFile], first: int) -> list[int]:
        """The dense index, a table for each length of vectors; the lengths there are."""
        known = list(self._state.dimensions)
        groups: dict[int, tuple[list[int], list[bytes]]] = {}
        for i, file in enumerate(files):
            for ordinal, (_, vector) in enumerate(file.vectors):
                ids, parts = groups.setdefault(len(vector) // 4, ([], []))
                ids.append((first + i) << CHUNK_BITS | ordinal)
                parts.append(vector)
        for dimensions, (ids, parts) in groups.items():
            if dimensions not in known:
                schema.create_dense(self._connection, self._view, dimensions)
                known.append(dimensions)
            copy_in = sql.SQL("COPY {} (chunk, embedding) FROM STDIN (FORMAT BINARY)").format(
                schema.dense_table(self._view, dimensions)
            )
            with self._connection.cursor() as cursor, cursor.copy(copy_in) as copy:
                copy.write(_COPY_HEAD + _dense_rows(ids, b"".join(parts), dimensions) + _COPY_TAIL)
        return known

    def _postings(self, first: int, packed: postings.Packed) -> None:
        if not packed.chunks:
            return
        ids = np.arange(first, first + len(packed.chunks), dtype="<i8")
        self._write_segment(self._segment, ids, np.array(packed.chunks, dtype="<i4"), packed.lists)

    def _write_segment(
        self, number: int, files: Any, chunks: Any, lists: Iterable[tuple[str, bytes]]
    ) -> None:
        self._connection.execute(
            "INSERT INTO segments (view, number, files, chunks) VALUES (%s, %s, %s, %s)",
            [self._view, number, files.astype("<i8").tobytes(), chunks.astype("<i4").tobytes()],
        )
        self._copy(
            "postings (view, segment, token, data)",
            ["int4", "int4", "text", "bytea"],
            ((self._view, number, token, data) for token, data in lists),
        )

    def _merge(self) -> None:
        """Put small segments together, one time; more of them are left to the next commits."""
        rows = self._connection.execute(
            "SELECT number, files, chunks, removed FROM segments WHERE view = %s ORDER BY number",
            [self._view],
            binary=True,
        ).fetchall()
        chosen = postings.to_merge([segment(*row) for row in rows])
        if not chosen:
            return
        numbers = [one.number for one in chosen]
        lists = self._connection.execute(
            "SELECT token, segment, data FROM postings WHERE view = %s AND segment = ANY(%s) ORDER BY token",
            [self._view, numbers],
            binary=True,
        ).fetchall()
        files, chunks, merged = postings.merged(chosen, lists)
        for table, column in (("postings", "segment"), ("segments", "number")):
            self._connection.execute(
                f"DELETE FROM {table} WHERE view = %s AND {column} = ANY(%s)", [self._view, numbers]
            )
        if len(files):
            self._write_segment(max(numbers), files, chunks, merged)
            self._connection.execute(
                "UPDATE files SET segment = %s WHERE view = %s AND id = ANY(%s)",
                [max(numbers), self._view, files.tolist()],
            )


def _dense_rows(ids: Sequence[int], vectors: bytes, dimensions: int) -> bytes:
    """Rows of a dense table as COPY takes them: two fields, each after its length; numbers in network order."""
    row = np.dtype(
        [
            ("fields", ">i2"), ("id_size", ">i4"), ("id", ">i8"),
            ("size", ">i4"), ("dimensions", ">i2"), ("unused", ">i2"), ("numbers", ">f2", (dimensions,)),
        ]
    )  # fmt: skip
    rows = np.zeros(len(ids), dtype=row)
    rows["fields"], rows["id_size"], rows["id"] = 2, 8, ids
    rows["size"], rows["dimensions"] = 4 + 2 * dimensions, dimensions
    rows["numbers"] = np.frombuffer(vectors, dtype="<f4").reshape(len(ids), dimensions)
    return rows.tobytes()


def collect(connection: Connection, oid: int, repository: int, *, spare: float = 0.0) -> tuple[int, int]:
    """Drop contents and vectors that no view of a repository uses, unless they are few; how many went.

    Nothing happens while another writer relies on what the repository has.
    """
    free = connection.execute(
        "SELECT pg_try_advisory_xact_lock(%s, %s)", lock_keys(oid, USE_LOCK, repository)
    ).fetchone()
    if not (free and free[0]):
        return 0, 0
    used = "SELECT content FROM files f JOIN views v ON v.id = f.view WHERE v.repository = %s"
    row = connection.execute(
        f"SELECT count(*), (SELECT count(DISTINCT content) FROM ({used}) u) FROM contents WHERE repository = %s",
        [repository, repository],
    ).fetchone()
    total, in_use = row or (0, 0)
    if total - in_use <= in_use * spare:
        return 0, 0
    gone = connection.execute(
        f"DELETE FROM contents WHERE repository = %s AND id NOT IN ({used}) RETURNING id",
        [repository, repository],
    ).fetchall()
    connection.execute("DELETE FROM names WHERE content = ANY(%s)", [[id for (id,) in gone]])
    vectors = connection.execute(
        "DELETE FROM vectors WHERE repository = %s AND key NOT IN (SELECT unnest(f.vectors) FROM files f "
        "JOIN views v ON v.id = f.view WHERE v.repository = %s)",
        [repository, repository],
    ).rowcount
    return len(gone), vectors


def drop_view(connection: Connection, oid: int, repository: int, view: int) -> list[int]:
    """Forget a view, and its repository if it was the last; the lengths of its vectors."""
    row = connection.execute("DELETE FROM views WHERE id = %s RETURNING dimensions", [view]).fetchone()
    for table in ("files", "segments", "postings", "kept"):
        connection.execute(f"DELETE FROM {table} WHERE view = %s", [view])
    collect(connection, oid, repository)
    connection.execute(
        "DELETE FROM repositories r WHERE id = %s AND NOT EXISTS (SELECT FROM views WHERE repository = r.id) "
        "AND NOT EXISTS (SELECT FROM contents WHERE repository = r.id)",
        [repository],
    )
    return list(row[0]) if row else []


def drop_dense(connection: Connection, view: int, dimensions: int) -> bool:
    """Drop a dense index unless somebody is reading it."""
    try:
        with connection.transaction():
            connection.execute(f"SET LOCAL lock_timeout = '{DROP_MILLISECONDS}ms'")
            connection.execute(
                sql.SQL("DROP TABLE IF EXISTS {}").format(schema.dense_table(view, dimensions))
            )
    except codes.LockNotAvailable:
        return False
    return True
