"""Reading: which bytes are text, in which encoding, and what is never opened."""

from __future__ import annotations

import os
import random
from pathlib import Path

import pytest

from dowse.indexing import stamps
from dowse.indexing.decode import SourceText, read_source
from dowse.indexing.stamps import is_same_stamp
from dowse.types.discovered import FileStamp, Skipped, SkipReason

LIMIT = 1_000_000
TEXT = "def größe():\n    return 'naïve — ok'\n" * 3
posix_only = pytest.mark.skipif(os.name == "nt", reason="Windows has no such thing")


def read_bytes(folder: Path, data: bytes, name: str = "x.txt", limit: int = LIMIT) -> SourceText | Skipped:
    path = folder / name
    path.write_bytes(data)
    return read_source(path, name, limit)


def reason(result: SourceText | Skipped) -> SkipReason | None:
    return result.reason if isinstance(result, Skipped) else None


@pytest.mark.parametrize(
    ("data", "encoding"),
    [
        (TEXT.encode(), "utf-8"),
        (b"\xef\xbb\xbf" + TEXT.encode(), "utf-8"),
        (b"\xff\xfe" + TEXT.encode("utf-16-le"), "utf-16-le"),
        (b"\xfe\xff" + TEXT.encode("utf-16-be"), "utf-16-be"),
        (b"\xff\xfe\0\0" + TEXT.encode("utf-32-le"), "utf-32-le"),
        (b"\0\0\xfe\xff" + TEXT.encode("utf-32-be"), "utf-32-be"),
        (TEXT.encode("utf-16-le"), "utf-16-le"),
        (TEXT.encode("utf-16-be"), "utf-16-be"),
        (TEXT.encode("cp1252"), "cp1252"),
    ],
)
def test_encodings(data: bytes, encoding: str, tmp_path: Path) -> None:
    result = read_bytes(tmp_path, data)
    assert isinstance(result, SourceText)
    assert result.content.decode() == TEXT
    assert result.encoding == encoding


def test_bytes_that_no_code_page_has_become_latin_1(tmp_path: Path) -> None:
    result = read_bytes(tmp_path, b"caf\xe9 \x81 is text in some code page\n")
    assert isinstance(result, SourceText)
    assert result.encoding == "latin-1"
    assert result.content.decode().startswith("café \x81 is")


def test_a_few_bad_bytes_do_not_spoil_the_rest_of_utf8(tmp_path: Path) -> None:
    result = read_bytes(tmp_path, "größe und länge — übel\n".encode() + b"\xff\n")
    assert isinstance(result, SourceText)
    assert result.encoding == "utf-8 with errors"
    assert result.content.decode() == "größe und länge — übel\n\ufffd\n"


def test_line_ends_are_kept(tmp_path: Path) -> None:
    result = read_bytes(tmp_path, b"a\r\nb\rc\n")
    assert isinstance(result, SourceText)
    assert result.content == b"a\r\nb\rc\n"


def test_the_stamp_belongs_to_the_content(tmp_path: Path) -> None:
    result = read_bytes(tmp_path, b"\xef\xbb\xbfx")
    status = (tmp_path / "x.txt").stat()
    assert isinstance(result, SourceText)
    stamp = FileStamp(4, status.st_mtime_ns, 0 if os.name == "nt" else status.st_ctime_ns)
    assert is_same_stamp(result.stamp, stamp)


