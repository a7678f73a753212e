"""Checksums of files: read in full by who is asked whether an index is whole, never by a search."""

from __future__ import annotations

import zlib
from pathlib import Path

READ_BYTES = 1 << 20
"""Bytes read at a time."""


def checksum(path: Path, size: int) -> int:
    """CRC-32 of the first bytes of a file; read, not mapped, so that a bad block is an error and not a signal."""
    found = 0
    with open(path, "rb") as file:
        while size > 0 and (piece := file.read(min(size, READ_BYTES))):
            found = zlib.crc32(piece, found)
            size -= len(piece)
    return found
