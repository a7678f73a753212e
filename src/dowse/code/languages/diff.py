"""Diffs and patches (unified diff)."""

from dowse.code.languages.spec import Language

LANGUAGE = Language(
    name="diff",
    extensions=(".diff", ".patch"),
    aliases=("udiff",),
)
