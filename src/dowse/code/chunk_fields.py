"""What a chunk is found by: its tokens by field, and the text that is embedded.

Both carry context that is searched but not shown: path words, the definitions around the chunk, the
signatures and documentation of those that begin in it.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from dowse.code import tokens
from dowse.lazy_rows import column
from dowse.types import Chunk, ChunkTerms, Definitions, Entity, ParsedFile, named

MAX_EMBEDDED = 2000
"""Characters of a chunk's text that are embedded; models read no further to any profit."""

MAX_DEFINITIONS = 1000
"""Definitions that a chunk is found by; only a line that is cut into many chunks has more."""


class Document(NamedTuple):
    """What is embedded of a chunk, as runs (see ``tokens``): where it stands, its first line, the rest of it."""

    heading: list[str]
    opening: list[str]
    rest: list[str]


class Passage(NamedTuple):
    """A chunk, the entities whose line of definition it holds, their names, and these and its text cut into runs."""

    chunk: Chunk
    beginning: list[Entity]
    names: list[str]  # of the definition around the chunk, qualified, before these
    name_runs: list[str]
    runs: list[str]


def passages(content: bytes, parsed: ParsedFile, definitions: Definitions) -> list[Passage]:
    """The chunks of a file as both tokens and vectors need them."""
    rows = (
        (
            chunk,
            beginning,
            names := _names(chunk, beginning, parsed.entities),
            tokens.name_runs(names),
            tokens.runs(content[chunk.start : chunk.end]),
        )
        for chunk, beginning in with_beginning(parsed, definitions)
    )
    return list(named(Passage, rows))


def chunk_terms(path: str, found: Sequence[Passage]) -> tuple[ChunkTerms, ...]:
    """The tokens of each chunk of a file, given its passages."""
    path_tokens = tokens.path_tokens(path)
    rows = (
        (
            tokens.tokens_of(name_runs),
            path_tokens,
            tokens.tokens(" ".join([entity.signature for entity in beginning])),
            tokens.tokens("\n".join([entity.doc for entity in beginning])),
            tokens.tokens_of(runs),
        )
        for _, beginning, _, name_runs, runs in found
    )
    return tuple(named(ChunkTerms, rows))


def shared(
    wanted: frozenset[str], path: str, content: bytes, chunk: Chunk, names: Sequence[str]
) -> frozenset[str]:
    """Which of some tokens a chunk has: in its text, its path or the qualified names of what begins in it."""
    around = "\n".join([path, *names, ""])
    return tokens.among(around.encode("utf-8", "replace") + content[chunk.start : chunk.end], wanted)


def embedded_texts(path: str, content: bytes, parsed: ParsedFile, definitions: Definitions) -> list[str]:
    """The text of each chunk as an embedder should read it: a line that says where it stands, then what it says.

    The first line has the words of the path, those of the file's own name once more, and the names of the
    definition around the chunk and of those that begin in it.
    """
    place = _place(path)
    return [
        f"{place} {' '.join(dict.fromkeys(_names(chunk, beginning, parsed.entities)))}\n{_embedded(content, chunk)}"
        for chunk, beginning in with_beginning(parsed, definitions)
    ]


def documents(path: str, content: bytes, found: Sequence[Passage]) -> Iterator[Document]:
    """The same cut into runs, given the passages."""
    place = tokens.runs(_place(path))
    for chunk, _, names, name_runs, runs in found:
        once = dict.fromkeys(names)
        heading = place + (name_runs if len(once) == len(names) else tokens.name_runs(once))
        is_long = chunk.end - chunk.start > MAX_EMBEDDED
        body = tokens.runs(_embedded(content, chunk)) if is_long else runs
        line, broken, _ = content[chunk.start : chunk.end].lstrip().partition(b"\n")
        first = tokens.run_count(line) if broken else len(body)
        yield Document(heading, body[:first], body[first:])


def _place(path: str) -> str:
    return " ".join([*tokens.path_words(path), *tokens.path_words(path.rpartition("/")[2])])


def _names(chunk: Chunk, beginning: list[Entity], entities: Sequence[Entity]) -> list[str]:
    around = [entities[chunk.entity].qualified] if chunk.entity is not None else []
    return around + [entity.name for entity in beginning]


def _embedded(content: bytes, chunk: Chunk) -> str:
    return content[chunk.start : chunk.end].decode("utf-8", "replace")[:MAX_EMBEDDED]


def with_beginning(parsed: ParsedFile, definitions: Definitions) -> Iterator[tuple[Chunk, list[Entity]]]:
    """Each chunk with the entities whose line of definition it holds."""
    for chunk, ordinals in zip(parsed.chunks, definitions, strict=True):
        yield chunk, [parsed.entities[i] for i in ordinals[:MAX_DEFINITIONS]]


def definitions_by_chunk(parsed: ParsedFile) -> Definitions:
    """For each chunk, the places of the entities whose line of definition it holds."""
    ends = column(parsed.chunks, "end_line")
    found: list[list[int]] = [[] for _ in ends]
    last = len(ends) - 1
    for ordinal, line in enumerate(column(parsed.entities, "line")):
        found[min(bisect_left(ends, line), last)].append(ordinal)
    return tuple(map(tuple, found))
