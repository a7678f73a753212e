"""Astro components."""

from dowse.code.languages.base import Language

LANGUAGE = Language(
    name="astro",
    extensions=(".astro",),
)
