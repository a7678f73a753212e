"""Nim."""

from dowse.code.languages.base import Language

LANGUAGE = Language(
    name="nim",
    extensions=(".nim", ".nims", ".nimble"),
)
