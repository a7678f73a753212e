"""Windows batch files."""

from dowse.code.languages.spec import Language

LANGUAGE = Language(
    name="batch",
    extensions=(".bat", ".cmd"),
    aliases=("dos",),
)
