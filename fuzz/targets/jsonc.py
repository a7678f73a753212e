"""The editor of JSON files with comments: one entry is added or removed, every other byte stays."""

from dowse.errors import UsageError
from dowse.interfaces.agents import jsonc
from fuzz.inputs import decode_text

KEYS = ("mcpServers", "dowse")
VALUE = {"command": "dowse", "args": ["mcp"], "env": {}}


def run(data: bytes) -> None:
    """Insert an entry, read it, replace it, remove it."""
    text = decode_text(data)
    try:
        before = jsonc.get_entry(text, KEYS)
        holder = jsonc.get_entry(text, KEYS[:1])
        inserted = jsonc.set_entry(text, KEYS, VALUE)
        removed = jsonc.remove_entry(text, KEYS)
    except UsageError:
        return
    assert jsonc.get_entry(removed, KEYS) is None
    assert jsonc.get_entry(inserted, KEYS) == VALUE
    assert jsonc.set_entry(inserted, KEYS, VALUE) == inserted
    back = jsonc.remove_entry(inserted, KEYS)
    if before is None and isinstance(holder, dict) and holder and KEYS[1] not in holder:
        assert removed == text
        assert back == text, (text, inserted, back)
    elif before is not None:
        assert jsonc.get_entry(jsonc.set_entry(inserted, KEYS, before), KEYS) == before
