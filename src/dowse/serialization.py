"""Serialization of stored values: JSON, binary columns of integers (columnar format), and zlib compression.

The one codec of what an index keeps. Who stores a value says what is a column and what is text; how both become bytes,
and that nothing but such bytes is read, is decided here.
"""

from __future__ import annotations

import sys
import zlib
from array import array
from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import Any

import orjson  # takes a quarter of the time of json

COMPRESSION_LEVEL = 1
"""Level of the compressor: three quarters of the best ratio at a fraction of its time."""

MAX_INFLATED_BYTES = 1 << 30
"""The largest stored value (a file's text, a graph): no database that we use keeps a larger one, and a few kilobytes
that somebody else wrote must not fill the memory."""

NUMBER_BYTES = 4

LONG_TEXT_BYTES = 4_000
"""A longer text is compressed: most of what definitions say is in such. A shorter one is sooner read as it is."""


def as_json(value: object) -> bytes:
    """Encode a value as JSON without spaces, in UTF-8; named tuples are not taken for tuples."""
    return orjson.dumps(value)


def from_json(data: bytes) -> Any:
    """Decode JSON; ``ValueError`` if it is invalid or nested too deeply."""
    return orjson.loads(data)


def pack_columns(head: object, columns: Iterable[Iterable[int]], rest: bytes = b"") -> bytes:
    """Pack a head as JSON, columns of whole numbers below 2**32, and what is only read when it is needed."""
    numbers, ends = array("I"), [0]
    for column in columns:
        numbers.extend(column)
        ends.append(len(numbers))
    if sys.byteorder == "big":
        numbers.byteswap()
    return b"".join([as_json([head, ends]), b"\n", numbers.tobytes(), rest])


def unpack_columns(data: bytes, count: int) -> tuple[Any, Sequence[array[int]], bytes]:
    """Unpack the head, ``count`` columns, and the rest; ``ValueError`` if a column is missing or cut off."""
    start = data.find(b"\n") + 1
    head, ends = orjson.loads(data[:start])
    if len(ends) != count + 1 or ends[0] != 0:
        raise ValueError(f"there are not {count} columns")
    if not all(type(end) is int for end in ends) or any(a > b for a, b in pairwise(ends)):
        raise ValueError("a column has no length")
    end_of_columns = start + NUMBER_BYTES * ends[-1]
    if end_of_columns > len(data):
        raise ValueError("columns are cut off")
    numbers = array("I", data[start:end_of_columns])
    if sys.byteorder == "big":
        numbers.byteswap()
    return head, [numbers[a:b] for a, b in pairwise(ends)], data[end_of_columns:]


def pack_text(value: object) -> bytes:
    """Pack a list as JSON, compressed if it is long."""
    text = as_json(value)
    return deflate(text) if len(text) >= LONG_TEXT_BYTES else text


def unpack_text(data: bytes) -> Any:
    """Unpack a list; ``ValueError`` or ``zlib.error`` if it is none."""
    return from_json(data if data.startswith(b"[") else inflate(data))


def deflate(data: bytes) -> bytes:
    """Compress data in the format of zlib; equal data gives equal bytes, which not every compressor promises."""
    return zlib.compress(data, COMPRESSION_LEVEL)


def inflate(data: bytes, limit: int = MAX_INFLATED_BYTES) -> bytes:
    """Decompress data; ``ValueError`` if the result exceeds the limit, ``zlib.error`` if the data is not complete."""
    stream = zlib.decompressobj()
    restored = stream.decompress(data, limit + 1)
    if len(restored) > limit:
        raise ValueError(f"more than {limit:,} bytes")
    if not stream.eof or stream.unused_data:
        raise zlib.error("the data is cut off, or has more behind it")
    return restored
