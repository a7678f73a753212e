"""F#."""

from dowse.code.languages.spec import Language

LANGUAGE = Language(
    name="fsharp",
    extensions=(".fs", ".fsi", ".fsx"),
    aliases=("f#",),
    reader="definition_lines",
    lines=(
        (
            "module",
            r"module\h+(?:rec\h+|private\h+|internal\h+|public\h+)*(?P<name>[\w.]+|``[^`\n]+``)",
        ),
        (
            "type",
            r"(?:type|and)\h+(?:private\h+|internal\h+|public\h+)*(?P<name>\w+)(?=[ \t<(=:]|$)",
        ),
        (
            "method",
            r"(?:static\h+|abstract\h+|default\h+)*(?:member|override|abstract)\h+(?:inline\h+"
            r"|private\h+|internal\h+)*(?:\w+\.)?(?P<name>\w+)",
        ),
        (
            "function",
            r"let\h+(?:rec\h+|inline\h+|private\h+|internal\h+|mutable\h+)*"
            r"(?P<name>\w+|``[^`\n]+``)\h+(?:[^=:\n\s][^=\n]*)=(?!=)",
        ),
        (
            "variable",
            r"let\h+(?:private\h+|internal\h+|mutable\h+)*(?P<name>\w+)\h*(?::[^=\n]+)?=",
        ),
    ),
)
