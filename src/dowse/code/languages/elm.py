"""Elm."""

from dowse.code.languages.spec import Language

LANGUAGE = Language(
    name="elm",
    extensions=(".elm",),
)
