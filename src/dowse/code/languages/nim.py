"""Nim."""

from dowse.code.languages.spec import Language

LANGUAGE = Language(
    name="nim",
    extensions=(".nim", ".nims", ".nimble"),
    reader="definition_lines",
    lines=(
        (
            "class",
            r"(?P<name>[A-Z]\w*)\*?\h*(?:\[[^\]\n]*\])?\h*(?:\{\.[^}\n]*\.\})?\h*=\h*(?:ref\h+"
            r"|ptr\h+)?(?:object|enum|tuple|distinct|concept)\b",
        ),
        ("macro", r"(?:template|macro)\h+(?P<name>\w+|`[^`\n]+`)"),
        ("function", r"(?:proc|func|method|iterator|converter)\h+(?P<name>\w+|`[^`\n]+`)"),
    ),
)
