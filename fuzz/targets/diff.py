"""Unified diffs: the lines that they change."""

from dowse.graph import history
from fuzz.inputs import as_text


def run(data: bytes) -> None:
    """Read the changed ranges of a diff."""
    changed, _ = history.changed_lines(as_text(data))
    assert all(0 <= first <= last for ranges in changed.values() for first, last in ranges)
