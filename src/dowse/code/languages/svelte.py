"""Svelte components."""

from dowse.code.languages.spec import Language

LANGUAGE = Language(
    name="svelte",
    extensions=(".svelte",),
)
