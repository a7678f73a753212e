"""Assembly of any machine."""

from dowse.code.languages.base import Language

LANGUAGE = Language(
    name="assembly",
    extensions=(".asm", ".s", ".nasm"),
    aliases=("assembler",),
)
