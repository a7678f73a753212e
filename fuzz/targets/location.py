"""Places as somebody names them: a path, lines of it, a definition."""

from dowse.search.output import read_place
from fuzz.inputs import decode_text


def run(data: bytes) -> None:
    """Take a place apart; nothing of it may be lost."""
    text = decode_text(data)
    location = read_place.parse_location(text)
    assert location.path or not text
    assert location.first >= 0
    assert location.last >= 0
    if location.name:
        assert f"{location.path}:{location.name}" == text
