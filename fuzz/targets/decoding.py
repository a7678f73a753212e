"""Source files in any encoding: text in UTF-8, or None for what is not text."""

from dowse.indexing import decode


def run(data: bytes) -> None:
    """Decode a file."""
    decoded = decode._decode(data)
    if decoded is not None:
        content, encoding = decoded
        content.decode("utf-8")
        assert encoding
        decode._describe_minified(content, "a.js")
