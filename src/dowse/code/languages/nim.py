"""Nim."""

from dowse.code.languages.spec import Language

LANGUAGE = Language(
    name="nim",
    extensions=(".nim", ".nims", ".nimble"),
)
