"""Elm."""

from dowse.code.languages.base import Language

LANGUAGE = Language(
    name="elm",
    extensions=(".elm",),
)
