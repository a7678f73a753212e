"""Assembly language, for any processor."""

from dowse.code.languages.spec import Language

LANGUAGE = Language(
    name="assembly",
    extensions=(".asm", ".s", ".nasm"),
    aliases=("assembler",),
)
