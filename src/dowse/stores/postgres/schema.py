"""Database schema of the PostgreSQL store: tables, extensions, HNSW indexes, grants (``dowse store init``).

A *repository* has contents, names and vectors, keyed by hash and shared by its views; a *view* is one checkout: files,
posting lists, dense index. A dense index is a table of its own for each length of vectors, so that each view has its
own graph and dropping a view frees its space at once. There are no generation columns: a reader has a snapshot of the
database, and a commit is one transaction.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import psycopg
from psycopg import sql

from dowse.errors import IndexTooNew, IndexUnreachable, UsageError
from dowse.stores.postgres.connection import Connection, Connections, table_identifier
from dowse.stores.protocol import FORMAT
from dowse.types.stored import IndexState

MIN_VECTOR_VERSION = (0, 8)
"""pgvector goes on searching where a filter left too little since 0.8."""

EXTENSIONS = {
    "vector": "pgvector: Debian and Ubuntu package postgresql-NN-pgvector, image pgvector/pgvector, "
    "or https://github.com/pgvector/pgvector",
    "pg_trgm": "part of PostgreSQL: package postgresql-contrib",
}
"""What is needed, and where it comes from."""

HNSW_MIN_ROWS = 10_000
"""From so many vectors on a view has a graph; fewer are compared one by one in as little time, and exactly."""

HNSW_MAX_DIMENSIONS = 4000
"""Longer vectors of two bytes a number cannot be in a graph."""

HNSW_LINKS, HNSW_EFFORT = 24, 100
"""Links of a node and candidates while building: in 100,000 chunks a graph of these finds 0.9 of the 100 nearest to a
query, and ``dense_search.py`` notices where it does not. More links and candidates take far longer for a little
more."""

GRAPH_LOCK_TIMEOUT = "60s"
"""How long a finished graph waits for those who began to read before it; if longer, the next run makes it."""

HNSW_MEMORY = "512MB"
"""Memory for building a graph; one that does not fit is built several times slower."""

TABLES = """
CREATE TABLE IF NOT EXISTS meta (format int NOT NULL);
CREATE TABLE IF NOT EXISTS repositories (
    id int GENERATED ALWAYS AS IDENTITY PRIMARY KEY, name text COLLATE "C" NOT NULL UNIQUE
);
CREATE TABLE IF NOT EXISTS views (
    id int GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    repository int NOT NULL REFERENCES repositories, name text COLLATE "C" NOT NULL,
    generation int NOT NULL DEFAULT 0, fingerprint text NOT NULL DEFAULT '', restamps int NOT NULL DEFAULT 0,
    next_file bigint NOT NULL DEFAULT 1, files int NOT NULL DEFAULT 0, chunks bigint NOT NULL DEFAULT 0,
    tokens bigint[] NOT NULL DEFAULT '{0,0,0,0,0,0}', dimensions int[] NOT NULL DEFAULT '{}',
    identity text NOT NULL DEFAULT gen_random_uuid(), report text, watched text,
    written timestamptz NOT NULL DEFAULT now(),
    UNIQUE (repository, name)
);
CREATE TABLE IF NOT EXISTS contents (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    repository int NOT NULL, hash bytea NOT NULL, language text NOT NULL, health text NOT NULL,
    entity_count int NOT NULL, chunk_count int NOT NULL, parsed bytea NOT NULL, mentions bytea NOT NULL,
    text bytea NOT NULL,
    UNIQUE (repository, hash)
);
ALTER TABLE contents ALTER COLUMN parsed SET STORAGE EXTERNAL, ALTER COLUMN mentions SET STORAGE EXTERNAL,
    ALTER COLUMN text SET STORAGE EXTERNAL;
