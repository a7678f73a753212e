"""Patches."""

from dowse.code.languages.base import Language

LANGUAGE = Language(
    name="diff",
    extensions=(".diff", ".patch"),
    aliases=("udiff",),
)
