"""Nix."""

from dowse.code.languages.base import Language

LANGUAGE = Language(
    name="nix",
    extensions=(".nix",),
)
