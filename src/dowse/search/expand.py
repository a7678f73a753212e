"""From a chunk to what is shown: the definition that answers, the lines around it, their text."""

from __future__ import annotations

from dowse.code import tokens
from dowse.search.analyse import is_identifier
from dowse.search.signals.base import Candidate
from dowse.types import AnalysedQuery, Entity, Kind

FUNCTIONS = frozenset({Kind.FUNCTION, Kind.METHOD, Kind.MACRO})
VALUES = frozenset({Kind.VARIABLE, Kind.CONSTANT})


def pointed_at(query: AnalysedQuery, candidate: Candidate) -> Entity | None:
    """The definition a hit stands for: the one most like the question of those in and around the chunk.

    Of equals, what is around the chunk comes first if it is a function or begins here too, else last. A variable
    or constant counts only if its name is asked for.
    """
    around = candidate.entity
    asked = {name.lower() for name in query.names if is_identifier(name) or len(query.words) == 1}
    inside = [
        entity
        for entity in candidate.beginning
        if entity is not around and (entity.kind not in VALUES or entity.name.lower() in asked)
    ]
    if not inside:
        return around
    options = inside
    if around is not None:
        leads = around.kind in FUNCTIONS or around in candidate.beginning
        options = [around, *inside] if leads else [*inside, around]
    wanted = frozenset(query.words)
    return max(options, key=lambda entity: _likeness(entity, wanted)) if len(options) > 1 else options[0]


def _likeness(entity: Entity, wanted: frozenset[str]) -> tuple[int, int]:
    """Words shared with the name, then with signature and documentation; the first of equals wins."""
    name = wanted.intersection(tokens.tokens(entity.name).split())
    described = wanted.intersection(tokens.tokens(f"{entity.signature}\n{entity.doc}").split())
    return len(name), len(described)


def shown_lines(
    candidate: Candidate, entity: Entity | None, context_lines: int, before: int | None, after: int | None
) -> tuple[int, int]:
    """First and last line to show: the chunk, with the whole of its definition if that is short enough.

    Explicit numbers of lines before and after replace the definition.
    """
    chunk = candidate.chunk
    if before is not None or after is not None:
        end = candidate.file.parsed.chunks[-1].end_line
        return max(1, chunk.start_line - (before or 0)), min(
            max(end, chunk.end_line), chunk.end_line + (after or 0)
        )
    first, last = chunk.start_line, chunk.end_line
    if entity is not None and entity.end_line - entity.start_line < context_lines:
        first, last = min(first, entity.start_line), max(last, entity.end_line)
    return first, last


def lines_of(content: bytes, first: int, last: int) -> str:
    """The text of some lines, without the line break at the end."""
    lines = content.split(b"\n")[first - 1 : last]
    return b"\n".join(lines).decode("utf-8", "replace").replace("\r\n", "\n").rstrip("\r\n")
