"""What is written for storing can be read with the standard library."""

import json
import zlib

import pytest

from dowse import compact
from dowse.types import Kind

VALUE = [("naïve\n\t\x00\u2028", Kind.CLASS, 1, None), {"call": [("a.b", 2, "")]}]


def test_json_is_what_the_standard_library_would_write() -> None:
    expected = json.dumps(VALUE, ensure_ascii=False, separators=(",", ":"))
    assert compact.as_json(VALUE).decode() == expected


@pytest.mark.parametrize("data", [b"", b"x", b"all work and no play\n" * 10_000])
def test_what_is_deflated_can_be_inflated(data: bytes) -> None:
    assert zlib.decompress(compact.deflated(data)) == data
