"""Writer of a whole view on PostgreSQL: files and channels of a generation in one transaction."""

from __future__ import annotations

from collections.abc import Sequence

from dowse.stores.postgres import postings
from dowse.stores.postgres.commit import ViewCommit
from dowse.stores.postgres.connection import Connection
from dowse.stores.postgres.view_writer import PostgresCatalogueWriter
from dowse.types.discovered import SourceFile


class PostgresWriter(PostgresCatalogueWriter):
    """The one writer of a view: its catalogue, and its channels in the same database."""

    def apply(self, removed: Sequence[str], files: Sequence[SourceFile]) -> int:
        """Write one generation, in one transaction; repeat it if it surely did not go through."""
        by_path = {file.path: file for file in files}  # of two at one path the later one
        packed = postings.pack_postings([file.terms for file in by_path.values()])
        expected = self._retry(lambda c: self._state(c).generation) + 1

        def commit(connection: Connection) -> int:
            state = self._state(connection)
            if state.generation == expected:
                return expected  # it went through before the connection broke
            with connection.transaction():
                self._lock_commits(connection)
                ViewCommit(connection, state, self._fingerprint).write(
                    removed, list(by_path.values()), packed
                )
            return expected

        generation = self._retry(commit)
        self._changed_files += len(files) + len(removed)
        return generation
