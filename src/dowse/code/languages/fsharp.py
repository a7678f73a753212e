"""F#."""

from dowse.code.languages.base import Language

LANGUAGE = Language(
    name="fsharp",
    extensions=(".fs", ".fsi", ".fsx"),
    aliases=("f#",),
)
