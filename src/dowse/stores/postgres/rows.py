"""Bulk insert with PostgreSQL's binary COPY: encode rows as fields with their lengths, in network byte order."""

from __future__ import annotations

import struct
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from psycopg import sql

from dowse.stores.postgres.connection import Connection

_HEAD = b"PGCOPY\n\xff\r\n\0" + bytes(8)
_TAIL = b"\xff\xff"

_SIZE = struct.Struct(">i").pack


def copy(connection: Connection, into: str, types: Sequence[str], rows: Iterable[Sequence[Any]]) -> None:
    """Copy rows of any kind into a table."""
    with connection.cursor() as cursor, cursor.copy(f"COPY {into} FROM STDIN (FORMAT BINARY)") as copying:
        copying.set_types(types)
        for row in rows:
            copying.write_row(row)


def copy_packed(connection: Connection, into: sql.Composed | str, rows: bytes) -> None:
    """Copy rows that are packed already into a table."""
    statement = into if isinstance(into, sql.Composed) else sql.SQL(into)
    query = sql.SQL("COPY {} FROM STDIN (FORMAT BINARY)").format(statement)
    with connection.cursor() as cursor, cursor.copy(query) as copying:
        copying.write(_HEAD + rows + _TAIL)


def pack_posting_rows(view: int, segment: int, lists: Iterable[tuple[str, bytes]]) -> bytes:
    """Pack rows of the posting lists of a segment: view, segment, token, data."""
    head = struct.pack(">hiiii", 4, 4, view, 4, segment)
    parts: list[bytes] = []
    for token, data in lists:
        name = token.encode()
        parts += (head, _SIZE(len(name)), name, _SIZE(len(data)), data)
    return b"".join(parts)


def dense_rows(ids: Sequence[int], vectors: bytes, dimensions: int) -> bytes:
    """Pack rows of a dense table: chunk, embedding."""
    row = np.dtype(
        [
            ("fields", ">i2"), ("id_size", ">i4"), ("id", ">i8"),
            ("size", ">i4"), ("dimensions", ">i2"), ("unused", ">i2"), ("numbers", ">f2", (dimensions,)),
        ]
    )  # fmt: skip
    rows = np.zeros(len(ids), dtype=row)
    rows["fields"], rows["id_size"], rows["id"] = 2, 8, ids
    rows["size"], rows["dimensions"] = 4 + 2 * dimensions, dimensions
    rows["numbers"] = np.frombuffer(vectors, dtype="<f4").reshape(len(ids), dimensions)
    return rows.tobytes()
