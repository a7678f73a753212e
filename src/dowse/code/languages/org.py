"""Org mode."""

from dowse.code.languages.spec import Language

LANGUAGE = Language(
    name="org",
    extensions=(".org",),
    aliases=("org-mode",),
    prose=True,
)
