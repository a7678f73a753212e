"""Database maintenance of a shared PostgreSQL store: status, sizes, and garbage collection of old or unused views."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from psycopg import sql

from dowse.errors import IndexLocked, UsageError
from dowse.stores.postgres import schema
from dowse.stores.postgres.connection import Connection, ConnectionLost, Connections, connection_lost_error
from dowse.stores.postgres.deletion import collect, drop_dense, drop_view
from dowse.stores.postgres.locks import COMMIT_LOCK, VIEW_LOCK, lock_keys, schema_oid
from dowse.stores.postgres.postings import MERGE_CHUNKS
from dowse.stores.postgres.state import BEGIN_READ_ONLY
from dowse.types.stored import Collected, ServerStatus, ViewStatus

SHARED_TABLES = ("contents", "names", "vectors", "files", "segments", "postings")

MAX_SMALL_SEGMENTS = 100
"""More small segments than this slow a search down; 'gc' does not merge them, commits do."""


def status(connections: Connections) -> ServerStatus:
    """Describe everything there is in a schema, at one moment."""

    def look(connection: Connection) -> ServerStatus:
        connection.execute(BEGIN_READ_ONLY)
        schema.require_current(connections, connection)
        versions: dict[str, str] = dict(
            connection.execute(
                "SELECT extname, extversion FROM pg_extension WHERE extname IN ('vector', 'pg_trgm')"
            ).fetchall()
        )
        row = connection.execute(
            "SELECT coalesce(sum(pg_total_relation_size(c.oid)), 0)::bigint FROM pg_class c "
            "JOIN pg_namespace n ON n.oid = c.relnamespace WHERE n.nspname = %s AND c.relkind = 'r'",
            [connections.server.schema],
        ).fetchone()
        views = tuple(_read_views(connection, schema_oid(connection, connections.server.schema)))
        return ServerStatus(
            location=connections.server.display_url,
            schema=connections.server.schema,
            version=".".join(map(str, divmod(connection.info.server_version, 10000))),
            extensions=versions,
            size_bytes=int(row[0]) if row else 0,
            views=views,
            notes=tuple(_list_notes(connection, views)),
        )

    with connections.borrow(look) as (_, found):
        return found


def _read_views(connection: Connection, oid: int) -> Iterator[ViewStatus]:
    rows = connection.execute(
        "SELECT v.id, r.name, v.name, v.generation, v.fingerprint <> '', v.files, v.chunks, v.dimensions, "
        "to_char(v.written AT TIME ZONE 'UTC', 'YYYY-MM-DD\"T\"HH24:MI:SS\"Z\"'), "
        "(SELECT count(*) FROM segments s WHERE s.view = v.id) "
        "FROM views v JOIN repositories r ON r.id = v.repository ORDER BY r.name, v.name"
    ).fetchall()
    for id, repository, name, generation, complete, files, chunks, dimensions, written, segments in rows:
        keys = lock_keys(oid, VIEW_LOCK, id)
        held = connection.execute(
            "SELECT FROM pg_locks WHERE locktype = 'advisory' AND classid = %s::bigint::oid AND objid = %s "
            "AND objsubid = 2 AND granted "
            "AND database = (SELECT oid FROM pg_database WHERE datname = current_database())",
            [keys[0] % (1 << 32), keys[1]],
        ).fetchone()
        graphs = sum(schema.has_graph(connection, id, length) for length in dimensions)
        yield ViewStatus(
            repository=repository,
            view=name,
            generation=generation,
            complete=complete,
            files=files,
            chunks=chunks,
            dimensions=tuple(dimensions),
            graphs=graphs,
            segments=segments,
            written=written,
            being_written=held is not None,
        )


def _list_notes(connection: Connection, views: Sequence[ViewStatus]) -> Iterator[str]:
    """List what could be better, and how."""
    if orphans := list(_find_orphans(connection)):
        yield f"{len(orphans)} dense indexes belong to no view: 'dowse store gc' drops them"
    row = connection.execute(
        "SELECT count(*) FROM contents c WHERE NOT EXISTS (SELECT FROM files f JOIN views v ON v.id = f.view "
        "WHERE v.repository = c.repository AND f.content = c.id)"
    ).fetchone()
    if row and row[0]:
        yield f"{row[0]} contents are used by no view: 'dowse store gc' removes them"
    for view in views:
        if not view.complete:
            yield f"{view.view}: indexing has not finished yet: 'dowse index' goes on"
        if view.segments > MAX_SMALL_SEGMENTS + view.chunks // MERGE_CHUNKS:
            yield f"{view.view}: {view.segments} segments: 'dowse index --rebuild' makes fewer of them"
        if view.chunks >= schema.HNSW_MIN_ROWS and len(view.dimensions) > view.graphs:
            yield f"{view.view}: no graph over its vectors yet: 'dowse index' makes it"


def _find_orphans(connection: Connection) -> Iterator[tuple[int, int]]:
    """Dense tables without a view: their numbers."""
    rows = connection.execute(
        "SELECT relname FROM pg_class WHERE relkind = 'r' AND relnamespace = current_schema()::regnamespace "
        r"AND relname ~ '^dense_\d+_\d+$' AND split_part(relname, '_', 2)::int NOT IN (SELECT id FROM views)"
    ).fetchall()
    for (name,) in rows:
        _, view, dimensions = name.split("_")
        yield int(view), int(dimensions)


def gc(
    connections: Connections, forget: Sequence[str] = (), older_than_days: float | None = None
) -> Collected:
    """Delete the named repositories and views, views not written for long, and all that nobody uses then."""
    connection = connections.open(writing=True)
    try:
        with connections.translate_errors(writing=True):
            schema.require_current(connections, connection)
            return _collect_garbage(connections, connection, forget, older_than_days)
    except ConnectionLost as error:
        raise connection_lost_error(connections.server, error) from error
    finally:
        connection.close()


def _collect_garbage(
    connections: Connections, connection: Connection, forget: Sequence[str], older_than_days: float | None
) -> Collected:
    oid = schema_oid(connection, connections.server.schema)
    unwanted = [*_find_views_named(connection, forget), *_find_old_views(connection, older_than_days)]
    for id, repository, name in dict.fromkeys(unwanted):
        _drop_idle_view(connection, oid, id, repository, name)
    contents = vectors = 0
    for (repository,) in connection.execute("SELECT id FROM repositories ORDER BY id").fetchall():
        with connection.transaction():
            connection.execute("SET LOCAL lock_timeout = 0")
            connection.execute(
                "SELECT pg_advisory_xact_lock(%s, %s)", lock_keys(oid, COMMIT_LOCK, repository)
            )
            gone = collect(connection, oid, repository)
            connection.execute(
                "DELETE FROM repositories r WHERE id = %s AND NOT EXISTS (SELECT FROM views WHERE repository = r.id) "
                "AND NOT EXISTS (SELECT FROM contents WHERE repository = r.id)",
                [repository],
            )
        contents, vectors = contents + gone[0], vectors + gone[1]
    tables = sum(drop_dense(connection, *orphan) for orphan in list(_find_orphans(connection)))
    for table in SHARED_TABLES:
        connection.execute(sql.SQL("VACUUM {}").format(sql.Identifier(table)))
    return Collected(len(dict.fromkeys(unwanted)), contents, vectors, tables)


def _find_views_named(connection: Connection, names: Sequence[str]) -> list[tuple[Any, ...]]:
    found: list[tuple[Any, ...]] = []
    for name in names:
        rows = connection.execute(
            "SELECT v.id, v.repository, v.name FROM views v JOIN repositories r ON r.id = v.repository "
            "WHERE r.name = %s OR v.name = %s",
            [name, name],
        ).fetchall()
        if not rows:
            raise UsageError(f"there is no repository or view '{name}': 'dowse store status' lists them")
        found += rows
    return found


def _find_old_views(connection: Connection, days: float | None) -> list[tuple[Any, ...]]:
    if days is None:
        return []
    return connection.execute(
        "SELECT id, repository, name FROM views WHERE written < now() - make_interval(secs => %s)",
        [days * 86400],
    ).fetchall()


def _drop_idle_view(connection: Connection, oid: int, view: int, repository: int, name: str) -> None:
    """Delete a view that nobody is writing."""
    keys = lock_keys(oid, VIEW_LOCK, view)
    row = connection.execute("SELECT pg_try_advisory_lock(%s, %s)", keys).fetchone()
    if not (row and row[0]):
        raise IndexLocked(
            f"another process is writing the index of {name}: wait for it to finish, or stop it"
        )
    with connection.transaction():
        connection.execute("SET LOCAL lock_timeout = 0")
        connection.execute("SELECT pg_advisory_xact_lock(%s, %s)", lock_keys(oid, COMMIT_LOCK, repository))
        lengths = drop_view(connection, oid, repository, view)
    for dimensions in lengths:
        drop_dense(connection, view, dimensions)
    connection.execute("SELECT pg_advisory_unlock(%s, %s)", keys)
