"""Assembly language, for any processor."""

from dowse.code.languages.spec import Language

LANGUAGE = Language(
    name="assembly",
    extensions=(".asm", ".s", ".nasm"),
    aliases=("assembler",),
    reader="definition_lines",
    lines=(
        ("macro", r"\.macro\h+(?P<name>\w+)", r"\.endm"),
        ("macro", r"(?P<name>\w+)\h+(?i:macro|proc)\b"),
        ("function", r"(?<![^\n])(?P<name>[A-Za-z_$?@][\w.$?@]*):"),
    ),
)