@pytest.mark.parametrize("is_trusted", [True, False])
def test_the_stamp_is_trusted_by_its_age_when_the_file_is_read(
    tmp_path: Path, is_trusted: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(stamps, "TRUSTED_AGE_NS", 0 if is_trusted else 60_000_000_000)
    result = read_bytes(tmp_path, b"x")
    assert isinstance(result, SourceText)
    assert result.stamp.is_trusted is is_trusted


@pytest.mark.parametrize(
    "data",
    [
        b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR",
        b"\x7fELF" + bytes(64),
        random.Random(1).randbytes(5000),
        bytes(random.Random(2).choices(range(1, 256), k=5000)),
        b"\xff\xfe" + random.Random(3).randbytes(4001),
        b"\xff\xfe" + b"\x01\0" * 100,
        b"text at first " * 10 + b"\0",
        b"ab\0",
    ],
)
def test_binary(data: bytes, tmp_path: Path) -> None:
    assert reason(read_bytes(tmp_path, data)) is SkipReason.BINARY


@pytest.mark.parametrize("data", [b"", b"\xef\xbb\xbf", b"\xff\xfe"])
def test_empty(data: bytes, tmp_path: Path) -> None:
    source = read_bytes(tmp_path, data)
    assert isinstance(source, SourceText)
    assert source.content == b""


def test_a_file_that_grew_beyond_the_limit(tmp_path: Path) -> None:
    assert reason(read_bytes(tmp_path, b"x" * 10, limit=10)) is None
    result = read_bytes(tmp_path, b"x" * 11, limit=10)
    assert result == Skipped("x.txt", SkipReason.TOO_LARGE, "11 bytes, the limit is 10")


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="needs a file that is longer than it says")
def test_a_file_longer_than_its_size_says() -> None:
    path = Path("/proc/self/status")
    assert path.stat().st_size == 0
    result = read_source(path, "status", LIMIT)
    assert isinstance(result, SourceText)
    assert result.content.startswith(b"Name:")
    assert reason(read_source(path, "status", 100)) is SkipReason.TOO_LARGE


def test_a_file_that_vanished(tmp_path: Path) -> None:
    result = read_source(tmp_path / "gone.py", "gone.py", LIMIT)
    assert result == Skipped("gone.py", SkipReason.UNREADABLE, os.strerror(2))


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="root may read everything")
def test_a_file_without_permission(tmp_path: Path) -> None:
    (tmp_path / "x").write_text("x")
    (tmp_path / "x").chmod(0)
    assert read_source(tmp_path / "x", "x", LIMIT) == Skipped("x", SkipReason.UNREADABLE, "Permission denied")


def test_a_path_that_cannot_exist(tmp_path: Path) -> None:
    assert reason(read_source(tmp_path / "a\0b", "a\0b", LIMIT)) is SkipReason.UNREADABLE
    assert reason(read_source(tmp_path / ("x" * 5000), "x", LIMIT)) is SkipReason.UNREADABLE


@posix_only
def test_a_path_swapped_for_something_else(tmp_path: Path) -> None:
    (tmp_path / "outside").write_text("secret")
    (tmp_path / "link").symlink_to("outside")
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "folder").mkdir()
    assert read_source(tmp_path / "link", "link", LIMIT) == Skipped(
        "link", SkipReason.SYMLINK, "a link by now"
    )
    assert read_source(tmp_path / "pipe", "pipe", LIMIT) == Skipped("pipe", SkipReason.NOT_A_FILE, "a pipe")
    assert reason(read_source(tmp_path / "folder", "folder", LIMIT)) is SkipReason.NOT_A_FILE


MINIFIED = b"function a(b){return b+1};var c=a(2);" * 300
HAND_WRITTEN = b"function add(first) {\n  return first + 1\n}\n" * 300


@pytest.mark.parametrize(
    ("name", "data", "minified"),
    [
        ("app.js", MINIFIED, True),
        ("app.css", MINIFIED, True),
        ("app.mjs", b"\n".join([MINIFIED[:400]] * 30), False),
        ("app.mjs", b"\n".join([MINIFIED[:400]] * 30) + b"\n//# sourceMappingURL=app.js.map\n", True),
        ("app.js", HAND_WRITTEN + b"//# sourceMappingURL=app.js.map", False),
        ("app.js", HAND_WRITTEN + b"var data = '" + b"x" * 60_000 + b"'\n", True),
        ("app.js", HAND_WRITTEN * 10 + b"var data = '" + b"x" * 60_000 + b"'\n", False),
        ("app.js", MINIFIED[:4000], False),
        ("app.js", HAND_WRITTEN.replace(b"\n", b"\r"), False),
        ("data.json", MINIFIED, False),
        ("data.csv", MINIFIED, False),
        ("app.py", MINIFIED, False),
    ],
)
def test_minified(name: str, data: bytes, minified: bool, tmp_path: Path) -> None:
    expected = SkipReason.MINIFIED if minified else None
    assert reason(read_bytes(tmp_path, data, name)) is expected
