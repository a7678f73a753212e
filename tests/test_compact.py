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
