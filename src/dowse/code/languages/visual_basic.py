"""Visual Basic."""

from dowse.code.languages.spec import Language

LANGUAGE = Language(
    name="visual-basic",
    extensions=(".vb", ".bas", ".vbs"),
    aliases=("vba", "vbscript"),
)
