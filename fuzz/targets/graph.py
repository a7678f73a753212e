"""The code graph stored with an index: any other bytes give an empty graph."""

import zlib

from dowse.graph import graph_codec
from fuzz.inputs import choose


def run(data: bytes) -> None:
    """Unpack a graph, compressed or (for the fuzzer to get further) compressed here."""
    is_plain, rest = choose(data, 2)
    files = graph_codec.unpack(zlib.compress(rest, 0) if is_plain else rest)
    if files:
        assert graph_codec.unpack(graph_codec.pack(files)) == files
