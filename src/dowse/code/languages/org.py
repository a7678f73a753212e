"""Org mode."""

from dowse.code.languages.base import Language

LANGUAGE = Language(
    name="org",
    extensions=(".org",),
    aliases=("org-mode",),
    prose=True,
)
