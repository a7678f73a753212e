"""The editor of TOML files: one table is added or removed, every other byte stays."""

import tomllib

from dowse.errors import UsageError
from dowse.interfaces.agents import toml_editor
from fuzz.inputs import decode_text

KEYS = ("mcp_servers", "dowse")
VALUE = {"command": "dowse", "args": ["mcp"]}


def run(data: bytes) -> None:
    """Insert a table, read it, replace it, remove it."""
    text = decode_text(data)
    try:
        before = toml_editor.get_entry(text, KEYS)
        inserted = toml_editor.set_entry(text, KEYS, VALUE)
        removed = toml_editor.remove_entry(text, KEYS)
    except UsageError:
        return
    tomllib.loads(removed)
    assert toml_editor.get_entry(removed, KEYS) is None
    assert toml_editor.get_entry(inserted, KEYS) == VALUE
    assert toml_editor.set_entry(inserted, KEYS, VALUE) == inserted
    if before is None:
        assert removed == text
        assert toml_editor.remove_entry(inserted, KEYS) == text, (text, inserted)
