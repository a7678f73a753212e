"""PostgreSQL connection pool: connect with retries, session settings, and psycopg's errors mapped to ours.

One policy for failures. Connecting is tried again while a server that was there before is starting, shutting down or
full; what was lost in the middle is for the caller to repeat, who knows whether that is safe (``ConnectionLost``).
Everything else is an error at once, with what to do about it. No message has a password in it.
"""

from __future__ import annotations

import os
import re
import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import Any, TypeVar

import psycopg
from psycopg import errors as codes
from psycopg import sql

from dowse.errors import (
    DowseError,
    IndexCorrupt,
    IndexLocked,
    IndexMissing,
    IndexProblem,
    IndexUnreachable,
    IndexUnwritable,
    SettingsError,
)
from dowse.settings import find_passwords, mask_passwords

Connection = psycopg.Connection[tuple[Any, ...]]

T = TypeVar("T")

IDLE_STATUS = psycopg.pq.TransactionStatus.IDLE

MAX_IDLE_CONNECTIONS = 8
"""Connections kept open between queries; opening one takes a few milliseconds, and a server has few to give."""

MAX_CONNECTIONS = 32
"""Connections that one process may have at a time; who needs another waits for it."""

CONNECT_SECONDS = 10
"""How long a server may take to say hello."""

RETRY_SECONDS = 20.0
"""How long a server that is starting, shutting down or full is tried again: a restart takes a few seconds."""

FIRST_PAUSE_SECONDS = 0.05
MAX_PAUSE_SECONDS = 1.0
"""Seconds between two attempts, doubled each time."""

LOCK_SECONDS = 10
"""How long a statement waits for a lock of another; none of ours is held that long."""

WRITE_TIMEOUT_FACTOR = 20
"""A statement of a writer may take this many times as long as one of a reader."""

NEVER_PREPARE = 1 << 30
"""Statements are prepared where the code says so, not for being repeated."""

MIN_SERVER_VERSION = 140000
"""The first version of the server (14) that has all that is used."""

_BUSY_ERRORS = (codes.CannotConnectNow, codes.TooManyConnections, codes.AdminShutdown, codes.CrashShutdown)
"""States of a server that pass by themselves."""

_LOGIN_REFUSALS = (
    r'authentication failed|no password|role "[^"]*" does not exist|pg_hba\.conf|not permitted to log in'
)
"""How the server says no to a login."""


class ConnectionLost(Exception):
    """The connection broke: nothing is known of what was under way."""


@dataclass(frozen=True, slots=True)
class Server:
    """The address of a PostgreSQL server, the schema, and the statement timeout (seconds)."""

    url: str
    schema: str = "dowse"
    timeout: float = 30.0

    @property
    def display_url(self) -> str:
        """The address for people: without the password."""
        return mask_passwords(self.url)


