"""Chunking of Python files as LocAgent does it, by the sizes of blocks in tokens, and the text that is searched.

Definitions of some size begin a chunk of their own, small neighbours stand together, and what is too small joins the
smaller neighbour. A chunk is searched with its path, the names of its definitions and the headers around it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from dowse.search.locagent.blocks import CUT_TYPES, Block, BlockType
from dowse.types.source import Kind

MIN_TOKENS, TARGET_TOKENS, MAX_TOKENS = 100, 500, 2000
"""A smaller chunk joins another; small neighbours fill up to the target; nothing is longer but a statement alone."""

_LEGAL_COMMENT = re.compile(r"(?i)copyright|license|author")
"""A comment or docstring with one of these is dropped, with the comments after it."""

_KINDS = {
    BlockType.CLASS: Kind.CLASS,
    BlockType.FUNCTION: Kind.FUNCTION,
    BlockType.CONSTRUCTOR: Kind.FUNCTION,
}
_OMISSION = "# ... other code"
"""Stands where a chunk lacks a part of a function."""


class ChunkDefinition(NamedTuple):
    """A definition that a chunk has a part of."""

    qualified: str
    kind: Kind


class LocAgentChunk(NamedTuple):
    """A chunk: its lines, the definitions in it, and the text that is searched."""

    start_line: int
    end_line: int
    definitions: tuple[ChunkDefinition, ...]
    text: str


def cut_chunks(path: str, module: Block) -> list[LocAgentChunk]:
    """Cut a file into chunks."""
    last = max((block.last_line for block in module.walk()), default=1)
    chunks = []
    for blocks in _cut(module):
        end = max((block.last_line for block in blocks), default=0)
        if not end:
            continue
        definitions = tuple(dict.fromkeys(_list_definitions(blocks)))
        spans = [*_describe_loose_code(module, blocks), *(d.qualified for d in definitions)]
        header = f"file_path: {path}\ncategory: implementation\nspan_ids: {spans}"
        lines = [header, *_render(module, _collect_shown(blocks))]
        start = min(block.first_line for block in blocks)
        chunks.append(
            LocAgentChunk(start, module.last_line if end == last else end, definitions, "\n".join(lines))
        )
    return chunks


# --- cutting ---


def _cut(block: Block) -> list[list[Block]]:
    """Cut the children of a block into chunks, each a list of blocks in order."""
    chunks: list[list[Block]] = []
    current: list[Block] = []
    comments: list[Block] = []  # wait for what they stand above
    around = block.tokens + sum(outer.tokens for outer in block.ancestors())
    limit = TARGET_TOKENS if block.type in CUT_TYPES else MAX_TOKENS
    for child in _drop_unwanted(block.children):
        if child.type is BlockType.COMMENT and block.parent is None:
            comments.append(child)
        elif (child.type in CUT_TYPES and child.size > MIN_TOKENS) or around + child.size > MAX_TOKENS:
            chunks += [current] if current else []
            first, *others = _cut(child)
            current = [*comments, child]
            if around + child.tokens + _count(first) < MAX_TOKENS:
                chunks += [[*current, *first], *others]
            else:
                chunks += [current, first, *others]
            comments, current = [], []
        elif around + _count(current) + child.size < limit:
            current += [*comments, child, *child.walk()]
            comments = []
        else:
            chunks += [[*current, *comments]] if current else []
            current, comments = [child, *child.walk()], []
    if chunks and _count(current) < MIN_TOKENS:
        chunks[-1] += current
    else:
        chunks.append(current)
    return _join_small(chunks)


def _drop_unwanted(blocks: Iterable[Block]) -> Iterator[Block]:
    """Drop legal notices with the comments that follow them, and statements that are data."""
    is_legal = False
    for block in blocks:
        if block.type is BlockType.COMMENT:
            is_legal = is_legal or bool(_LEGAL_COMMENT.search(block.text))
            if not is_legal:
                yield block
        else:
            is_legal = False
            if block.tokens <= MAX_TOKENS:
                yield block


def _join_small(chunks: Sequence[list[Block]]) -> list[list[Block]]:
    """Join each chunk that is too small with the smaller of its neighbours."""
    joined: list[list[Block]] = []
    waiting = list(chunks)
    for index, chunk in enumerate(waiting):
        after = waiting[index + 1] if index + 1 < len(waiting) else None
        if _count(chunk) >= MIN_TOKENS or not (joined or after):
            joined.append(chunk)
        elif joined and (after is None or _count(joined[-1]) <= _count(after)):
            joined[-1] = [*joined[-1], *chunk]
        else:
            waiting[index + 1] = [*chunk, *(after or ())]
    return joined


def _count(blocks: Iterable[Block]) -> float:
    return sum(block.tokens for block in blocks)


# --- the text that is searched ---


def _collect_shown(blocks: Iterable[Block]) -> set[int]:
    """Collect the blocks of a chunk and those around them, by their ids."""
    return {id(b) for block in blocks for b in (block, *block.ancestors())}


def _render(block: Block, shown: set[int]) -> Iterator[str]:
    """Write a block with those of its children that are shown; a function that lacks some says so."""
    if block.text:
        yield block.text
    says_omissions = block.type not in (BlockType.MODULE, BlockType.CLASS)
    is_omitting = False
    for child in block.children:
        if id(child) in shown:
            if is_omitting and child.type is not BlockType.COMMENT:
                yield _OMISSION
                is_omitting = False
            yield from _render(child, shown)
        elif child.type is not BlockType.COMMENT:
            is_omitting = says_omissions
    if is_omitting:
        yield _OMISSION


def _list_definitions(blocks: Iterable[Block]) -> Iterator[ChunkDefinition]:
    """List the definitions that a chunk has a part of; what is inside of a function is part of it."""
    for block in blocks:
        around = [*reversed(list(block.ancestors())), block]
        definitions = [b for b in around if b.type in _KINDS]
        functions = [b for b in definitions if _KINDS[b.type] is Kind.FUNCTION]
        for owner in functions[:1] or definitions[-1:]:
            is_method = any(b.type is BlockType.CLASS for b in owner.ancestors())
            kind = Kind.METHOD if functions and is_method else _KINDS[owner.type]
            yield ChunkDefinition(owner.qualified_name, kind)


def _describe_loose_code(module: Block, blocks: Iterable[Block]) -> Iterator[str]:
    """Name the code of a chunk that is in no definition: before the first one, or after."""
    ids = {id(block) for block in blocks}
    defines = False
    found = dict.fromkeys(("docstring", "imports", "impl"), False)
    opening = "docstring" if module.children and module.children[0].type is BlockType.COMMENT else "imports"
    for child in module.children:
        if child.type in _KINDS:
            defines = True
        elif id(child) in ids:
            found["impl" if defines else opening] = True
    return (name for name, is_there in found.items() if is_there)
