"""State of a view on PostgreSQL (generation, fingerprint, statistics) and its manifest of files; begins read
transactions.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import psycopg

from dowse.stores.postgres.connection import Connection
from dowse.types.discovered import FileStamp

BEGIN_READ_ONLY = "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"
"""A transaction that sees one state of the database from first to last."""

GRAPH_CANDIDATES = 400
"""Chunks that are looked at along a graph: a hundred hits are wanted; twice as many candidates take twice as long."""

SELECT_STATE = (
    "SELECT v.id, v.repository, generation, fingerprint, restamps, files, chunks, tokens, dimensions, "
    "identity FROM views v JOIN repositories r ON r.id = v.repository WHERE r.name = %s AND v.name = %s"
)

SELECT_MANIFEST = (
    "SELECT f.path, f.id, f.size, f.mtime_ns, f.ctime_ns, f.is_trusted, c.hash, f.fingerprint FROM files f "
    "JOIN contents c ON c.id = f.content WHERE f.view = %s"
)

Key = tuple[str, int, int]


class ViewState(NamedTuple):
    """How far a view has come. ``restamps`` counts changes of stamps, which make no new generation."""

    id: int
    repository: int
    generation: int
    fingerprint: str
    restamps: int
    files: int
    chunks: int
    tokens: Sequence[int]
    dimensions: Sequence[int]
    identity: str

    @property
    def key(self) -> Key:
        """Identify the state for caches: equal keys mean equal answers."""
        return self.identity, self.generation, self.restamps


@dataclass(frozen=True, slots=True)
class ManifestRow:
    """A file of the manifest, and the settings it was written under."""

    id: int
    stamp: FileStamp
    content_hash: bytes
    fingerprint: str


def read_view_state(connection: Connection, repository: str, view: str) -> ViewState | None:
    """Read how far a view has come; None if it is not there."""
    row = connection.execute(SELECT_STATE, [repository, view], prepare=True).fetchone()
    return ViewState(*row) if row else None


def begin_read(connection: Connection, repository: str, view: str) -> ViewState | None:
    """Begin a read-only transaction and read how far the view has come: one round trip for all.

    What graphs are searched with is set here: a session can lose it when it loads pgvector later.
    """
    cursor = psycopg.ClientCursor(connection)
    graph = f"SET LOCAL hnsw.iterative_scan = relaxed_order; SET LOCAL hnsw.ef_search = {GRAPH_CANDIDATES}"
    cursor.execute(f"{BEGIN_READ_ONLY}; {graph}; {SELECT_STATE}", [repository, view])
    while cursor.nextset():
        pass
    row = cursor.fetchone()
    return ViewState(*row) if row else None


def build_manifest(rows: Iterable[tuple[Any, ...]]) -> dict[str, ManifestRow]:
    """Build the manifest, files by path, from rows."""
    return {
        path: ManifestRow(id, FileStamp(size, mtime_ns, ctime_ns, is_trusted), digest, fingerprint)
        for path, id, size, mtime_ns, ctime_ns, is_trusted, digest, fingerprint in rows
    }
