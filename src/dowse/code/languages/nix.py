"""Nix."""

from dowse.code.languages.spec import Language

LANGUAGE = Language(
    name="nix",
    extensions=(".nix",),
)