CREATE TABLE IF NOT EXISTS names (
    content bigint NOT NULL, ordinal int NOT NULL, repository int NOT NULL, chunk int NOT NULL,
    around int[] NOT NULL, kind text NOT NULL, name text COLLATE "C" NOT NULL, name_key text COLLATE "C" NOT NULL,
    letters bigint NOT NULL, PRIMARY KEY (content, ordinal)
);
CREATE INDEX IF NOT EXISTS names_by_name ON names (repository, name_key);
CREATE INDEX IF NOT EXISTS names_by_length ON names (repository, char_length(name_key), letters);
CREATE TABLE IF NOT EXISTS vectors (
    repository int NOT NULL, key bytea NOT NULL, vector bytea NOT NULL, PRIMARY KEY (repository, key)
);
ALTER TABLE vectors ALTER COLUMN vector SET STORAGE EXTERNAL;
CREATE TABLE IF NOT EXISTS files (
    view int NOT NULL, id bigint NOT NULL, segment int NOT NULL, path text COLLATE "C" NOT NULL,
    name_key text COLLATE "C" NOT NULL, stem_key text COLLATE "C" NOT NULL, content bigint NOT NULL,
    language text NOT NULL, role text NOT NULL, size bigint NOT NULL, mtime_ns bigint NOT NULL,
    ctime_ns bigint NOT NULL, is_trusted boolean NOT NULL,
    fingerprint text NOT NULL, chunks int NOT NULL, tokens int[] NOT NULL, vectors bytea[] NOT NULL,
    secrets text NOT NULL, PRIMARY KEY (view, id)
);
CREATE UNIQUE INDEX IF NOT EXISTS files_by_path ON files (view, path);
CREATE INDEX IF NOT EXISTS files_by_name ON files (view, name_key);
CREATE INDEX IF NOT EXISTS files_by_stem ON files (view, stem_key);
CREATE INDEX IF NOT EXISTS files_by_content ON files (view, content);
CREATE INDEX IF NOT EXISTS files_by_language ON files (view, language);
CREATE TABLE IF NOT EXISTS segments (
    view int NOT NULL, number int NOT NULL, files bytea NOT NULL, chunks bytea NOT NULL,
    removed bigint[] NOT NULL DEFAULT '{}', PRIMARY KEY (view, number)
);
CREATE TABLE IF NOT EXISTS postings (
    view int NOT NULL, segment int NOT NULL, token text COLLATE "C" NOT NULL, data bytea NOT NULL,
    PRIMARY KEY (view, segment, token)
);
CREATE TABLE IF NOT EXISTS planned (
    view int NOT NULL REFERENCES views ON DELETE CASCADE, generation int NOT NULL,
    begun timestamptz NOT NULL DEFAULT now(), PRIMARY KEY (view, generation)
);
CREATE TABLE IF NOT EXISTS kept (
    view int NOT NULL, name text COLLATE "C" NOT NULL, data bytea NOT NULL, PRIMARY KEY (view, name)
)
"""

TRIGRAM_INDEX = "CREATE INDEX IF NOT EXISTS names_by_trigram ON names USING gin (name_key gin_trgm_ops)"
"""The one index that needs an extension."""

CATALOGUE_ID = """
CREATE TABLE IF NOT EXISTS catalogue AS SELECT gen_random_uuid()::text AS id, ''::text AS channels
"""
"""Which catalogue this is, for channels that are elsewhere."""

TABLE_NAMES = (
    "meta",
    "repositories",
    "views",
    "contents",
    "names",
    "vectors",
    "files",
    "segments",
    "postings",
)


def dense_table(view: int, dimensions: int) -> sql.Identifier:
    """Name the table of the vectors of a view that have this length."""
    return table_identifier("dense", view, dimensions)


def init(
    connections: Connections,
    grant_read: Sequence[str] = (),
    *,
    rebuild: bool = False,
    has_channels: bool = True,
) -> None:
    """Create what is missing: extensions, schema, tables, rights to read. ``rebuild`` removes what was there.

    Only channels need extensions: a catalogue whose channels are elsewhere has none.
    """
    schema = sql.Identifier(connections.server.schema)
    with (
        connections.translate_errors(writing=True),
        connections.open(writing=True) as connection,
        connection.transaction(),
    ):
        connection.execute("SELECT pg_advisory_xact_lock(hashtext(%s))", ["dowse init"])
        for name in EXTENSIONS if has_channels else ():
            _create_extension(connections, connection, name)
        if rebuild:
            connection.execute(sql.SQL("DROP SCHEMA IF EXISTS {} CASCADE").format(schema))
        connection.execute(sql.SQL("CREATE SCHEMA IF NOT EXISTS {}").format(schema))
        _create_tables(connections, connection)
        if has_channels:
            connection.execute(TRIGRAM_INDEX)
        else:
            connection.execute(CATALOGUE_ID)
        for role in grant_read:
            _grant_read(connection, schema, role)
    connections.close()  # what is idle does not know where the extensions are


def _create_tables(connections: Connections, connection: Connection) -> None:
    connections.configure_session(connection, True)
    found = _read_format(connection)
    if found not in (None, FORMAT):
        raise _format_error(connections, found or 0)
    for statement in TABLES.split(";\n"):
        connection.execute(statement)
    if found is None:
        connection.execute("INSERT INTO meta VALUES (%s)", [FORMAT])


def _read_format(connection: Connection) -> int | None:
    row = connection.execute("SELECT to_regclass('meta')").fetchone()
    if row is None or row[0] is None:
        return None
    row = connection.execute("SELECT format FROM meta").fetchone()
    return int(row[0]) if row else None


def _format_error(connections: Connections, found: int) -> Exception:
    place = f"the index at {connections.server.display_url}, schema '{connections.server.schema}',"
    if found > FORMAT:
        return IndexTooNew(
            f"{place} was made by a newer dowse (format {found}, this one reads {FORMAT}): upgrade dowse, "
            "or choose another schema with store_schema"
        )
    return UsageError(
        f"{place} was made by an older dowse (format {found}, now {FORMAT}): "
        "'dowse store init --rebuild' removes it and rebuilds it, or choose another schema with store_schema"
    )


def _create_extension(connections: Connections, connection: Connection, name: str) -> None:
    """Create an extension, or say where to get it."""
    where = connections.server.display_url
    row = connection.execute(
        "SELECT default_version, installed_version FROM pg_available_extensions WHERE name = %s", [name]
    ).fetchone()
    if row is None:
        raise IndexUnreachable(
            f"{where} has no extension '{name}': install it on the server ({EXTENSIONS[name]}), "
            "then run 'dowse store init' again"
        )
    default, installed = row
    if not installed:
        try:
            with connection.transaction():
                connection.execute(
                    sql.SQL("CREATE EXTENSION {} WITH SCHEMA public").format(sql.Identifier(name))
                )
        except psycopg.errors.InsufficientPrivilege:
            raise IndexUnreachable(
                f"this role may not create the extension '{name}' in {where}: "
                f"let an administrator run 'CREATE EXTENSION {name}' there"
            ) from None
    if name == "vector" and _parse_version(installed or default) < MIN_VECTOR_VERSION:
        wanted = ".".join(map(str, MIN_VECTOR_VERSION))
        raise IndexUnreachable(
            f"pgvector in {where} is {installed or default}, {wanted} or newer is needed: "
            f"upgrade it ({EXTENSIONS[name]}), then run 'ALTER EXTENSION vector UPDATE'"
        )


def _parse_version(text: str) -> tuple[int, ...]:
    return tuple(int(part) for part in text.split(".") if part.isdigit())


def _grant_read(connection: Connection, schema: sql.Identifier, role: str) -> None:
    """Let a role read everything, now and later; it gets no right to write."""
    name = sql.Identifier(role)
    if connection.execute("SELECT FROM pg_roles WHERE rolname = %s", [role]).fetchone() is None:
        raise UsageError(f"there is no role '{role}': create it first ('CREATE ROLE ... LOGIN')")
    for statement in (
        "GRANT USAGE ON SCHEMA {schema} TO {role}",
        "GRANT SELECT ON ALL TABLES IN SCHEMA {schema} TO {role}",
        "ALTER DEFAULT PRIVILEGES IN SCHEMA {schema} GRANT SELECT ON TABLES TO {role}",
    ):
        connection.execute(sql.SQL(statement).format(schema=schema, role=name))


def check_format(connections: Connections, connection: Connection) -> IndexState | None:
    """Check that the tables are those of this version: None if so; raise an error if they are newer or missing."""
    row = connection.execute("SELECT format FROM meta").fetchone()
    found = int(row[0]) if row else 0
    if found > FORMAT:
        raise _format_error(connections, found)
    return None if found == FORMAT else IndexState.OTHER_VERSION


def require_current(connections: Connections, connection: Connection) -> None:
    """Raise an error if the tables are not those of this version."""
    row = connection.execute("SELECT format FROM meta").fetchone()
    if row is None or row[0] != FORMAT:
        raise _format_error(connections, int(row[0]) if row else 0)


def create_dense(connection: Connection, view: int, dimensions: int) -> None:
    """Create the table of a view's vectors of a length; who may read views may read it."""
    table = dense_table(view, dimensions)
    connection.execute(
        sql.SQL("CREATE TABLE {} (chunk bigint PRIMARY KEY, embedding halfvec({}) NOT NULL)").format(
            table, sql.Literal(dimensions)
        )
    )
    connection.execute(sql.SQL("ALTER TABLE {} ALTER COLUMN embedding SET STORAGE PLAIN").format(table))
    readers = connection.execute(
        "SELECT DISTINCT pg_get_userbyid(grantee) FROM pg_class, aclexplode(relacl) "
        "WHERE oid = 'views'::regclass AND privilege_type = 'SELECT' AND grantee NOT IN (relowner, 0)"
    ).fetchall()
    for (role,) in readers:
        connection.execute(sql.SQL("GRANT SELECT ON {} TO {}").format(table, sql.Identifier(role)))


