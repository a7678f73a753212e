"""CRC-32 checksums of index files, for corruption checks (``dowse index``, ``dowse doctor``); never run by a search."""

from __future__ import annotations

import zlib
from pathlib import Path

READ_BYTES = 1 << 20
"""Bytes read at a time."""


def checksum(path: Path, size: int) -> int:
    """Return the CRC-32 of the first bytes of a file. It is read, not mapped: a bad block is an error, not a signal."""
    found = 0
    with open(path, "rb") as file:
        while size > 0 and (piece := file.read(min(size, READ_BYTES))):
            found = zlib.crc32(piece, found)
            size -= len(piece)
    return found
