"""Visual Basic."""

from dowse.code.languages.base import Language

LANGUAGE = Language(
    name="visual-basic",
    extensions=(".vb", ".bas", ".vbs"),
    aliases=("vba", "vbscript"),
)
