"""The references of a file as stored in an index, read for the code graph. IndexCorrupt for any other bytes."""

import zlib

from dowse.errors import IndexCorrupt
from dowse.graph import scopes
from fuzz.inputs import choose


def run(data: bytes) -> None:
    """Read the scopes of a file, compressed or (for the fuzzer to get further) compressed here."""
    is_plain, rest = choose(data, 2)
    try:
        scopes.read_scopes("src/a.py", "python", zlib.compress(rest, 0) if is_plain else rest)
    except IndexCorrupt:
        return
