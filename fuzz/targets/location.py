"""Locations as users write them: a path, a range of lines, a definition."""

from dowse.search.output import read_place
from fuzz.inputs import decode_text


def run(data: bytes) -> None:
    """Parse a location; nothing of it may be lost."""
    text = decode_text(data)
    location = read_place.parse_location(text)
    assert location.path or not text
    assert location.first >= 0
    assert location.last >= 0
    if location.name:
        assert f"{location.path}:{location.name}" == text
