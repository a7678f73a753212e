"""Unified diffs: the lines that they change."""

from dowse.graph import git_diff
from fuzz.inputs import decode_text


def run(data: bytes) -> None:
    """Read the changed ranges of a diff."""
    changed, _ = git_diff.parse_diff(decode_text(data))
    assert all(0 <= first <= last for ranges in changed.values() for first, last in ranges)
