"""Comma- and tab-separated values."""

from dowse.code.languages.base import Language

LANGUAGE = Language(
    name="csv",
    extensions=(".csv", ".tsv", ".psv"),
)
