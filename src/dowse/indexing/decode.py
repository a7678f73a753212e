"""Character encoding detection: read a file and decode it to UTF-8, or skip it as binary, minified or too large.

Handles byte order marks, UTF-16 and legacy encodings. The only place that opens files of the tree for indexing.
"""

from __future__ import annotations

import codecs
import os
import re
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from dowse import safe_files
from dowse.code.formats.notebook_cells import MAX_NOTEBOOK_BYTES, extract_cells
from dowse.indexing.stamps import judge_stamp, stamp_of
from dowse.types.discovered import FileStamp, Skipped, SkipReason

_SNIFFED_BYTES = 8192  # searched for a NUL, as git does: enough for every binary format's header

# Longest first: the mark of UTF-32 LE begins with that of UTF-16 LE.
_BYTE_ORDER_MARKS = (
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)

# UTF-16 without a mark: in text that is mostly ASCII, every second byte is zero and the others are not.
_UTF16_MIN_BYTES = 16
_UTF16_MIN_ZERO_SHARE = 0.7
_UTF16_MAX_OTHER_ZERO_SHARE = 0.02

# Control characters that text does not have; tabs, line ends, form feeds, backspaces and escapes do occur.
_CONTROL_CHARACTERS = bytes(set(range(32)) - set(b"\b\t\n\v\f\r\x1b")) + b"\x7f"
_MAX_CONTROL_SHARE = 0.01  # compressed or encrypted data has about 0.1

_NON_ASCII_BYTES = bytes(range(128, 256))

# Minified code is only looked for where minifiers are at work: a long JSON or CSV line is data, and text.
_MINIFIABLE_EXTENSIONS = frozenset({".js", ".mjs", ".cjs", ".jsx", ".css"})
_MINIFIED_MIN_BYTES = 5_000  # a short file does no harm, whatever its lines
_MINIFIED_MEAN_LINE_BYTES = 500  # bytes; hand-written files stay below 100
_MAPPED_MEAN_LINE_BYTES = 200  # with a pointer to a source map, which only tools write
_MINIFIED_LONGEST_LINE_BYTES = 50_000  # bytes in one line that is also most of the file
_NOTEBOOK_EXTENSION = ".ipynb"

_SOURCE_MAP = re.compile(rb"[#@] sourceMappingURL=\S+\s*(?:\*/)?\s*\Z")
_SOURCE_MAP_TAIL_BYTES = 500  # bytes at the end in which the pointer stands


@dataclass(frozen=True, slots=True)
class SourceText:
    """A file's text in UTF-8 without byte order mark, line ends as they are, and the stamp of just that."""

    content: bytes
    encoding: str
    stamp: FileStamp


def read_source(path: Path, relative: str, max_size: int) -> SourceText | Skipped:
    """Read the text of a file, or return why it is skipped; never raise an error for what is on disk.

    Of a notebook, only its cells are kept, and only these count for its size.
    """
    try:
        data, stamp = _read_stamped(path, limit_size(relative, max_size))
    except safe_files.LinkRefused:
        return Skipped(relative, SkipReason.SYMLINK, "a link by now")  # it was none when it was discovered
    except safe_files.NotRegular as error:
        return Skipped(relative, SkipReason.NOT_A_FILE, str(error))
    except safe_files.TooLarge as error:
        return Skipped(relative, SkipReason.TOO_LARGE, str(error))
    except OSError as error:
        return Skipped(relative, SkipReason.UNREADABLE, error.strerror or str(error))
    decoded = decode_source(data, relative, max_size)
    return decoded if isinstance(decoded, Skipped) else SourceText(*decoded, stamp)


def decode_source(data: bytes, relative: str, max_size: int) -> tuple[bytes, str] | Skipped:
    """Decode what a file has to UTF-8; return also the name of its encoding, or why the file is skipped."""
    decoded = _decode(data)
    if decoded is None:
        return Skipped(relative, SkipReason.BINARY, "its content is not text")
    content, encoding = decoded
    if relative.lower().endswith(_NOTEBOOK_EXTENSION):
        cells = extract_cells(content.decode("utf-8", "replace"))
        content = content if cells is None else cells.encode("utf-8", "replace")
        if len(content) > max_size:
            what = "without outputs" if cells is not None else "and no cells of a notebook in it"
            return Skipped(relative, SkipReason.TOO_LARGE, f"{len(content):,} bytes {what}")
    if detail := _describe_minified(content, relative):
        return Skipped(relative, SkipReason.MINIFIED, detail)
    return content, encoding


