"""Result expansion (snippets): from a matching chunk to the definition and the lines that are shown."""

from __future__ import annotations

from collections.abc import Sequence

from dowse.code import tokens
from dowse.lazy_rows import read_column
from dowse.search.channels.frame_lookup import find_line
from dowse.search.query.analyze import get_last_part
from dowse.search.query.name_spelling import list_spelled_names
from dowse.search.ranking.candidates import Candidate, list_passing_definitions
from dowse.types.queries import Query
from dowse.types.source import Chunk, Entity, Kind, ParsedFile

FUNCTION_KINDS = frozenset({Kind.FUNCTION, Kind.METHOD, Kind.MACRO})
VALUE_KINDS = frozenset({Kind.VARIABLE, Kind.CONSTANT})

MIN_LINES = 6
"""Lines that are shown at least: of a short definition with what follows it, of a long one its beginning."""

LITERAL_CHANNELS = frozenset({"exact", "phrases", "places", "versions"})
"""Channels that bring the very lines that are asked for, wherever in the chunk they are."""


class Expansion:
    """Chooses the definition and the lines to show for the hits of one query."""

    def __init__(self, query: Query) -> None:
        self._written = frozenset(map(get_last_part, list_spelled_names(query)))
        self._asked = frozenset(name.lower() for name in self._written)
        self._wanted = frozenset(query.words)
        self._filter = query.filter
        self._frames = query.frames

    def choose_definitions(self, candidate: Candidate) -> tuple[Entity, ...]:
        """Choose the definitions a hit stands for, in and around the chunk: what is named, else what is most alike.

        The first is the one to name; the others are as much like the query. Of equals, what is around the chunk
        comes first if it is a function or begins here too, else last. Variables and constants only count by name.
        Where a filter asks for definitions, only these count; where a line is named, what it is in; what ranking
        chose is not chosen again.
        """
        if candidate.definition is not None:
            return (candidate.file.parsed.entities[candidate.definition],)
        line = find_line(self._frames, candidate.file, candidate.chunk) if self._frames else 0
        if line and (innermost := _find_innermost(candidate, line)):
            return innermost
        if self._filter.about_chunks:
            return self._choose_most_like(list_passing_definitions(self._filter, candidate))
        around, asked = candidate.entity, self._asked
        inside = self._list_inside(candidate)
        if not inside:
            return (around,) if around else ()
        options = inside
        if around is not None:
            leads = around.kind in FUNCTION_KINDS or candidate.chunk.entity in candidate.definition_indexes
            options = [around, *inside] if leads else [*inside, around]
        named = [entity for entity in options if entity.name.lower() in asked] if asked else []
        written = [entity for entity in named if entity.name in self._written]
        return self._choose_most_like(written or named or options)

    def _list_inside(self, candidate: Candidate) -> list[Entity]:
        """List the definitions that begin in a chunk and may be pointed at, but for the one around it."""
        entities, around, asked = candidate.file.parsed.entities, candidate.chunk.entity, self._asked
        held = [i for i in candidate.definition_indexes if i != around]
        if not held:
            return []
        kinds, names = read_column(entities, "kind"), read_column(entities, "name")
        return [entities[i] for i in held if kinds[i] not in VALUE_KINDS or names[i].lower() in asked]

    def _choose_most_like(self, options: Sequence[Entity]) -> tuple[Entity, ...]:
        """Choose those that share most words in their names, then in signature and documentation."""
        for shared in (self._match_name, self._match_description):
            if len(options) > 1:
                found = [len(shared(entity)) for entity in options]
                most = max(found)
                options = [entity for entity, n in zip(options, found, strict=True) if n == most]
        return tuple(options)

    def _match_name(self, entity: Entity) -> frozenset[str]:
        """Return the query's words in a qualified name: a member wins over its class if its own name adds one."""
        return tokens.find_tokens(entity.qualified.encode("utf-8", "replace"), self._wanted)

    def _match_description(self, entity: Entity) -> frozenset[str]:
        described = f"{entity.signature}\n{entity.doc}"
        return tokens.find_tokens(described.encode("utf-8", "replace"), self._wanted)

    def choose_lines(
        self,
        candidate: Candidate,
        pointed: Sequence[Entity],
        max_definition_lines: int,
        before: int | None,
        after: int | None,
    ) -> tuple[int, int]:
        """Choose the first and last line to show: the chunk, with the whole of its definition if that is short enough.

        Of several definitions in a chunk, those that the query points at are shown without the others. Explicit
        numbers of lines before and after replace the definition.
        """
        chunk = candidate.chunk
        if before is not None or after is not None:
            end = candidate.file.parsed.chunks[-1].end_line
            return max(1, chunk.start_line - (before or 0)), min(
                max(end, chunk.end_line), chunk.end_line + (after or 0)
            )
        if not pointed:
            return chunk.start_line, chunk.end_line
        first, last = self._choose_definition_lines(candidate, pointed, max_definition_lines)
        cell = _find_cell(candidate.file.parsed, pointed[0])
        if cell and cell.start_line < first and last - cell.start_line < max_definition_lines:
            first = cell.start_line  # where its number is
        return first, last

    def _choose_definition_lines(
        self, candidate: Candidate, pointed: Sequence[Entity], max_definition_lines: int
    ) -> tuple[int, int]:
        first, last = candidate.chunk.start_line, candidate.chunk.end_line
        entity = pointed[0]
        if candidate.definition is not None:
            return _choose_own_lines(candidate.chunk, entity, max_definition_lines)
        if entity.end_line - entity.start_line >= max_definition_lines:
            return first, max(last, min(entity.end_line, first + MIN_LINES - 1))
        if not self._stands_alone(candidate, pointed):
            return min(first, entity.start_line), max(last, entity.end_line)
        begin, end = min(e.start_line for e in pointed), max(e.end_line for e in pointed)
        return begin, min(last, max(end, begin + MIN_LINES - 1))

    def _stands_alone(self, candidate: Candidate, pointed: Sequence[Entity]) -> bool:
        """Return whether definitions are some of several in their chunk, and share words with the query."""
        chunk, around = candidate.chunk, candidate.entity
        for entity in pointed:
            if entity is around or not (
                chunk.start_line <= entity.start_line <= entity.end_line <= chunk.end_line
            ):
                return False
        if any(name in LITERAL_CHANNELS for name, _, _ in candidate.contributions):
            return False
        if self._filter.about_chunks:
            return True
        return bool(self._match_name(pointed[0]) or self._match_description(pointed[0]))