def build_graph(connection: Connection, view: int, dimensions: int) -> None:
    """Give a large dense index its graph, if it has none yet. Readers go on meanwhile.

    CONCURRENTLY is for what it leaves out: rows in their former order, which somebody may still be reading.
    """
    table, index = dense_table(view, dimensions), table_identifier("dense", view, dimensions, "graph")
    if dimensions > HNSW_MAX_DIMENSIONS or has_graph(connection, view, dimensions):
        return
    row = connection.execute(
        sql.SQL("SELECT count(*) FROM (SELECT FROM {} LIMIT {}) t").format(table, sql.Literal(HNSW_MIN_ROWS))
    ).fetchone()
    if row is None or row[0] < HNSW_MIN_ROWS:
        return
    _shuffle(connection, table)
    drop = sql.SQL("DROP INDEX IF EXISTS {}").format(index)
    create = sql.SQL(
        "CREATE INDEX CONCURRENTLY {} ON {} USING hnsw (embedding halfvec_cosine_ops) "
        "WITH (m = {}, ef_construction = {})"
    ).format(index, table, sql.Literal(HNSW_LINKS), sql.Literal(HNSW_EFFORT))
    connection.execute(drop)  # one that was not finished
    with _session_settings(
        connection, statement_timeout="0", lock_timeout=GRAPH_LOCK_TIMEOUT, maintenance_work_mem=HNSW_MEMORY
    ):
        try:
            connection.execute(create)
        except psycopg.errors.LockNotAvailable:
            connection.execute(drop)


