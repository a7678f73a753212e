"""Commit of one generation on PostgreSQL: rows, posting lists and vectors that one transaction inserts and deletes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
from psycopg import sql

from dowse.stores.postgres import filter_sql, postings, rows, schema
from dowse.stores.postgres.connection import Connection
from dowse.stores.postgres.file_commit import ViewFilesWriter
from dowse.stores.postgres.filter_sql import to_sql_text
from dowse.stores.postgres.postings import FIELDS, PostingSegment
from dowse.stores.postgres.state import ViewState
from dowse.types.discovered import SourceFile
from dowse.types.stored import CHUNK_BITS


class _RemovedFiles(NamedTuple):
    """Files that were removed: their ids, chunks and tokens."""

    ids: list[int]
    chunks: int
    tokens: list[int]


class ViewCommit(ViewFilesWriter):
    """The writes of one transaction to a view: files, contents, postings, vectors."""

    def __init__(self, connection: Connection, state: ViewState, fingerprint: str) -> None:
        super().__init__(connection, state, fingerprint)
        self._segment = state.generation + 1

    def write(
        self, removed: Sequence[str], files: Sequence[SourceFile], packed: postings.PackedPostings
    ) -> None:
        """Remove paths, add files, and count the generation."""
        gone = self._remove([*removed, *(file.path for file in files)])
        first = self._read_first_id()
        contents = self.insert_contents(files)
        ids = range(first, first + len(files))
        self.insert_files(files, ids, contents, packed.tokens, self._segment)
        self.insert_vectors(files)
        dimensions = self._insert_dense(files, first)
        self._insert_postings(first, packed)
        self._merge_segments()
        new = [sum(column) for column in zip(*packed.tokens, strict=True)] or [0] * len(FIELDS)
        tokens = [t + n - g for t, n, g in zip(self._state.tokens, new, gone.tokens, strict=True)]
        self._connection.execute(
            "UPDATE views SET generation = generation + 1, files = files + %s, chunks = chunks + %s, tokens = %s, "
            "dimensions = %s, next_file = next_file + %s, written = now() WHERE id = %s",
            [
                len(files) - len(gone.ids),
                sum(packed.chunks) - gone.chunks,
                tokens,
                dimensions,
                len(files),
                self._view,
            ],
        )

    def _remove(self, paths: Sequence[str]) -> _RemovedFiles:
        found = self.delete_files(paths)
        by_segment: dict[int, list[int]] = {}
        for id, number, _, _ in found:
            by_segment.setdefault(number, []).append(id)
        for number, ids in by_segment.items():
            self._connection.execute(
                "UPDATE segments SET removed = removed || %s::bigint[] WHERE view = %s AND number = %s",
                [ids, self._view, number],
            )
        gone = [row[0] for row in found]
        for dimensions in self._state.dimensions if gone else ():
            self._connection.execute(
                sql.SQL(
                    "DELETE FROM {} d USING unnest(%s::bigint[]) id "
                    "WHERE d.chunk BETWEEN id << 20 AND id << 20 | 1048575"
                ).format(schema.dense_table(self._view, dimensions)),
                [gone],
            )
        tokens = [sum(column) for column in zip(*(row[3] for row in found), strict=True)] or [0] * len(FIELDS)
        return _RemovedFiles(gone, sum(row[2] for row in found), tokens)

    def _read_first_id(self) -> int:
        row = self._connection.execute("SELECT next_file FROM views WHERE id = %s", [self._view]).fetchone()
        assert row is not None
        return int(row[0])

    def insert_names(self, contents: Sequence[int], files: Sequence[SourceFile]) -> None:
        """Write the names in new contents."""
        rows.copy(
            self._connection,
            "names (content, ordinal, repository, chunk, around, kind, name, name_key, letters)",
            ["int8", "int4", "int4", "int4", "int4[]", "text", "text", "text", "int8"],
            (row for id, file in zip(contents, files, strict=True) for row in self._make_name_rows(id, file)),
        )

    def _make_name_rows(self, id: int, file: SourceFile) -> Iterator[tuple[Any, ...]]:
        around: dict[int, list[int]] = {}
        for position, chunk in enumerate(file.parsed.chunks):
            if chunk.entity is not None:
                around.setdefault(chunk.entity, []).append(position)
        for position, i in (
            (position, i) for position, ordinals in enumerate(file.definitions) for i in ordinals
        ):
            entity = file.parsed.entities[i]
            key = to_sql_text(entity.name.lower())
            yield (
                id, i, self._state.repository, position, around.get(i, []), entity.kind.value,
                to_sql_text(entity.name), key, filter_sql.letter_bits(key),
            )  # fmt: skip

    def _insert_dense(self, files: Sequence[SourceFile], first: int) -> list[int]:
        """Write the dense index, a table for each length of vectors, and return the lengths there are."""
        known = list(self._state.dimensions)
        groups: dict[int, tuple[list[int], list[bytes]]] = {}
        for i, file in enumerate(files):
            for ordinal, (_, vector) in enumerate(file.vectors):
                ids, parts = groups.setdefault(len(vector) // 4, ([], []))
                ids.append((first + i) << CHUNK_BITS | ordinal)
                parts.append(vector)
        for dimensions, (ids, parts) in groups.items():
            if dimensions not in known:
                schema.create_dense(self._connection, self._view, dimensions)
                known.append(dimensions)
            into = sql.SQL("{} (chunk, embedding)").format(schema.dense_table(self._view, dimensions))
            packed = rows.dense_rows(ids, b"".join(parts), dimensions)
            rows.copy_packed(self._connection, into, packed)
        return known

    def _insert_postings(self, first: int, packed: postings.PackedPostings) -> None:
        if not packed.chunks:
            return
        ids = np.arange(first, first + len(packed.chunks), dtype="<i8")
        self._write_segment(self._segment, ids, np.array(packed.chunks, dtype="<i4"), packed.lists)

    def _write_segment(
        self, number: int, files: Any, chunks: Any, lists: Iterable[tuple[str, bytes]]
    ) -> None:
        self._connection.execute(
            "INSERT INTO segments (view, number, files, chunks) VALUES (%s, %s, %s, %s)",
            [self._view, number, files.astype("<i8").tobytes(), chunks.astype("<i4").tobytes()],
        )
        packed = rows.pack_posting_rows(self._view, number, lists)
        rows.copy_packed(self._connection, "postings (view, segment, token, data)", packed)

    def _merge_segments(self) -> None:
        """Put small segments together, one time; more of them are left to the next commits."""
        found = self._connection.execute(
            "SELECT number, files, chunks, removed FROM segments WHERE view = %s ORDER BY number",
            [self._view],
            binary=True,
        ).fetchall()
        chosen = postings.choose_merge([PostingSegment.from_row(*row) for row in found])
        if not chosen:
            return
        numbers = [segment.number for segment in chosen]
        lists = self._connection.execute(
            "SELECT token, segment, data FROM postings WHERE view = %s AND segment = ANY(%s) ORDER BY token",
            [self._view, numbers],
            binary=True,
        ).fetchall()
        files, chunks, merged = postings.merge_segments(chosen, lists)
        for table, column in (("postings", "segment"), ("segments", "number")):
            self._connection.execute(
                f"DELETE FROM {table} WHERE view = %s AND {column} = ANY(%s)", [self._view, numbers]
            )
        if len(files):
            self._write_segment(max(numbers), files, chunks, merged)
            self._connection.execute(
                "UPDATE files SET segment = %s WHERE view = %s AND id = ANY(%s)",
                [max(numbers), self._view, files.tolist()],
            )
