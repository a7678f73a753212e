"""The section for agents in a Markdown file: it is added and removed, every other byte stays."""

from dowse.interfaces.agents import instructions
from fuzz.inputs import decode_text


def run(data: bytes) -> None:
    """Insert the section and remove it."""
    text = decode_text(data)
    inserted = instructions.add_section(text)
    assert instructions.SECTION.strip() in inserted.replace("\r\n", "\n")
    assert instructions.add_section(inserted) == inserted
    if instructions.remove_section(text) == text:
        assert instructions.remove_section(inserted) == text, (text, inserted)
