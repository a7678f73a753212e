"""What is written for storing can be read with the standard library."""

import json
import tracemalloc
import zlib

import pytest

from dowse import serialization
from dowse.types.source import Kind

VALUE = [("naïve\n\t\x00\u2028", Kind.CLASS, 1, None), {"call": [("a.b", 2, "")]}]


def test_json_is_what_the_standard_library_would_write() -> None:
    expected = json.dumps(VALUE, ensure_ascii=False, separators=(",", ":"))
    assert serialization.as_json(VALUE).decode() == expected


@pytest.mark.parametrize("data", [b"", b"x", b"all work and no play\n" * 10_000])
def test_what_is_deflated_can_be_inflated(data: bytes) -> None:
    assert zlib.decompress(serialization.deflate(data)) == data
    assert serialization.inflate(serialization.deflate(data)) == data
    assert serialization.inflate(serialization.deflate(data), len(data)) == data


def test_a_few_bytes_do_not_inflate_to_more_than_the_limit() -> None:
    bomb = zlib.compress(bytes(50_000_000))
    tracemalloc.start()
    try:
        with pytest.raises(ValueError, match="more than 1,000 bytes"):
            serialization.inflate(bomb, 1_000)
        assert tracemalloc.get_traced_memory()[1] < 1_000_000
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize(
    "data", [b"", b"no zlib", serialization.deflate(b"cut")[:-1], serialization.deflate(b"x") + b"y"]
)
def test_what_is_no_whole_stream_is_an_error(data: bytes) -> None:
    with pytest.raises(zlib.error):
        serialization.inflate(data)


HEAD = {"names": ["naïve", "b"]}
COLUMNS = [[], [1, 2**32 - 1], [0]]


def test_columns_are_unpacked_as_they_were_packed() -> None:
    packed = serialization.pack_columns(HEAD, COLUMNS, b"the rest\n")
    head, columns, rest = serialization.unpack_columns(packed, 3)
    assert (head, [list(column) for column in columns], rest) == (HEAD, COLUMNS, b"the rest\n")


def test_columns_are_little_endian_on_every_machine() -> None:
    assert serialization.pack_columns(None, [[1], [258]]) == b"[null,[0,1,2]]\n\1\0\0\0\2\1\0\0"


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"[1]\n",
        b"[[],[0,0]]\n",
        b"[[],[1,1,1,1]]\n\0\0\0\0",
        b"[[],[0,2,1,1]]\n" + bytes(8),
        b"[[],[0,0,0,1e9]]\n",
        b"[[],[0,0,0,true]]\n\0\0\0\0",
        b"[[],[0,0,0,1]]\n\0\0\0",
        b"[" * 100_000,
    ],
)
def test_what_is_no_columns_is_an_error(data: bytes) -> None:
    with pytest.raises((ValueError, TypeError)):
        serialization.unpack_columns(data, 3)