class Connections:
    """The connection pool of one process to one server. Safe to use from several threads."""

    def __init__(self, server: Server) -> None:
        self.server = server
        self._guard = threading.Lock()
        self._slots = threading.BoundedSemaphore(MAX_CONNECTIONS)
        self._idle: list[Connection] = []
        self._epoch = 0  # connections of an earlier epoch are closed after use
        self._was_reached = False
        self._secrets = find_passwords(server.url)

    def close(self) -> None:
        """Close what is idle; what is in use is closed after use."""
        with self._guard:
            idle, self._idle, self._epoch = self._idle, [], self._epoch + 1
        for connection in idle:
            connection.close()

    @contextmanager
    def borrow(self, first: Callable[[Connection], T]) -> Iterator[tuple[Connection, T]]:
        """Lend a connection for reading, with the result of a first look; reuse it if nothing went wrong.

        The look is repeated on a new connection if the one at hand turns out to be dead.
        """
        if not self._slots.acquire(timeout=self.server.timeout):
            raise IndexUnreachable(
                f"all {MAX_CONNECTIONS} connections to {self.server.display_url} are in use: "
                "send fewer queries at once, or try again"
            )
        try:
            epoch, connection, result = self._run_first(first)
            try:
                yield connection, result
                with suppress(
                    psycopg.Error
                ):  # all was read by now: a connection that is gone is just not reused
                    if not connection.closed and connection.info.transaction_status != IDLE_STATUS:
                        connection.commit()  # a rollback would make psycopg forget what is prepared
            except BaseException:
                connection.close()
                raise
            self._return_idle(connection, epoch)
        except psycopg.Error as error:
            problem = self.translate(error)
            if isinstance(problem, ConnectionLost):
                problem = connection_lost_error(self.server, problem)
            raise problem from error
        except ConnectionLost as error:
            raise connection_lost_error(self.server, error) from error
        finally:
            self._slots.release()

    def _run_first(self, first: Callable[[Connection], T]) -> tuple[int, Connection, T]:
        with self._guard:
            epoch, connection = self._epoch, self._idle.pop() if self._idle else None
        if connection is not None:
            try:
                with self.translate_errors():
                    return epoch, connection, first(connection)
            except ConnectionLost:
                self.close()  # the others are as dead
                epoch += 1
        connection = self.open()
        try:
            with self.translate_errors():
                return epoch, connection, first(connection)
        except BaseException:
            connection.close()
            raise

    def _return_idle(self, connection: Connection, epoch: int) -> None:
        with self._guard:
            if epoch == self._epoch and len(self._idle) < MAX_IDLE_CONNECTIONS and not connection.closed:
                self._idle.append(connection)
                return
        connection.close()

    def open(self, *, writing: bool = False) -> Connection:
        """Open a new connection; a server that was there before may take a while to come back."""
        give_up, pause = time.monotonic() + RETRY_SECONDS, FIRST_PAUSE_SECONDS
        while True:
            try:
                connection = self._connect(writing)
            except psycopg.OperationalError as error:
                passing = isinstance(error, _BUSY_ERRORS) or _is_busy(error)
                lost = self._was_reached and error.sqlstate is None and not _refusal_kind(error)
                if not (passing or lost) or time.monotonic() + pause > give_up:
                    raise self.translate(error, writing=writing) from None
                time.sleep(pause)
                pause = min(2 * pause, MAX_PAUSE_SECONDS)
            else:
                self._was_reached = True
                return connection

    def _connect(self, writing: bool) -> Connection:
        try:
            connection: Connection = psycopg.connect(
                self.server.url,
                autocommit=True,
                connect_timeout=CONNECT_SECONDS,
                prepare_threshold=NEVER_PREPARE,  # a plan must know the vector and the filter it is for
                application_name=f"dowse {socket.gethostname()} {os.getpid()}",
                client_encoding="utf8",
            )
        except (psycopg.ProgrammingError, ValueError) as error:  # the address makes no sense
            raise SettingsError(f"{self.server.display_url}: {self._mask(str(error))}") from None
        try:
            self.configure_session(connection, writing)
        except BaseException:
            connection.close()
            raise
        return connection

    def configure_session(self, connection: Connection, writing: bool) -> None:
        """Set what every session has; the schemas of the extensions are searched too, wherever they are."""
        if connection.info.server_version < MIN_SERVER_VERSION:
            raise IndexUnreachable(
                f"the server at {self.server.display_url} is PostgreSQL {connection.info.server_version // 10000}: "
                f"upgrade it to {MIN_SERVER_VERSION // 10000} or newer"
            )
        seconds = self.server.timeout * (WRITE_TIMEOUT_FACTOR if writing else 1)
        settings = {
            "statement_timeout": f"{max(1, int(seconds * 1000))}ms",
            "lock_timeout": f"{LOCK_SECONDS}s",
            "idle_in_transaction_session_timeout": f"{max(1, int(WRITE_TIMEOUT_FACTOR * self.server.timeout))}s",
            "jit": "off",  # takes longer than what it would speed up
        }
        calls = ", ".join("set_config(%s, %s, false)" for _ in settings)
        values = [part for item in settings.items() for part in item]
        connection.execute(
            f"SELECT {calls}, set_config('search_path', concat_ws(', ', quote_ident(%s), "
            "(SELECT string_agg(DISTINCT quote_ident(nspname), ', ') FROM pg_extension e "
            "JOIN pg_namespace n ON n.oid = extnamespace WHERE extname IN ('vector', 'pg_trgm'))), false)",
            [*values, self.server.schema],
        )

    # --- errors ---

    @contextmanager
    def translate_errors(self, *, writing: bool = False) -> Iterator[None]:
        """Translate psycopg's errors to ours; ``ConnectionLost`` if the connection is what broke."""
        try:
            yield
        except psycopg.Error as error:
            raise self.translate(error, writing=writing) from error

    def translate(self, error: psycopg.Error, *, writing: bool = False) -> Exception:
        """Translate a psycopg error to one of ours."""
        text, display_url = self._mask(str(error)), self.server.display_url
        if isinstance(error, codes.InvalidAuthorizationSpecification) or _refusal_kind(error) == "login":
            return IndexUnreachable(
                f"{display_url} refuses the login ({text}): set PGPASSWORD, or put the password into ~/.pgpass"
            )
        if isinstance(error, codes.InvalidCatalogName) or _refusal_kind(error) == "database":
            return IndexUnreachable(f"{display_url}: {text}: create the database, or correct the address")
        if isinstance(error, codes.InsufficientPrivilege):
            return self._permission_error(text, writing)
        if isinstance(error, codes.ReadOnlySqlTransaction):
            return IndexUnwritable(
                f"{display_url} takes no writes ({text}): use the address of the primary server"
            )
        if isinstance(error, codes.DiskFull | codes.OutOfMemory | codes.ConfigurationLimitExceeded):
            return IndexUnwritable(
                f"{display_url} is full ({text}): give it more space, or run 'dowse store gc'"
            )
        if isinstance(error, codes.UndefinedTable | codes.InvalidSchemaName | codes.UndefinedColumn):
            return IndexMissing(
                f"{display_url} has no schema '{self.server.schema}' that this dowse can read: run 'dowse store init'"
            )
        if isinstance(error, codes.QueryCanceled):
            return IndexUnreachable(
                f"{display_url} took longer than store_timeout allows ({text}): try again, raise store_timeout, "
                "or look at what else the server does"
            )
        if isinstance(error, codes.LockNotAvailable | codes.DeadlockDetected):
            return IndexLocked(f"{display_url}: {text}: another process changes the index, try again")
        if isinstance(error, codes.DataCorrupted | codes.IndexCorrupted):
            return IndexCorrupt.beyond_repair(f"the index at {display_url} is corrupt ({text})")
        if isinstance(error, psycopg.OperationalError | psycopg.InterfaceError | codes.AdminShutdown):
            if self._was_reached and (error.sqlstate is None or error.sqlstate.startswith(("08", "57P"))):
                return ConnectionLost(text)
            return IndexUnreachable(
                f"{display_url} cannot be reached ({text}): is the server up, and the address right?"
            )
        return IndexProblem(f"{display_url}: {text}")

    def _permission_error(self, text: str, writing: bool) -> DowseError:
        if writing:
            return IndexUnwritable(
                f"this role may not write the index at {self.server.display_url} ({text}): "
                "use a role that owns the schema, or set refresh = false to search without writing"
            )
        return IndexUnreachable(
            f"this role may not read the index at {self.server.display_url} ({text}): "
            "the owner can allow it with 'dowse store init --grant-read ROLE'"
        )

    def _mask(self, text: str) -> str:
        """Put a message on one line and mask the password."""
        for secret in self._secrets:
            text = text.replace(secret, "***")
        return " ".join(mask_passwords(text).split())


def connection_lost_error(server: Server, error: ConnectionLost) -> IndexUnreachable:
    """Make the error for a connection that was lost for good."""
    return IndexUnreachable(f"the connection to {server.display_url} was lost ({error}): try again")


def table_identifier(*parts: object) -> sql.Identifier:
    """Make the name of a table from parts."""
    return sql.Identifier("_".join(map(str, parts)))


def _refusal_kind(error: psycopg.Error) -> str:
    """Find what a refusal to connect is about; empty if it is none. libpq gives no code for these."""
    text = str(error)
    if re.search(r'database "[^"]*" does not exist', text):
        return "database"
    return "login" if re.search(_LOGIN_REFUSALS, text) else ""


def _is_busy(error: psycopg.OperationalError) -> bool:
    """Whether a refusal to connect is one that passes; libpq gives no code for these."""
    text = str(error)
    return any(
        phrase in text
        for phrase in (
            "is starting up",
            "is shutting down",
            "too many clients",
            "in recovery mode",
            "too many connections",
        )
    )
