"""reStructuredText."""

from dowse.code.languages.spec import Language

LANGUAGE = Language(
    name="restructuredtext",
    extensions=(".rst", ".rest"),
    aliases=("restructured-text",),
    prose=True,
    reader="text_sections",
)
