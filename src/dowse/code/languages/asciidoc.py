"""AsciiDoc."""

from dowse.code.languages.spec import Language

LANGUAGE = Language(
    name="asciidoc",
    extensions=(".adoc", ".asciidoc"),
    prose=True,
    reader="text_sections",
)
