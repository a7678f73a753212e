"""Locations as users write them: a path, a range of lines, a definition."""

from dowse.errors import UsageError
from dowse.search.output import read_place
from fuzz.inputs import decode_text


def run(data: bytes) -> None:
    """Parse a location; nothing of it may be lost, and a line that cannot be is refused."""
    text = decode_text(data)
    try:
        location = read_place.parse_location(text)
    except UsageError:
        return
    assert location.path or not text
    assert location.first >= 0
    assert location.last >= 0
    if location.name:
        assert f"{location.path}:{location.name}" == text
