"""Planned commits on PostgreSQL, of a view whose channels are elsewhere: numbered first, published in one transaction.

A number stays in the table ``planned`` until its commit is published. One that is there although a later generation is
visible was abandoned: what its writer left in the channels is not shown.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from dowse.errors import IndexLocked
from dowse.stores.channels_protocol import NumberedFile, PlannedCommit, RemovedFile, VisibleGeneration
from dowse.stores.postgres.connection import Connection
from dowse.stores.postgres.file_commit import ViewFilesWriter
from dowse.stores.postgres.filter_sql import to_sql_text
from dowse.stores.postgres.postings import FIELDS
from dowse.stores.postgres.state import ViewState
from dowse.types.discovered import SourceFile

SELECT_ABANDONED = "SELECT generation FROM planned WHERE view = %s AND generation <= %s"

FORGET_AFTER_HOURS = 24
"""Abandoned commits are forgotten when no writer that lost its lock can still be sending anything."""


def make_visible(state: ViewState, repository: str, abandoned: Iterable[Sequence[Any]]) -> VisibleGeneration:
    """Make what readers of the channels need to know of a view."""
    numbers = frozenset(row[0] for row in abandoned)
    return VisibleGeneration(
        state.identity, repository, state.generation, numbers, state.chunks, tuple(state.tokens)
    )


def read_visible(connection: Connection, state: ViewState, repository: str) -> VisibleGeneration:
    """Read what of the channels belongs to a state of a view."""
    rows = connection.execute(SELECT_ABANDONED, [state.id, state.generation]).fetchall()
    return make_visible(state, repository, rows)


def plan_commit(
    connection: Connection,
    state: ViewState,
    repository: str,
    removed: Sequence[str],
    files: Sequence[SourceFile],
) -> PlannedCommit:
    """Give numbers to a commit and its files; no other gets them, whatever comes of it."""
    with connection.transaction():
        next_file = _fetch_number(
            connection,
            "UPDATE views SET next_file = next_file + %s WHERE id = %s RETURNING next_file",
            len(files),
            state.id,
        )
        generation = _fetch_number(
            connection,
            "INSERT INTO planned (view, generation) SELECT %s, 1 + greatest(%s, coalesce(max(generation), 0)) "
            "FROM planned WHERE view = %s RETURNING generation",
            state.id,
            state.generation,
            state.id,
        )
        gone = connection.execute(
            "SELECT f.id, f.chunks, c.entity_count FROM files f JOIN contents c ON c.id = f.content "
            "WHERE f.view = %s AND f.path = ANY(%s)",
            [state.id, [to_sql_text(path) for path in (*removed, *(file.path for file in files))]],
        ).fetchall()
        base = read_visible(connection, state, repository)
    first = next_file - len(files)
    added = tuple(NumberedFile(first + i, file) for i, file in enumerate(files))
    return PlannedCommit(base, generation, added, tuple(map(RemovedFile._make, gone)), tuple(removed))


def publish_commit(connection: Connection, state: ViewState, fingerprint: str, commit: PlannedCommit) -> None:
    """Write the files of a commit and make its generation visible, in the transaction that is open."""
    numbered = ViewFilesWriter(connection, state, fingerprint)
    files = [file.source for file in commit.added]
    gone = numbered.delete_files([*commit.removed_paths, *(file.path for file in files)])
    contents = numbered.insert_contents(files)
    counts = [_count_tokens(file) for file in files]
    numbered.insert_files(files, [file.id for file in commit.added], contents, counts, commit.generation)
    numbered.insert_vectors(files)
    lost = [row[3] for row in gone]
    tokens = [
        state.tokens[field] + sum(row[field] for row in counts) - sum(row[field] for row in lost)
        for field in range(len(FIELDS))
    ]
    changed = connection.execute(
        "UPDATE views SET generation = %s, files = files + %s, chunks = chunks + %s, tokens = %s, written = now() "
        "WHERE id = %s AND generation = %s",
        [
            commit.generation,
            len(files) - len(gone),
            sum(len(file.terms) for file in files) - sum(row[2] for row in gone),
            tokens,
            state.id,
            commit.base.generation,
        ],
    ).rowcount
    if not changed:
        raise IndexLocked("another process has written the index meanwhile: try again")
    connection.execute(
        "DELETE FROM planned WHERE view = %s AND generation = %s", [state.id, commit.generation]
    )


def _count_tokens(file: SourceFile) -> list[int]:
    """Count the tokens of a file by field."""
    return [sum(len(text.split()) for text in column) for column in zip(*file.terms, strict=True)] or [
        0
    ] * len(FIELDS)


def forget_abandoned(connection: Connection, view: int, generation: int) -> None:
    """Forget commits that were abandoned long ago, and swept since."""
    connection.execute(
        "DELETE FROM planned WHERE view = %s AND generation <= %s AND begun < now() - make_interval(hours => %s)",
        [view, generation, FORGET_AFTER_HOURS],
    )


def _fetch_number(connection: Connection, query: str, *values: Any) -> int:
    row = connection.execute(query, values).fetchone()
    assert row is not None, "a statement that returns a row"
    return int(row[0])
