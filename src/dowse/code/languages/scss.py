"""SCSS and Sass."""

from dowse.code.languages.spec import Language

LANGUAGE = Language(
    name="scss",
    extensions=(".scss", ".sass"),
)
