"""The watched paths of an index, stored with it. IndexCorrupt for any other text."""

from dowse.errors import IndexCorrupt
from dowse.stores import row_codec
from dowse.types.discovered import WatchKind
from fuzz.inputs import decode_json_text


def run(data: bytes) -> None:
    """Unpack watched paths; what can be read can be written and read again."""
    try:
        watched = row_codec.unpack_watched(decode_json_text(data))
    except IndexCorrupt:
        return
    for (kind, path), (changed_ns, is_trusted) in watched.items():
        assert isinstance(kind, WatchKind)
        assert isinstance(path, str)
        assert changed_ns is None or type(changed_ns) is int
        assert type(is_trusted) is bool
    assert row_codec.unpack_watched(row_codec.pack_watched(watched)) == watched
