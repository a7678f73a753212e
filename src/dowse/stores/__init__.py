"""Where an index lives: the table of stores. Adding one is one file and one row."""

from __future__ import annotations

from pathlib import Path

from dowse.errors import SettingsError
from dowse.stores.base import Store

NAMES = ("embedded", "memory")


def create(name: str, folder: Path, root: str, fingerprint: str) -> Store:
    """The store of this name for a tree."""
    if name == "embedded":
        from dowse.stores.embedded import EmbeddedStore

        return EmbeddedStore(folder, root, fingerprint)
    if name == "memory":
        from dowse.stores.memory import MemoryStore

        return MemoryStore(fingerprint)
    raise SettingsError(f"unknown store '{name}': known are {', '.join(NAMES)}")
