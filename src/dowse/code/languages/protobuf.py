"""Protocol Buffers."""

from dowse.code.languages.base import Language

LANGUAGE = Language(
    name="protobuf",
    extensions=(".proto",),
    aliases=("protocol-buffers",),
)
