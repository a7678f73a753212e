"""reStructuredText."""

from dowse.code.languages.base import Language

LANGUAGE = Language(
    name="restructuredtext",
    extensions=(".rst", ".rest"),
    aliases=("restructured-text",),
    prose=True,
)
