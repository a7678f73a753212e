"""Windows batch files."""

from dowse.code.languages.base import Language

LANGUAGE = Language(
    name="batch",
    extensions=(".bat", ".cmd"),
    aliases=("dos",),
)