@contextmanager
def _session_settings(connection: Connection, **settings: str) -> Iterator[None]:
    """Change settings of a session for what cannot be in a transaction."""
    change = "SELECT set_config(%s, %s, false)"
    before = [(name, *_fetch_one(connection, "SELECT current_setting(%s)", name)) for name in settings]
    for item in settings.items():
        connection.execute(change, item)
    yield
    for item in before:
        connection.execute(change, item)


def _fetch_one(connection: Connection, query: str, *values: str) -> tuple[Any, ...]:
    return connection.execute(query, values).fetchone() or ()


def _shuffle(connection: Connection, table: sql.Identifier) -> None:
    """Put the files of a dense index in no order: a graph into which one part of a tree comes after the other has few
    ways between them, and finds a quarter of what it should. The second time, rows go where they were at first, and
    the space at the end is given back.
    """
    move = sql.SQL(
        "WITH all_of_it AS (DELETE FROM {table} RETURNING chunk, embedding) "
        "INSERT INTO {table} SELECT chunk, embedding FROM all_of_it ORDER BY hashint8(chunk >> 20), chunk"
    ).format(table=table)
    with _session_settings(connection, statement_timeout="0"):
        for _ in range(2):
            connection.execute(move)
            connection.execute(sql.SQL("VACUUM {}").format(table))


def has_graph(connection: Connection, view: int, dimensions: int) -> bool:
    """Whether a dense index has its graph."""
    row = connection.execute(
        "SELECT indisvalid FROM pg_index WHERE indexrelid = to_regclass(%s)",
        [f"dense_{view}_{dimensions}_graph"],
    ).fetchone()
    return bool(row and row[0])


def view_size(connection: Connection, view: int, repository: int, dimensions: Sequence[int]) -> int:
    """Measure the bytes that a view takes: its dense indexes, and the share of its rows in shared tables."""
    dense = [f"dense_{view}_{length}" for length in dimensions]
    row = connection.execute(
        "SELECT (SELECT coalesce(sum(pg_total_relation_size(to_regclass(t))), 0) FROM unnest(%s::text[]) t)"
        " + (SELECT coalesce(sum(octet_length(data) + octet_length(token) + 32), 0) FROM postings WHERE view = %s)"
        " + (SELECT coalesce(sum(octet_length(parsed) + octet_length(text)), 0) FROM contents c "
        "WHERE c.repository = %s AND EXISTS (SELECT FROM files f WHERE f.view = %s AND f.content = c.id))",
        [dense, view, repository, view],
    ).fetchone()
    return int(row[0]) if row else 0