def _choose_own_lines(chunk: Chunk, entity: Entity, max_definition_lines: int) -> tuple[int, int]:
    """Choose the lines of a definition that ranking chose: all of it, or what the chunk has of a long one."""
    if entity.end_line - entity.start_line < max_definition_lines:
        return entity.start_line, entity.end_line
    return max(chunk.start_line, entity.start_line), min(chunk.end_line, entity.end_line)


def _find_cell(parsed: ParsedFile, entity: Entity) -> Entity | None:
    """Find the cell of a notebook that a definition is in."""
    while entity.parent is not None:
        entity = parsed.entities[entity.parent]
        if entity.kind is Kind.CELL:
            return entity
    return None


def _find_innermost(candidate: Candidate, line: int) -> tuple[Entity, ...]:
    """Find the innermost definition that a line is in, if there is one."""
    holding = [e for e in candidate.definitions if e.start_line <= line <= e.end_line]
    return tuple(sorted(holding, key=lambda entity: entity.start_line)[-1:])


def cut_text(content: bytes, chunk: Chunk, first: int, last: int) -> str:
    """Cut the text of some lines in and around a chunk out of a file, without the line break at the end."""
    start, end = chunk.start, chunk.end
    for _ in range(chunk.start_line - first):
        start = content.rfind(b"\n", 0, max(0, start - 1)) + 1
    for _ in range(first - chunk.start_line):
        start = content.find(b"\n", start) + 1
    for _ in range(last - chunk.end_line):
        end = content.find(b"\n", end) + 1 or len(content)
    for _ in range(chunk.end_line - last):
        end = content.rfind(b"\n", start, end - 1) + 1
    return content[start:end].decode("utf-8", "replace").replace("\r\n", "\n").rstrip("\r\n")
