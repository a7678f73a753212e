"""Svelte components."""

from dowse.code.languages.base import Language

LANGUAGE = Language(
    name="svelte",
    extensions=(".svelte",),
)
