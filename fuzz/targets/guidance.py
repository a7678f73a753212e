"""The section for agents in a Markdown file: in and out, every other byte as it was."""

from dowse.interfaces.agents import guidance
from fuzz.inputs import as_text


def run(data: bytes) -> None:
    """Insert the section and remove it."""
    text = as_text(data)
    inserted = guidance.with_section(text)
    assert guidance.SECTION.strip() in inserted
    assert guidance.with_section(inserted) == inserted
    if guidance.without_section(text) == text:
        assert guidance.without_section(inserted) == text, (text, inserted)
