"""Catalogue on PostgreSQL: generations, files, contents and blobs of one view, and who writes it.

The whole store on PostgreSQL is this with channels in the same transactions; a cluster has its channels elsewhere.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from typing import Any, TypeVar

from dowse.stores import row_codec
from dowse.stores.postgres import maintenance, schema
from dowse.stores.postgres.catalogue_snapshot import PostgresCatalogueSnapshot, missing_index_error
from dowse.stores.postgres.connection import (
    Connection,
    ConnectionLost,
    Connections,
    Server,
    connection_lost_error,
)
from dowse.stores.postgres.read_cache import ReadCache
from dowse.stores.postgres.state import ViewState, begin_read, read_view_state
from dowse.stores.postgres.transaction import Transaction
from dowse.stores.postgres.view_writer import PostgresCatalogueWriter
from dowse.types.source import MaskedSecret
from dowse.types.stored import Collected, IndexState, IndexStatus, ServerStatus

SomeWriter = TypeVar("SomeWriter", bound=PostgresCatalogueWriter)


class PostgresCatalogue:
    """The files of one view on a server. Safe to use from several threads and processes."""

    has_channels = False

    def __init__(self, server: Server, repository: str, view: str, fingerprint: str) -> None:
        self.server = server
        self.fingerprint = fingerprint
        self.names = (repository, view)
        self.connections = Connections(server)
        self._guard = threading.Lock()
        self._cache = ReadCache()
        self._is_checked = False  # whether the tables are known to be those of this version

    @property
    def location(self) -> str:
        """Where the index is, for people."""
        return f"{self.server.display_url} ({', '.join(dict.fromkeys(self.names))})"

    # --- the protocol ---

    def status(self) -> IndexStatus:
        """Describe the index, without changing anything."""
        with self._open_view() as (connection, view):
            if isinstance(view, IndexState):
                return IndexStatus(view, self.location)
            return self._status(connection, view)

    def _status(self, connection: Connection, view: ViewState) -> IndexStatus:
        row = connection.execute(
            "SELECT report, (SELECT coalesce(sum(entity_count), 0) FROM files f JOIN contents c ON c.id = f.content "
            "WHERE f.view = v.id) FROM views v WHERE id = %s",
            [view.id],
        ).fetchone()
        report, entities = row or (None, 0)
        return IndexStatus(
            self._state(view),
            self.location,
            view.generation,
            view.files,
            view.chunks,
            int(entities),
            schema.view_size(connection, view.id, view.repository, view.dimensions),
            _count_files_by(connection, view.id, "f.language"),
            _count_files_by(connection, view.id, "c.health"),
            _read_secrets(connection, view.id),
            row_codec.unpack_report(report) if report else None,
        )

    def state(self) -> IndexState:
        """Return the state alone: cheap enough for every query."""
        with self.connections.borrow(self._find_view) as (_, view):
            return view if isinstance(view, IndexState) else self._state(view)

    def _state(self, view: ViewState) -> IndexState:
        if not view.fingerprint:
            return IndexState.MISSING
        return IndexState.CURRENT if view.fingerprint == self.fingerprint else IndexState.OTHER_SETTINGS

    @contextmanager
    def snapshot(self) -> Iterator[PostgresCatalogueSnapshot]:
        """Open the newest generation, in a transaction of its own."""
        with self._open_transaction() as (transaction, cache, is_current):
            snapshot = PostgresCatalogueSnapshot(transaction, cache, is_current=is_current)
            try:
                yield snapshot
            finally:
                snapshot.close()

    @contextmanager
    def _open_transaction(self) -> Iterator[tuple[Transaction, ReadCache, bool]]:
        """Open a transaction that sees the newest generation, with the cache for it."""
        with self._open_view() as (connection, state):
            if state is IndexState.OTHER_VERSION:
                schema.require_current(self.connections, connection)
            if isinstance(state, IndexState) or not (state.generation or state.fingerprint):
                raise missing_index_error(self.names[1])
            with self._guard:
                self._cache = cache = self._cache.for_state(state.key)
            is_current = self._state(state) is IndexState.CURRENT
            yield Transaction(self.connections, connection, self.names, state), cache, is_current

    def _open_view(self) -> AbstractContextManager[tuple[Connection, ViewState | IndexState]]:
        """Open a transaction that sees one state of everything, and find the view in it."""

        def first(connection: Connection) -> ViewState | IndexState:
            return (
                self._find_other_version(connection)
                or begin_read(connection, *self.names)
                or IndexState.MISSING
            )

        return self.connections.borrow(first)

    def _find_view(self, connection: Connection) -> ViewState | IndexState:
        """Find the view, or the state that says why there is none."""
        other = self._find_other_version(connection)
        return other or read_view_state(connection, *self.names) or IndexState.MISSING

    def _find_other_version(self, connection: Connection) -> IndexState | None:
        if not self._is_checked:
            if (other := schema.check_format(self.connections, connection)) is not None:
                return other
            self._is_checked = True
        return None

    @contextmanager
    def writer(self, *, thorough: bool = False) -> Iterator[PostgresCatalogueWriter]:
        """Take the lock and open a writer."""
        with self._open_writer(PostgresCatalogueWriter) as writer:
            yield writer

    @contextmanager
    def _open_writer(self, kind: type[SomeWriter]) -> Iterator[SomeWriter]:
        try:
            writer = kind(self.connections, self.names, self.fingerprint)
        except ConnectionLost as error:
            raise connection_lost_error(self.server, error) from error
        try:
            yield writer
        finally:
            writer.close()

    def clear(self) -> None:
        """Delete this view, and what no other view of the repository uses."""
        with self.writer() as writer:
            writer.clear()
        with self._guard:
            self._cache = ReadCache()

    def put_blob(self, name: str, data: bytes) -> None:
        """Keep something beside the index of the view."""
        connection = self.connections.open(writing=True)
        try:
            with self.connections.translate_errors(writing=True):
                connection.execute(
                    "INSERT INTO kept SELECT v.id, %s, %s FROM views v JOIN repositories r ON r.id = v.repository "
                    "WHERE r.name = %s AND v.name = %s ON CONFLICT (view, name) DO UPDATE SET data = EXCLUDED.data",
                    [name, data, *self.names],
                )
        except ConnectionLost as error:
            raise connection_lost_error(self.server, error) from error
        finally:
            connection.close()

    def get_blob(self, name: str) -> bytes | None:
        """Return what was kept under a name."""

        def first(connection: Connection) -> tuple[Any, ...] | None:
            return connection.execute(
                "SELECT data FROM kept k JOIN views v ON v.id = k.view JOIN repositories r ON r.id = v.repository "
                "WHERE k.name = %s AND r.name = %s AND v.name = %s",
                [name, *self.names],
                binary=True,
            ).fetchone()

        with self.connections.borrow(first) as (_, row):
            return bytes(row[0]) if row else None

    # --- the whole ---

    def init(self, grant_read: Sequence[str] = (), *, rebuild: bool = False) -> None:
        """Create what is missing, and let roles read."""
        try:
            schema.init(self.connections, grant_read, rebuild=rebuild, has_channels=self.has_channels)
        except ConnectionLost as error:
            raise connection_lost_error(self.server, error) from error

    def read_id(self) -> str:
        """Read the id of the schema as a catalogue, which is made with it; channels elsewhere belong to one."""

        def first(connection: Connection) -> str:
            schema.require_current(self.connections, connection)
            row = connection.execute("SELECT id FROM catalogue").fetchone()
            return str(row[0]) if row else ""

        with self.connections.borrow(first) as (_, id):
            return id

    def bind_channels(self, channels: str) -> str:
        """Note where the channels of this catalogue are, if that is not known; return where they are."""
        try:
            with (
                self.connections.translate_errors(writing=True),
                self.connections.open(writing=True) as connection,
            ):
                connection.execute("UPDATE catalogue SET channels = %s WHERE channels = ''", [channels])
                row = connection.execute("SELECT channels FROM catalogue").fetchone()
                return str(row[0]) if row else ""
        except ConnectionLost as error:
            raise connection_lost_error(self.server, error) from error

    def list_identities(self) -> list[str]:
        """List the identities of all views."""

        def first(connection: Connection) -> list[str]:
            return [row[0] for row in connection.execute("SELECT identity FROM views").fetchall()]

        with self.connections.borrow(first) as (_, identities):
            return identities

    def server_status(self) -> ServerStatus:
        """Describe all that the schema has."""
        return maintenance.status(self.connections)

    def collect_garbage(self, forget: Sequence[str], older_than_days: float | None) -> Collected:
        """Delete what is named, what is old, and then what nobody uses."""
        return maintenance.gc(self.connections, forget, older_than_days)

    def close(self) -> None:
        """Close connections; those in use are closed after use."""
        self.connections.close()


def _count_files_by(connection: Connection, view: int, column: str) -> Mapping[str, int]:
    """Count files by a property, most first."""
    return dict(
        connection.execute(
            f"SELECT {column}, count(*) n FROM files f JOIN contents c ON c.id = f.content WHERE f.view = %s "
            f'GROUP BY {column} ORDER BY n DESC, {column} COLLATE "C"',
            [view],
        ).fetchall()
    )


def _read_secrets(connection: Connection, view: int) -> tuple[MaskedSecret, ...]:
    """List where secrets were masked."""
    rows = connection.execute(
        "SELECT path, secrets FROM files WHERE view = %s AND secrets <> '[]' ORDER BY path", [view]
    )
    return tuple(
        MaskedSecret(path, line, rule) for path, text in rows for line, rule in sorted(json.loads(text))
    )
