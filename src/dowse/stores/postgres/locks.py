"""PostgreSQL advisory locks: who writes a view, who relies on a repository's contents, who commits to one."""

from __future__ import annotations

from dowse.stores.postgres.connection import Connection

VIEW_LOCK, USE_LOCK, COMMIT_LOCK = 0, 1, 2
"""What an advisory lock is for: to write a view, to rely on a repository's contents, to commit to a repository."""


def lock_keys(schema_oid: int, kind: int, id: int) -> tuple[int, int]:
    """Return the two numbers of an advisory lock."""
    return schema_oid - (1 << 32) if schema_oid >= 1 << 31 else schema_oid, id * 4 + kind


def schema_oid(connection: Connection, name: str) -> int:
    """Read the number of the schema: locks of two schemas of a database are apart."""
    row = connection.execute("SELECT oid::bigint FROM pg_namespace WHERE nspname = %s", [name]).fetchone()
    return int(row[0]) if row else 0


def describe_holder(connection: Connection, keys: tuple[int, int]) -> str:
    """Describe who has a lock, as the server knows them."""
    row = connection.execute(
        "SELECT application_name FROM pg_locks l JOIN pg_stat_activity a USING (pid) WHERE locktype = 'advisory' "
        "AND classid = %s::bigint::oid AND objid = %s AND objsubid = 2 AND granted",
        [keys[0] % (1 << 32), keys[1]],
    ).fetchone()
    return f" ({row[0].removeprefix('dowse ').replace(' ', ', pid ')})" if row and row[0] else ""
