"""Comma- and tab-separated values."""

from dowse.code.languages.spec import Language

LANGUAGE = Language(
    name="csv",
    extensions=(".csv", ".tsv", ".psv"),
)
