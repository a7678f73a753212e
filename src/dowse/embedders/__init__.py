"""Text to vectors: the table of embedders. Adding one is one file and one row."""

from __future__ import annotations

from dowse.embedders.base import Embedder
from dowse.errors import SettingsError

NAMES = ("none", "hashing")


def create(name: str) -> Embedder | None:
    """The embedder of this name; ``none`` switches the dense channel off."""
    if name == "none":
        return None
    if name == "hashing":
        from dowse.embedders.hashing import HashingEmbedder

        return HashingEmbedder()
    raise SettingsError(f"unknown embedder '{name}': known are {', '.join(NAMES)}")
