"""Writer of a view on PostgreSQL: atomic commits, one transaction each, under an advisory lock, with retry.

The lock is held for as long as the connection lives: a killed process loses both, and the last complete generation is
what is there. Writers of one repository share its contents, and take turns for the moment of a commit. If the
connection breaks, the writer takes up the lock again and looks whether the commit went through before it repeats it.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import TypeVar

import psycopg
from psycopg import sql

from dowse.errors import IndexLocked
from dowse.stores import row_codec
from dowse.stores.channels_protocol import PlannedCommit, VisibleGeneration
from dowse.stores.postgres import planned, schema
from dowse.stores.postgres.connection import Connection, ConnectionLost, Connections, connection_lost_error
from dowse.stores.postgres.deletion import collect, drop_dense, drop_view
from dowse.stores.postgres.files import inflate_value
from dowse.stores.postgres.filter_sql import to_sql_text
from dowse.stores.postgres.locks import (
    COMMIT_LOCK,
    USE_LOCK,
    VIEW_LOCK,
    describe_holder,
    lock_keys,
    schema_oid,
)
from dowse.stores.postgres.state import (
    SELECT_MANIFEST,
    ManifestRow,
    ViewState,
    build_manifest,
    read_view_state,
)
from dowse.stores.protocol import merge_watched
from dowse.types.discovered import FileStamp, IndexReport, SourceFile, WatchedPath, WatchedTimes
from dowse.types.source import ParsedFile

SPARE_CONTENTS_SHARE = 1.0
"""Contents that no file uses are kept (a branch may come back) up to this share of those in use."""

COMMIT_ATTEMPTS = 3
"""How often a commit is repeated because the connection broke."""

T = TypeVar("T")


class PostgresCatalogueWriter:
    """The one writer of a view, which holds its advisory lock: as far as files are concerned."""

    repaired: tuple[str, ...] = ()

    def __init__(self, connections: Connections, names: tuple[str, str], fingerprint: str) -> None:
        self._connections = connections
        self._names = names
        self._fingerprint = fingerprint
        self._changed_files = 0
        self._connection = self._open_locked_connection()

    def close(self) -> None:
        """Release the lock, then the connection: the server notices a closed connection a moment later."""
        with suppress(psycopg.Error):  # a connection that is lost has lost its locks
            self._connection.rollback()
            self._connection.execute("SELECT pg_advisory_unlock_all()")
        self._connection.close()

    # --- the lock ---

    def _open_locked_connection(self) -> Connection:
        connection = self._connections.open(writing=True)
        try:
            with self._connections.translate_errors(writing=True):
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
            id = self._ensure_view(connection)
            keys = lock_keys(oid, VIEW_LOCK, id)
            row = connection.execute("SELECT pg_try_advisory_lock(%s, %s)", keys).fetchone()
            if not (row and row[0]):
                raise IndexLocked(
                    f"another process{describe_holder(connection, keys)} is writing the index of {view} at "
                    f"{self._connections.server.display_url}: wait for it to finish, or stop it"
                )
            state = read_view_state(connection, repository, view)
            if state is not None and state.id != id:
                state = None
        connection.execute(
            "SELECT pg_advisory_lock_shared(%s, %s)", lock_keys(oid, USE_LOCK, state.repository)
        )
        self.schema_oid, self.view, self.repository = oid, state.id, state.repository

    def _ensure_view(self, connection: Connection) -> int:
        repository, view = self._names
        connection.execute("INSERT INTO repositories (name) VALUES (%s) ON CONFLICT DO NOTHING", [repository])
        connection.execute(
            "INSERT INTO views (repository, name) SELECT id, %s FROM repositories WHERE name = %s "
            "ON CONFLICT DO NOTHING",
            [view, repository],
        )
        state = read_view_state(connection, repository, view)
        return state.id if state else 0

    # --- reading ---

    def _retry(self, work: Callable[[Connection], T]) -> T:
        """Run something that may be repeated; again if the connection breaks."""
        for attempt in range(COMMIT_ATTEMPTS):
            try:
                with self._connections.translate_errors(writing=True):
                    return work(self._connection)
            except ConnectionLost as error:
                if attempt == COMMIT_ATTEMPTS - 1:
                    raise connection_lost_error(self._connections.server, error) from error
                self._connection.close()
                self._connection = self._open_locked_connection()
        raise AssertionError  # the last attempt returns or raises

    def _state(self, connection: Connection) -> ViewState:
        state = read_view_state(connection, *self._names)
        assert state is not None, "the view is there as long as it is locked"
        return state

    def manifest(self, paths: Collection[str] | None = None) -> Mapping[str, ManifestRow]:
        """List every file by path; those written under other settings do not count as known."""
        some = "" if paths is None else " AND f.path = ANY(%s)"
        values = [self.view] if paths is None else [self.view, list(map(to_sql_text, paths))]
        rows = self._retry(lambda c: c.execute(SELECT_MANIFEST + some, values, binary=True).fetchall())
        return {
            path: file
            if file.fingerprint == self._fingerprint
            else replace(file, stamp=file.stamp._replace(is_trusted=False), content_hash=b"")
            for path, file in build_manifest(rows).items()
        }

    def find_parsed(self, content_hash: bytes) -> ParsedFile | None:
        """Find what was parsed of a content before."""
        row = self._retry(
            lambda c: c.execute(
                "SELECT language, health, parsed FROM contents WHERE repository = %s AND hash = %s",
                [self.repository, content_hash],
                binary=True,
            ).fetchone()
        )
        return row_codec.unpack_parsed(row[0], row[1], inflate_value(row[2])) if row else None

    def find_vectors(self, keys: Sequence[bytes]) -> dict[bytes, bytes]:
        """Find vectors that were computed before."""
        if not keys:
            return {}
        rows = self._retry(
            lambda c: c.execute(
                "SELECT key, vector FROM vectors WHERE repository = %s AND key = ANY(%s)",
                [self.repository, list(keys)],
                binary=True,
            ).fetchall()
        )
        return dict(rows)

    # --- writing ---

    def visible(self) -> VisibleGeneration:
        """Read what of the channels belongs to the newest generation."""
        return self._retry(lambda c: planned.read_visible(c, self._state(c), self._names[0]))

    def plan(self, removed: Sequence[str], files: Sequence[SourceFile]) -> PlannedCommit:
        """Give numbers to a commit and its files."""
        return self._retry(lambda c: planned.plan_commit(c, self._state(c), self._names[0], removed, files))

    def publish(self, commit: PlannedCommit) -> None:
        """Make the commit visible, in one transaction; repeat it if it surely did not go through."""

        def work(connection: Connection) -> None:
            state = self._state(connection)
            if state.generation == commit.generation:
                return  # it went through before the connection broke
            with connection.transaction():
                self._lock_commits(connection)
                planned.publish_commit(connection, state, self._fingerprint, commit)

        self._retry(work)
        self._changed_files += len(commit.added) + len(commit.removed)

    def forget_abandoned(self, visible: VisibleGeneration) -> None:
        """Forget commits that were abandoned long ago, and swept since."""
        self._retry(lambda c: planned.forget_abandoned(c, self.view, visible.generation))

    def _lock_commits(self, connection: Connection) -> None:
        keys = lock_keys(self.schema_oid, COMMIT_LOCK, self.repository)
        connection.execute("SET LOCAL lock_timeout = 0")  # others may have much to write
        connection.execute("SELECT pg_advisory_xact_lock(%s, %s)", keys)

    def restamp(
        self,
        stamps: Mapping[str, FileStamp],
        watched: WatchedTimes | None = None,
        unwatched: Collection[WatchedPath] = (),
    ) -> None:
        """Note new stamps of unchanged files, and changes in what is watched."""

        def work(connection: Connection) -> None:
            with connection.transaction():
                connection.execute(
                    "UPDATE files f SET size = s.size, mtime_ns = s.mtime_ns, ctime_ns = s.ctime_ns, "
                    "is_trusted = s.is_trusted "
                    "FROM unnest(%s::text[], %s::bigint[], %s::bigint[], %s::bigint[], %s::boolean[]) "
                    "s (path, size, mtime_ns, ctime_ns, is_trusted) "
                    "WHERE f.view = %s AND f.path = s.path",
                    [
                        list(map(to_sql_text, stamps)),
                        [stamp.size for stamp in stamps.values()],
                        [stamp.mtime_ns for stamp in stamps.values()],
                        [stamp.ctime_ns for stamp in stamps.values()],
                        [stamp.is_trusted for stamp in stamps.values()],
                        self.view,
                    ],
                )
                if watched or unwatched:
                    row = connection.execute(
                        "SELECT watched FROM views WHERE id = %s", [self.view]
                    ).fetchone()
                    known = row_codec.unpack_watched(row[0] if row else None)
                    connection.execute(
                        "UPDATE views SET watched = %s WHERE id = %s",
                        [row_codec.pack_watched(merge_watched(known, watched or {}, unwatched)), self.view],
                    )
                connection.execute("UPDATE views SET restamps = restamps + 1 WHERE id = %s", [self.view])

        self._retry(work)

    def finish(self, report: IndexReport, watched: WatchedTimes) -> None:
        """Record what the run saw, under the settings in force; then tidy up."""

        def work(connection: Connection) -> None:
            connection.execute(
                "UPDATE views SET report = %s, watched = %s, fingerprint = %s, restamps = restamps + 1, "
                "written = now() WHERE id = %s",
                [
                    row_codec.pack_report(report),
                    row_codec.pack_watched(watched),
                    self._fingerprint,
                    self.view,
                ],
            )

        self._retry(work)
        self._retry(self._tidy)

    def clear(self) -> None:
        """Delete the view and what only it used. Its dense indexes go now, or later if somebody reads them."""

        def work(connection: Connection) -> list[int]:
            with connection.transaction():
                self._lock_commits(connection)
                return drop_view(connection, self.schema_oid, self.repository, self.view)

        for dimensions in self._retry(work):
            drop_dense(self._connection, self.view, dimensions)

    def _tidy(self, connection: Connection) -> None:
        """Drop contents that nobody uses, give large dense indexes their graph, and update the planner's statistics."""
        state = self._state(connection)
        with connection.transaction():
            collect(connection, self.schema_oid, self.repository, spare=SPARE_CONTENTS_SHARE)
        for dimensions in state.dimensions:
            schema.build_graph(connection, self.view, dimensions)
        if 10 * self._changed_files > state.files:
            tables = [sql.Identifier(name) for name in ("files", "names", "contents")]
            tables += [schema.dense_table(self.view, dimensions) for dimensions in state.dimensions]
            connection.execute(sql.SQL("ANALYZE {}").format(sql.SQL(", ").join(tables)))
        self._changed_files = 0
