"""The vectors of an index: a manifest and a segment of any bytes are searched, or count as lost; nothing raises."""

from dowse.stores.embedded.vector_index import MANIFEST_FILE, SEGMENT_SUFFIX, VectorIndex
from fuzz.inputs import make_folder, split

NAME = "00000001-0123abcd"
QUERY = [0.25, -0.5, 1.0, 0.0]


def run(data: bytes) -> None:
    """Open a folder with both, and search it."""
    manifest, segment = split(data, 2)
    folder = make_folder("segments")
    (folder / MANIFEST_FILE).write_bytes(manifest)
    (folder / (NAME + SEGMENT_SUFFIX)).write_bytes(segment)
    index = VectorIndex(folder)
    assert len(index) == len(index.chunks())
    assert index.generation or not len(index)
    for files in (None, frozenset({0, 1})):
        found = index.search(QUERY, 3, files)
        assert len(found) <= 3
    index.is_intact()
