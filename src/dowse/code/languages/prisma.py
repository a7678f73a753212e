"""Prisma schemas."""

from dowse.code.languages.spec import Language

LANGUAGE = Language(
    name="prisma",
    extensions=(".prisma",),
    reader="definition_lines",
    lines=(
        ("struct", r"(?:model|type|view)\h+(?P<name>\w+)\h*\{"),
        ("enum", r"enum\h+(?P<name>\w+)\h*\{"),
        ("resource", r"(?:datasource|generator)\h+(?P<name>\w+)\h*\{"),
    ),
)
