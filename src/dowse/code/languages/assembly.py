"""Assembly of any machine."""

from dowse.code.languages.spec import Language

LANGUAGE = Language(
    name="assembly",
    extensions=(".asm", ".s", ".nasm"),
    aliases=("assembler",),
)
