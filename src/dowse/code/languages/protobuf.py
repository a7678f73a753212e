"""Protocol Buffers."""

from dowse.code.languages.spec import Language

LANGUAGE = Language(
    name="protobuf",
    extensions=(".proto",),
    aliases=("protocol-buffers",),
)
