"""PostgreSQL store (with pgvector): a shared index for a team, many repositories and checkouts in one schema.

A snapshot is a read-only transaction, a commit is a transaction, the one writer of a view holds an advisory lock: the
server does what the embedded store does with files. ``schema.py`` has the tables, ``connection.py`` the pool. Reading
goes through ``sql_snapshot.py`` over one ``transaction.py``, writing through ``commit_writer.py`` and ``commit.py``;
``postings.py`` is the inverted index, ``deletion.py`` and ``maintenance.py`` remove what nobody uses.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from dowse.stores.postgres.commit_writer import PostgresWriter
from dowse.stores.postgres.connection import Server
from dowse.stores.postgres.sql_snapshot import PostgresSnapshot
from dowse.stores.postgres.view_catalogue import PostgresCatalogue

__all__ = ["PostgresCatalogue", "PostgresStore", "Server"]


class PostgresStore(PostgresCatalogue):
    """The index of one view on a server: its catalogue, and its channels in the same database."""

    has_channels = True

    @contextmanager
    def snapshot(self) -> Iterator[PostgresSnapshot]:
        """Open the newest generation, in a transaction of its own."""
        with self._open_transaction() as (transaction, cache, is_current):
            snapshot = PostgresSnapshot(transaction, cache, is_current=is_current)
            try:
                yield snapshot
            finally:
                snapshot.close()

    @contextmanager
    def writer(self, *, thorough: bool = False) -> Iterator[PostgresWriter]:
        """Take the lock and open a writer."""
        with self._open_writer(PostgresWriter) as writer:
            yield writer

    def find_corrupt_parts(self) -> tuple[str, ...]:
        """Find nothing: the server answers for its files."""
        return ()

    def dump(self) -> Iterator[tuple[object, ...]]:
        """List everything that is searchable, by path."""
        with self.snapshot() as snapshot:
            indexed, embedded = snapshot.indexed_chunks(), snapshot.list_embedded_chunks()
            references = {row.path: row.packed for row in snapshot.references()}
            for path, known in sorted(snapshot.manifest().items()):
                file = snapshot.file(known.id)
                assert file is not None
                chunks, vectors = indexed.get(known.id, []), embedded.get(known.id, [])
                content = snapshot.content(known.id)
                rest = content, chunks, vectors, references[path]
                yield (path, file.content_hash, file.role, file.parsed, *rest)
