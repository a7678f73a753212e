"""Astro components."""

from dowse.code.languages.spec import Language

LANGUAGE = Language(
    name="astro",
    extensions=(".astro",),
)
