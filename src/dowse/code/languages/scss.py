"""SCSS and Sass."""

from dowse.code.languages.base import Language

LANGUAGE = Language(
    name="scss",
    extensions=(".scss", ".sass"),
)
