"""Read-only transaction (REPEATABLE READ, snapshot isolation) on one connection, for as long as a snapshot lives.

Nothing a writer does shows. If the connection breaks, it goes on with a new one as long as the view is still of the
same generation, which means equal answers; otherwise it is an error, never a mixture.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from psycopg import sql

from dowse.errors import IndexUnreachable
from dowse.stores.postgres.connection import Connection, ConnectionLost, Connections, connection_lost_error
from dowse.stores.postgres.state import ViewState, begin_read

SqlRows = list[tuple[Any, ...]]


class Transaction:
    """A read-only transaction that sees one state of the database."""

    def __init__(
        self, connections: Connections, connection: Connection, names: tuple[str, str], state: ViewState
    ) -> None:
        self.state = state
        self.view = state.id
        self._connections = connections
        self._cursor = connection.cursor(binary=True)
        self.names = names
        self._own: Connection | None = None

    def close(self) -> None:
        """Close a connection that was opened in place of a lost one."""
        if self._own is not None:
            self._own.close()

    def fetch_rows(
        self,
        query: str | sql.Composed,
        values: Sequence[Any] | Mapping[str, Any] = (),
        *,
        prepare: bool = False,
    ) -> SqlRows:
        """Fetch the rows of an SQL query; on a new connection if the old one is gone and nothing has changed.

        ``prepare`` is for what is fetched often and planned the same whatever the values: the server keeps the plan.
        """
        try:
            with self._connections.translate_errors():
                return self._rows(query, values, prepare)
        except ConnectionLost:
            pass
        try:
            with self._connections.translate_errors():
                self._resume()
                return self._rows(query, values, prepare)
        except ConnectionLost as error:
            raise connection_lost_error(self._connections.server, error) from error

    def _rows(
        self, query: str | sql.Composed, values: Sequence[Any] | Mapping[str, Any], prepare: bool
    ) -> SqlRows:
        return self._cursor.execute(query, values, prepare=prepare).fetchall()

    def _resume(self) -> None:
        connection = self._connections.open()
        state = begin_read(connection, *self.names)
        if state is None or state.key != self.state.key:
            connection.close()
            raise IndexUnreachable(
                f"the connection to {self._connections.server.display_url} was lost, "
                "and the index has changed since: search again"
            )
        self._cursor, self._own = connection.cursor(binary=True), connection
