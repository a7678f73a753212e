"""Cuts a file into chunks: whole definitions up to a target size, long ones at syntax boundaries.

Neighbours that are small enough share a chunk, provided that they stand in the same definition. Every
non-blank line is in some chunk; apart from overlap (a setting) it is in exactly one.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from io import BytesIO
from itertools import accumulate
from typing import NamedTuple

import tree_sitter

from dowse.types import Chunk, Entity

DEFAULT_TARGET = 1000
"""Bytes: about a screenful; large enough for most functions, small enough to be one thought."""

LONG_LINE = 4
"""Targets: no chunk is longer than one, but for a single line of up to this many; a longer line is cut."""


class _Piece(NamedTuple):
    """Rows ``first`` to ``last`` (0-based, inclusive), and the entity they stand in."""

    first: int
    last: int
    container: int | None
    entity: int | None


def cut(
    content: bytes,
    entities: Sequence[Entity],
    tree: tree_sitter.Tree | None,
    target: int = DEFAULT_TARGET,
    overlap: int = 0,
) -> tuple[Chunk, ...]:
    """The chunks of a file in order."""
    cutter = _Cutter(content, entities, tree, target)
    pieces = cutter.merged(cutter.pieces())
    return tuple(chunk for piece in pieces for chunk in cutter.chunks(piece, overlap))


@dataclass
class _Cutter:
    """The file at hand: its line offsets, its entities by parent, its tree."""

    content: bytes
    entities: Sequence[Entity]
    tree: tree_sitter.Tree | None
    target: int
    offsets: list[int] = field(init=False)
    children: dict[int | None, list[int]] = field(init=False)

    def __post_init__(self) -> None:
        self.offsets = list(accumulate(map(len, BytesIO(self.content)), initial=0))
        if not self.content or self.content.endswith(b"\n"):
            self.offsets.append(len(self.content))  # the last row is empty
        self.children = defaultdict(list)
        for index, entity in enumerate(self.entities):
            self.children[entity.parent].append(index)

    def size(self, first: int, last: int) -> int:
        return self.offsets[last + 1] - self.offsets[first]

    def pieces(self) -> Iterator[_Piece]:
        """Rows that fit stay whole; else what stands between the definitions inside, and these in turn."""
        waiting = [_Piece(0, len(self.offsets) - 2, None, None)]
        while waiting:
            piece = waiting.pop()
            if self.size(piece.first, piece.last) <= self.target:
                yield piece
            elif parts := self._parts(piece):
                waiting.extend(reversed(parts))
            else:
                yield from self._leaf(piece.first, piece.last, piece.entity)

    def _parts(self, piece: _Piece) -> list[_Piece]:
        """The definitions inside a piece and what stands between them; none if there is no definition."""
        row, last, owner = piece.first, piece.last, piece.entity
        parts = list[_Piece]()
        for index in self.children.get(owner, ()):
            child = self.entities[index]
            start, end = max(child.start_line - 1, row), min(child.end_line - 1, last)
            if start > end:
                continue
            if not self._blank(row, start - 1):
                parts.append(_Piece(row, start - 1, owner, owner))
            parts.append(_Piece(start, end, owner, index))
            row = end + 1
        if parts and not self._blank(row, last):
            parts.append(_Piece(row, last, owner, owner))
        return parts

    def _leaf(self, first: int, last: int, owner: int | None) -> Iterator[_Piece]:
        """Too many rows without a definition inside: cut at statements, else at blank lines."""
        for start, end in self._statements(first, last):
            if self.size(start, end) <= self.target:
                yield _Piece(start, end, owner, owner)
            else:
                yield from (_Piece(a, b, owner, owner) for a, b in self._line_runs(start, end))

    def _statements(self, first: int, last: int) -> Iterator[tuple[int, int]]:
        """Row ranges of the syntax nodes below the one that spans these rows; they cover them all."""
        if self.tree is None:
            yield first, last
            return
        begin, end = self.offsets[first], self.offsets[last + 1]
        node = self.tree.root_node.descendant_for_byte_range(begin, max(begin, end - 1))
        starts = self._boundaries(node, first, last) if node is not None else []
        rows = sorted({first, *starts})
        yield from zip(rows, [*(row - 1 for row in rows[1:]), last], strict=True)

    def _boundaries(self, node: tree_sitter.Node, first: int, last: int) -> list[int]:
        """Rows in range on which a node begins, descending only where the node is too long."""
        begin, starts, waiting = self.offsets[first], [], [node]
        while waiting:
            cursor = waiting.pop().walk()
            more = cursor.goto_first_child_for_byte(begin) is not None
            while more and (child := cursor.node) is not None:
                start = child.start_point[0]
                if start > last:
                    break
                if child.is_named:
                    if start > first:
                        starts.append(start)
                    end = child.end_point[0]
                    if end > start and self.size(max(start, first), min(end, last)) > self.target:
                        waiting.append(child)
                more = cursor.goto_next_sibling()
        return starts

    def _line_runs(self, first: int, last: int) -> Iterator[tuple[int, int]]:
        """Runs of rows of about the target size, ended at a blank row where one is near."""
        start = first
        while start <= last:
            end = start
            while end < last and self.size(start, end + 1) <= self.target:
                end += 1
            if end < last:
                end = next((r for r in range(end, start + (end - start) // 2, -1) if self._blank(r, r)), end)
            yield start, end
            start = end + 1

    def _blank(self, first: int, last: int) -> bool:
        """Whether nothing stands on some rows."""
        return first > last or not self.content[self.offsets[first] : self.offsets[last + 1]].strip()

    def merged(self, pieces: Iterable[_Piece]) -> Iterator[_Piece]:
        """Join neighbours of one container while they fit the target together; a file has at least one piece."""
        waiting = iter(pieces)
        first, last, container, entity = next(waiting)
        for piece in waiting:
            if piece.container == container and self.size(first, piece.last) <= self.target:
                last, entity = piece.last, entity if entity == piece.entity else container
            else:
                yield _Piece(first, last, container, entity)
                first, last, container, entity = piece
        yield _Piece(first, last, container, entity)

    def chunks(self, piece: _Piece, overlap: int) -> Iterator[Chunk]:
        """A piece without its outer blank rows, as a chunk; several if one line is far too long."""
        first, last = piece.first, piece.last
        while first <= last and self._blank(first, first):
            first += 1
        while last >= first and self._blank(last, last):
            last -= 1
        if first > last:
            return
        start, end = self.offsets[first], self.offsets[last + 1]
        if end - start > self.target * LONG_LINE:
            for a, b in self._byte_runs(start, end):
                if self.content[a:b].strip():
                    yield Chunk(first + 1, last + 1, a, b, piece.entity)
            return
        while overlap and piece.entity is not None and self._continues(piece.entity, first, start, overlap):
            first -= 1
        yield Chunk(first + 1, last + 1, self.offsets[first], end, piece.entity)

    def _continues(self, entity: int, first: int, start: int, overlap: int) -> bool:
        """Whether the row above still belongs to the same entity and fits the overlap."""
        return first >= self.entities[entity].start_line and start - self.offsets[first - 1] <= overlap

    def _byte_runs(self, start: int, end: int) -> Iterator[tuple[int, int]]:
        """Ranges within a line, none of which ends inside a character."""
        limit = self.target * LONG_LINE
        while end - start > limit:
            stop = start + limit
            for _ in range(3):  # the bytes of a character after its first
                stop -= stop > start + 1 and self.content[stop] & 0xC0 == 0x80
            yield start, stop
            start = stop
        yield start, end
