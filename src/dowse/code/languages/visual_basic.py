"""Visual Basic."""

from dowse.code.languages.spec import Language

LANGUAGE = Language(
    name="visual-basic",
    extensions=(".vb", ".bas", ".vbs"),
    aliases=("vba", "vbscript"),
    reader="definition_lines",
    lines=(
        (
            "class",
            r"(?i:(?:(?:public|private|friend|partial|mustinherit|notinheritable)\h+)*class)\h+"
            r"(?P<name>\w+)",
            r"End +Class",
        ),
        ("module", r"(?i:(?:(?:public|friend)\h+)*module)\h+(?P<name>\w+)", r"End +Module"),
        (
            "interface",
            r"(?i:(?:(?:public|friend)\h+)*interface)\h+(?P<name>\w+)",
            r"End +Interface",
        ),
        ("enum", r"(?i:(?:(?:public|private|friend)\h+)*enum)\h+(?P<name>\w+)", r"End +Enum"),
        (
            "function",
            r"(?i:(?:(?:public|private|protected|friend|shared|overrides|overridable|async"
            r"|static)\h+)*(?:sub|function))\h+(?P<name>\w+)",
            r"End +(?:Sub|Function)",
        ),
        (
            "method",
            r"(?i:(?:(?:public|private|protected|friend|shared|readonly|overrides"
            r"|default)\h+)*property(?:\h+(?:get|let|set))?)\h+(?P<name>\w+)",
            r"End +Property",
        ),
    ),
)
