"""A file's entry in an index: what it defines and how it is cut. IndexCorrupt for any other bytes."""

from dowse.errors import IndexCorrupt
from dowse.stores import row_codec
from dowse.types.source import Kind, ParseHealth
from fuzz.inputs import choose

HEALTHS = [*ParseHealth, "unheard-of"]


def run(data: bytes) -> None:
    """Unpack an entry and look at all of it; what can be read must be what could have been written."""
    choice, packed = choose(data, len(HEALTHS))
    try:
        parsed = row_codec.unpack_parsed("python", HEALTHS[choice], packed)
        entities, chunks = tuple(parsed.entities), tuple(parsed.chunks)
        row_codec.pack_parsed(parsed)  # reads every column, also of an entry without definitions
    except IndexCorrupt:
        return
    for entity in entities:
        assert all(
            isinstance(text, str) for text in (entity.name, entity.qualified, entity.signature, entity.doc)
        )
        assert isinstance(entity.kind, Kind)
        assert entity.parent is None or 0 <= entity.parent < len(entities)
    assert all(chunk.entity is None or 0 <= chunk.entity < len(entities) for chunk in chunks)
    again = row_codec.unpack_parsed("python", HEALTHS[choice], row_codec.pack_parsed(parsed))
    assert (tuple(again.entities), tuple(again.chunks)) == (entities, chunks)
