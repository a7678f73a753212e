"""Pascal and Delphi."""

from dowse.code.languages.spec import Language

LANGUAGE = Language(
    name="pascal",
    extensions=(".pas", ".dpr", ".dpk", ".lpr"),
    aliases=("delphi", "object-pascal"),
)
