"""From a chunk to what is shown: the enclosing definition if it is short enough, else the chunk, with its text."""

from __future__ import annotations

from dowse.search.signals.base import Candidate
from dowse.types import Entity, Kind


def shown_lines(
    candidate: Candidate, context_lines: int, before: int | None, after: int | None
) -> tuple[int, int]:
    """First and last line to show; explicit numbers of lines before and after replace the definition."""
    chunk = candidate.chunk
    if before is not None or after is not None:
        return max(1, chunk.start_line - (before or 0)), chunk.end_line + (after or 0)
    entity = enclosing(candidate)
    if entity is not None and entity.end_line - entity.start_line < context_lines:
        return min(chunk.start_line, entity.start_line), max(chunk.end_line, entity.end_line)
    return chunk.start_line, chunk.end_line


def enclosing(candidate: Candidate) -> Entity | None:
    """The definition that a chunk is part of, or the only one that begins in it."""
    if candidate.entity is not None:
        return candidate.entity
    return candidate.beginning[0] if len(candidate.beginning) == 1 else None


def lines_of(content: bytes, first: int, last: int) -> str:
    """The text of some lines, without the line break at the end."""
    lines = content.split(b"\n")[first - 1 : last]
    return b"\n".join(lines).decode("utf-8", "replace").replace("\r\n", "\n").rstrip("\r\n")


def pointed_at(candidate: Candidate) -> tuple[str, Kind, str]:
    """Qualified name, kind and signature of what a hit points at."""
    entity = enclosing(candidate)
    if entity is None:
        return "", Kind.FILE, ""
    return entity.qualified, entity.kind, entity.signature
