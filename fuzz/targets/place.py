"""Places as somebody names them: a path, lines of it, a definition."""

from dowse.search.output import read_place
from fuzz.inputs import as_text


def run(data: bytes) -> None:
    """Take a place apart; nothing of it may be lost."""
    text = as_text(data)
    place = read_place.parse_location(text)
    assert place.path or not text
    assert place.first >= 0
    assert place.last >= 0
    if place.name:
        assert f"{place.path}:{place.name}" == text
