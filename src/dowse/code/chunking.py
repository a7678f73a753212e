"""Chunking by syntax (AST): split a source file into chunks of whole definitions up to a target size.

A definition that is too long is split at statements of its syntax tree, else at blank lines; small neighbours of one
container are merged. Every non-blank line is in exactly one chunk, or in more where the overlap setting says so.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from io import BytesIO
from itertools import accumulate

import tree_sitter

from dowse.types.source import Chunk, Entity
from dowse.types.stored import make_rows

DEFAULT_CHUNK_BYTES = 1000
"""About a screenful: large enough for most functions, small enough to be about one thing."""

MAX_LINE_TARGETS = 4
"""Targets: no chunk is longer than one, but for a single line of up to this many; a longer line is cut."""


_Piece = tuple[int, int, int | None, int | None]
"""The first and the last row (0-based, inclusive), the entity that contains them, and the innermost around all of them.
A plain tuple, because a file has hundreds and most are joined with their neighbours."""

_Fields = tuple[int, int, int, int, int | None]
"""The fields of a chunk."""


def cut_chunks(
    content: bytes,
    entities: Sequence[Entity],
    tree: tree_sitter.Tree | None,
    target: int = DEFAULT_CHUNK_BYTES,
    overlap: int = 0,
    *,
    apart: frozenset[int] = frozenset(),
) -> tuple[Chunk, ...]:
    """Split a file into chunks along its syntax tree, in order; ``target`` and ``overlap`` are in bytes.

    Entities ``apart``, by index, share no chunk with what is beside them, however short they are.
    """
    cutter = _Cutter(content, entities, tree, target, apart)
    rows = cutter.make_chunks(cutter.merge(cutter.split()), overlap)
    return tuple(make_rows(Chunk, rows))


@dataclass
class _Cutter:
    """The file that is cut: where its rows start and end, its entities by parent, its tree."""

    content: bytes
    entities: Sequence[Entity]
    tree: tree_sitter.Tree | None
    target: int
    apart: frozenset[int] = frozenset()
    starts: list[int] = field(init=False)
    ends: list[int] = field(init=False)
    children: dict[int | None, list[int]] = field(init=False)

    def __post_init__(self) -> None:
        offsets = list(accumulate(map(len, BytesIO(self.content)), initial=0))
        if not self.content or self.content.endswith(b"\n"):
            offsets.append(len(self.content))  # the last row is empty
        self.starts, self.ends = offsets[:-1], offsets[1:]
        self.children = defaultdict(list)
        for index, entity in enumerate(self.entities):
            self.children[entity.parent].append(index)

    def split(self) -> Iterator[_Piece]:
        """Split the file at its definitions, and these in turn, until every piece fits the target."""
        waiting: list[_Piece] = [(0, len(self.starts) - 1, None, None)]
        while waiting:
            piece = waiting.pop()
            first, last, _, entity = piece
            is_short = self.ends[last] - self.starts[first] <= self.target
            if is_short and not (self.apart and self._holds_apart(entity)):
                yield piece
            elif parts := self._split_at_definitions(first, last, entity):
                waiting.extend(reversed(parts))
            elif is_short:
                yield piece
            else:
                yield from self._split_at_statements(first, last, entity)

    def _holds_apart(self, entity: int | None) -> bool:
        """Return whether entities directly inside another, or at top level, are to be kept apart."""
        return not self.apart.isdisjoint(self.children.get(entity, ()))

    def _split_at_definitions(self, row: int, last: int, owner: int | None) -> list[_Piece]:
        """Split a piece into its definitions and what is between them; empty if there is no definition."""
        parts: list[_Piece] = []
        for index in self.children.get(owner, ()):
            child = self.entities[index]
            start, end = child.start_line - 1, child.end_line - 1
            start = start if start > row else row  # max and min take several times as long
            end = end if end < last else last
            if start > end:
                continue
            if start > row and not self._is_blank(row, start - 1):
                parts.append((row, start - 1, owner, owner))
            parts.append((start, end, owner, index))
            row = end + 1
        if parts and row <= last and not self._is_blank(row, last):
            parts.append((row, last, owner, owner))
        return parts

    def _split_at_statements(self, first: int, last: int, owner: int | None) -> list[_Piece]:
        """Split rows without a definition inside at statements, else at blank lines."""
        pieces: list[_Piece] = []
        rows = self._find_statements(first, last)
        for start, end in zip(rows, [row - 1 for row in rows[1:]] + [last], strict=True):
            if self.ends[end] - self.starts[start] <= self.target:
                pieces.append((start, end, owner, owner))
            else:
                pieces += [(a, b, owner, owner) for a, b in self._split_at_lines(start, end)]
        return pieces

    def _find_statements(self, first: int, last: int) -> list[int]:
        """Find the rows on which a syntax node begins below the one that spans them all; the first row is one."""
        if self.tree is None:
            return [first]
        begin, end = self.starts[first], self.ends[last]
        node = self.tree.root_node.descendant_for_byte_range(begin, max(begin, end - 1))
        return sorted({first, *self._find_boundaries(node, first, last)}) if node is not None else [first]

    def _find_boundaries(self, node: tree_sitter.Node, first: int, last: int) -> list[int]:
        """Find the rows in range on which a node begins, descending only where the node is too long."""
        begin, rows, waiting = self.starts[first], [], [node]
        while waiting:
            cursor = waiting.pop().walk()
            more = cursor.goto_first_child_for_byte(begin) is not None
            while more and (child := cursor.node) is not None:
                if child.is_named:
                    start = child.start_point[0]
                    if start > last:
                        break
                    if start > first:
                        rows.append(start)
                    if child.end_byte >= self.ends[start] and self._is_long(child, start, first, last):
                        waiting.append(child)
                more = cursor.goto_next_sibling()
        return rows

    def _is_long(self, node: tree_sitter.Node, start: int, first: int, last: int) -> bool:
        """Return whether a node has several rows, and those of them that are in range do not fit."""
        end = node.end_point[0]
        if end == start:
            return False
        size = self.ends[end if end < last else last] - self.starts[start if start > first else first]
        return size > self.target

    def _split_at_lines(self, first: int, last: int) -> Iterator[tuple[int, int]]:
        """Split rows into runs of about the target size, at a blank row where one is near."""
        start = first
        while start <= last:
            fitting = bisect_right(self.ends, self.starts[start] + self.target, start, last + 1) - 1
            end = max(start, fitting)
            if end < last:
                end = next(
                    (r for r in range(end, start + (end - start) // 2, -1) if self._is_blank(r, r)), end
                )
            yield start, end
            start = end + 1

    def _is_blank(self, first: int, last: int) -> bool:
        """Return whether some rows are blank."""
        return not self.content[self.starts[first] : self.ends[last]].strip()

    def merge(self, pieces: Iterator[_Piece]) -> Iterator[_Piece]:
        """Join neighbours of one container while they fit the target together; a file has at least one piece."""
        first, last, container, entity = next(pieces)
        longest = self.starts[first] + self.target
        for piece in pieces:
            _, piece_last, piece_container, piece_entity = piece
            fits = piece_container == container and self.ends[piece_last] <= longest
            if fits and not (self.apart and self._is_apart(container, entity, piece_entity)):
                last, entity = piece_last, entity if entity == piece_entity else container
            else:
                yield first, last, container, entity
                first, last, container, entity = piece
                longest = self.starts[first] + self.target
        yield first, last, container, entity

    def _is_apart(self, container: int | None, *entities: int | None) -> bool:
        """Return whether one of some neighbours in a container is an entity that stays apart."""
        return any(entity != container and entity in self.apart for entity in entities)

    def make_chunks(self, pieces: Iterable[_Piece], overlap: int) -> Iterator[_Fields]:
        """Make pieces into chunks, without their outer blank rows; several if one line is far too long."""
        for piece in pieces:
            first, last, _, entity = piece
            while first <= last and self._is_blank(first, first):
                first += 1
            while last >= first and self._is_blank(last, last):
                last -= 1
            if first > last:
                continue
            start, end = self.starts[first], self.ends[last]
            if end - start > self.target * MAX_LINE_TARGETS:
                for a, b in self._split_long_line(start, end):
                    if self.content[a:b].strip():
                        yield first + 1, last + 1, a, b, entity
                continue
            while overlap and entity is not None and self._continues(entity, first, start, overlap):
                first -= 1
            yield first + 1, last + 1, self.starts[first], end, entity

    def _continues(self, entity: int, first: int, start: int, overlap: int) -> bool:
        """Return whether the row above still belongs to the same entity and fits the overlap."""
        return first >= self.entities[entity].start_line and start - self.starts[first - 1] <= overlap

    def _split_long_line(self, start: int, end: int) -> Iterator[tuple[int, int]]:
        """Split a line into byte ranges, none of which ends inside a character."""
        limit = self.target * MAX_LINE_TARGETS
        while end - start > limit:
            stop = start + limit
            for _ in range(3):  # the bytes of a character after its first
                stop -= stop > start + 1 and self.content[stop] & 0xC0 == 0x80
            yield start, stop
            start = stop
        yield start, end
