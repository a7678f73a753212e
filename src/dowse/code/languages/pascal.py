"""Pascal and Delphi."""

from dowse.code.languages.base import Language

LANGUAGE = Language(
    name="pascal",
    extensions=(".pas", ".dpr", ".dpk", ".lpr"),
    aliases=("delphi", "object-pascal"),
)
