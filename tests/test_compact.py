"""What is written for storing can be read with the standard library, whoever wrote it."""

import json
import sys
import zlib
from collections.abc import Iterator

import pytest

from dowse import compact
from dowse.types import Kind

VALUE = [("naïve\n\t\x00\u2028", Kind.CLASS, 1, None), {"call": [("a.b", 2, "")]}]


@pytest.fixture(params=["isal", "zlib"])
def compressor(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """With the fast compressor, and as on a machine that has none."""
    if request.param == "zlib":
        monkeypatch.setitem(sys.modules, "isal", None)
    compact._compress.cache_clear()
    yield request.param
    compact._compress.cache_clear()


def test_json_is_what_the_standard_library_would_write() -> None:
    expected = json.dumps(VALUE, ensure_ascii=False, separators=(",", ":"))
    assert compact.as_json(VALUE).decode() == expected


def test_what_is_deflated_can_be_inflated(compressor: str) -> None:
    for data in (b"", b"x", b"all work and no play\n" * 10_000):
        assert zlib.decompress(compact.deflated(data)) == data
    assert (compact._compress() is zlib.compress) == (compressor == "zlib")