def limit_size(relative: str, max_size: int) -> int:
    """Return how large a file may be to be read: a notebook may be larger than what is kept of it."""
    return max(max_size, MAX_NOTEBOOK_BYTES) if relative.lower().endswith(_NOTEBOOK_EXTENSION) else max_size


def _read_stamped(path: Path, max_size: int) -> tuple[bytes, FileStamp]:
    """Read a regular file that is not a link, with its stamp when it was opened: trusted or not at that moment."""
    descriptor = safe_files.open_regular(path)
    try:
        stamp = judge_stamp(stamp_of(os.fstat(descriptor)))
        return safe_files.read_descriptor(descriptor, max_size), stamp
    finally:
        os.close(descriptor)


def _decode(data: bytes) -> tuple[bytes, str] | None:
    """Decode text to UTF-8; return also the name of its encoding, or None for binary data."""
    for mark, encoding in _BYTE_ORDER_MARKS:
        content = _transcode(data[len(mark) :], encoding) if data.startswith(mark) else None
        if content is not None and not _has_control_characters(content):
            return content, encoding
    sample = data[:_SNIFFED_BYTES]
    if b"\0" in sample:
        encoding = _guess_utf16(sample)
        content = _transcode(data, encoding) if encoding else None
        return None if content is None or _has_control_characters(content) else (content, encoding)
    if _transcode(data, "utf-8") is not None:
        return data, "utf-8"
    return None if _has_control_characters(data) else _decode_legacy(data)


def _decode_legacy(data: bytes) -> tuple[bytes, str]:
    """Decode text that is not valid UTF-8: as corrupt UTF-8 if most of it makes sense, else one byte a character."""
    replaced = data.decode("utf-8", "replace")
    invalid = replaced.count("\ufffd")
    non_ascii = len(replaced) - len(data.translate(None, _NON_ASCII_BYTES))
    if invalid * 2 < non_ascii:
        return replaced.encode(), "utf-8 with errors"
    content = _transcode(data, "cp1252")
    return (data.decode("latin-1").encode(), "latin-1") if content is None else (content, "cp1252")


def _transcode(data: bytes, encoding: str) -> bytes | None:
    try:
        text = data.decode(encoding)
        return data if encoding == "utf-8" else text.encode()
    except UnicodeError:
        return None


def _guess_utf16(sample: bytes) -> str:
    """Guess UTF-16 and its byte order from the zeros of a sample; an empty string if it is none."""
    if len(sample) < _UTF16_MIN_BYTES:
        return ""
    even, odd = sample[::2], sample[1::2]
    even_zeros, odd_zeros = even.count(0) / len(even), odd.count(0) / len(odd)
    if odd_zeros >= _UTF16_MIN_ZERO_SHARE and even_zeros <= _UTF16_MAX_OTHER_ZERO_SHARE:
        return "utf-16-le"
    if even_zeros >= _UTF16_MIN_ZERO_SHARE and odd_zeros <= _UTF16_MAX_OTHER_ZERO_SHARE:
        return "utf-16-be"
    return ""


def _has_control_characters(data: bytes) -> bool:
    return len(data) - len(data.translate(None, _CONTROL_CHARACTERS)) > len(data) * _MAX_CONTROL_SHARE


def _describe_minified(content: bytes, relative: str) -> str:
    """Say what shows that code is minified, or return an empty string."""
    size = len(content)
    if size <= _MINIFIED_MIN_BYTES or PurePosixPath(relative).suffix.lower() not in _MINIFIABLE_EXTENSIONS:
        return ""
    mean = size // ((content.count(b"\n") or content.count(b"\r")) + 1)
    has_source_map = _SOURCE_MAP.search(content, size - _SOURCE_MAP_TAIL_BYTES) is not None
    if mean > (_MAPPED_MEAN_LINE_BYTES if has_source_map else _MINIFIED_MEAN_LINE_BYTES):
        return f"lines of {mean:,} bytes on average"
    longest = max(map(len, content.splitlines()))
    if longest > max(_MINIFIED_LONGEST_LINE_BYTES, size // 2):
        return f"one line of {longest:,} bytes"
    return ""
