"""AsciiDoc."""

from dowse.code.languages.base import Language

LANGUAGE = Language(
    name="asciidoc",
    extensions=(".adoc", ".asciidoc"),
    prose=True,
)
