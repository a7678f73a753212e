"""Delete a view and its vector tables on PostgreSQL, and garbage-collect contents that no view uses any more."""

from __future__ import annotations

from psycopg import errors as codes
from psycopg import sql

from dowse.stores.postgres import schema
from dowse.stores.postgres.connection import Connection
from dowse.stores.postgres.locks import USE_LOCK, lock_keys

DROP_MILLISECONDS = 200
"""How long dropping a table may hold up those who want to read it; if it takes longer, it is left to the next time."""


def collect(connection: Connection, oid: int, repository: int, *, spare: float = 0.0) -> tuple[int, int]:
    """Drop contents and vectors that no view of a repository uses, unless they are few; return how many went.

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
    """Delete a view, and its repository if it was the last; return the lengths of its vectors."""
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
