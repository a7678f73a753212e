"""F#."""

from dowse.code.languages.spec import Language

LANGUAGE = Language(
    name="fsharp",
    extensions=(".fs", ".fsi", ".fsx"),
    aliases=("f#",),
)
