"""Files of one commit on PostgreSQL: rows of files, their contents and vectors by hash, deleted and inserted."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from dowse.serialization import deflate
from dowse.stores import row_codec
from dowse.stores.postgres import rows
from dowse.stores.postgres.connection import Connection
from dowse.stores.postgres.filter_sql import to_sql_text
from dowse.stores.postgres.read_cache import name_keys
from dowse.stores.postgres.state import ViewState
from dowse.types.discovered import SourceFile

FileRows = list[tuple[int, int, int, list[int]]]
"""Id, segment, number of chunks and tokens by field of files."""


class ViewFilesWriter:
    """What one transaction writes of the files of a view."""

    def __init__(self, connection: Connection, state: ViewState, fingerprint: str) -> None:
        self._connection = connection
        self._state = state
        self._fingerprint = fingerprint
        self._view = state.id

    def delete_files(self, paths: Sequence[str]) -> FileRows:
        """Delete the files at some paths, and return what they were."""
        return self._connection.execute(
            "DELETE FROM files WHERE view = %s AND path = ANY(%s) RETURNING id, segment, chunks, tokens",
            [self._view, list(map(to_sql_text, paths))],
            binary=True,
        ).fetchall()

    def insert_contents(self, files: Sequence[SourceFile]) -> dict[bytes, int]:
        """Find the ids of contents by hash, and write those that are new."""
        by_hash = {file.content_hash: file for file in reversed(files)}
        known: dict[bytes, int] = dict(
            self._connection.execute(
                "SELECT hash, id FROM contents WHERE repository = %s AND hash = ANY(%s)",
                [self._state.repository, list(by_hash)],
                binary=True,
            ).fetchall()
        )
        new = [file for digest, file in by_hash.items() if digest not in known]
        ids = self._allocate_content_ids(len(new))
        rows.copy(
            self._connection,
            "contents (id, repository, hash, language, health, entity_count, chunk_count, parsed, mentions, "
            "text)",
            ["int8", "int4", "bytea", "text", "text", "int4", "int4", "bytea", "bytea", "bytea"],
            (self._make_content_row(id, file) for id, file in zip(ids, new, strict=True)),
        )
        self.insert_names(ids, new)
        return known | {file.content_hash: id for id, file in zip(ids, new, strict=True)}

    def insert_names(self, contents: Sequence[int], files: Sequence[SourceFile]) -> None:
        """Write the names in new contents, if this is where they are searched."""

    def _allocate_content_ids(self, count: int) -> list[int]:
        found = self._connection.execute(
            "SELECT nextval(pg_get_serial_sequence('contents', 'id')) FROM generate_series(1, %s)", [count]
        ).fetchall()
        return [row[0] for row in found]

    def _make_content_row(self, id: int, file: SourceFile) -> tuple[Any, ...]:
        parsed = file.parsed
        return (
            id, self._state.repository, file.content_hash, parsed.language, parsed.health.value,
            len(parsed.entities), len(parsed.chunks),
            deflate(row_codec.pack_parsed(parsed)), file.references,
            deflate(file.content),
        )  # fmt: skip

    def insert_files(
        self,
        files: Sequence[SourceFile],
        ids: Sequence[int],
        contents: Mapping[bytes, int],
        tokens: Sequence[Sequence[int]],
        segment: int,
    ) -> None:
        """Write the rows of files."""
        rows.copy(
            self._connection,
            "files (view, id, segment, path, name_key, stem_key, content, language, role, size, mtime_ns, "
            "ctime_ns, is_trusted, fingerprint, chunks, tokens, vectors, secrets)",
            [
                "int4", "int8", "int4", "text", "text", "text", "int8", "text", "text", "int8", "int8", "int8",
                "bool", "text", "int4", "int4[]", "bytea[]", "text",
            ],
            (
                self._make_file_row(id, file, contents[file.content_hash], counts, segment)
                for id, file, counts in zip(ids, files, tokens, strict=True)
            ),
        )  # fmt: skip

    def _make_file_row(
        self, id: int, file: SourceFile, content: int, tokens: Sequence[int], segment: int
    ) -> tuple[Any, ...]:
        path = to_sql_text(file.path)
        return (
            self._view, id, segment, path, *name_keys(path), content,
            file.parsed.language, file.role.value, *file.stamp,
            "" if file.awaits_vectors else self._fingerprint, len(file.terms), list(tokens),
            [vector.key for vector in file.vectors], json.dumps([(s.line, s.rule) for s in file.secrets]),
        )  # fmt: skip

    def insert_vectors(self, files: Sequence[SourceFile]) -> None:
        """Write vectors by key, in full: who embeds the same text again need not."""
        vectors = {vector.key: vector.vector for file in files for vector in file.vectors}
        if not vectors:
            return
        known = {
            key
            for (key,) in self._connection.execute(
                "SELECT key FROM vectors WHERE repository = %s AND key = ANY(%s)",
                [self._state.repository, list(vectors)],
                binary=True,
            )
        }
        rows.copy(
            self._connection,
            "vectors (repository, key, vector)",
            ["int4", "bytea", "bytea"],
            ((self._state.repository, key, vectors[key]) for key in sorted(vectors.keys() - known)),
        )
