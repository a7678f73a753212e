"""Secret masking in diffs: what a commit added or took away is shown as the index shows files."""

from __future__ import annotations

from dowse.code.secrets import mask
from dowse.types.commit_values import CommitHit, Hunk


def mask_commit(commit: CommitHit) -> CommitHit:
    """Mask the secrets in the hunks of a commit."""
    return commit._replace(hunks=tuple(map(_mask_hunk, commit.hunks)))


def _mask_hunk(hunk: Hunk) -> Hunk:
    """Mask the secrets in the lines of a hunk, each of which begins with its sign."""
    text = "\n".join(line[1:] for line in hunk.lines)
    masked, found = mask(text.encode("utf-8", "replace"), hunk.path)
    if not found:
        return hunk
    lines = masked.decode("utf-8", "replace").split("\n")
    return hunk._replace(lines=tuple(old[0] + new for old, new in zip(hunk.lines, lines, strict=True)))
