"""Fielded documents for indexing: the tokens of each chunk by field (name, path, signature, doc, body), and its
embedding text.

Adds context that is searched but not shown: words of the path, names of the enclosing definitions, signatures and
documentation of those that begin in the chunk. Weights of fields belong to the search, not here.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from dowse.code import tokens
from dowse.code.string_literals import tokenize_literals
from dowse.lazy_rows import read_column
from dowse.types.source import Chunk, ChunkTerms, Definitions, Entity, ParsedFile
from dowse.types.stored import make_rows

MAX_EMBEDDED_CHARS = 2000
"""Characters of a chunk's text that are embedded; more does not improve the vectors."""

MAX_CHUNK_DEFINITIONS = 1000
"""Definitions indexed with a chunk; only a line that is cut into many chunks has more."""


class Document(NamedTuple):
    """The embedding text of one chunk, split into runs (see ``tokens``): path and names, its first line, the rest."""

    heading: list[str]
    opening: list[str]
    rest: list[str]


class Passage(NamedTuple):
    """A chunk with the entities that begin in it, their names, names and text split into runs for tokenizing, and the
    tokens of its literals.
    """

    chunk: Chunk
    beginning: list[Entity]
    names: list[str]  # of the definition around the chunk, qualified, before these
    name_runs: list[str]
    runs: list[str]
    literal: str


def build_passages(content: bytes, parsed: ParsedFile, definitions: Definitions) -> list[Passage]:
    """Prepare the chunks of a file for both tokens and vectors."""
    rows = (
        (
            chunk,
            beginning,
            names := _chunk_names(chunk, beginning, parsed.entities),
            tokens.split_name_runs(names),
            tokens.split_runs(text := content[chunk.start : chunk.end]),
            tokenize_literals(text.decode("utf-8", "replace"), parsed.language),
        )
        for chunk, beginning in pair_with_entities(parsed, definitions)
    )
    return list(make_rows(Passage, rows))


def chunk_terms(path: str, found: Sequence[Passage]) -> tuple[ChunkTerms, ...]:
    """Tokenize each chunk of a file, given its passages."""
    path_tokens = tokens.tokenize_path(path)
    rows = (
        (
            tokens.tokenize_runs(name_runs),
            path_tokens,
            tokens.tokenize(" ".join([entity.signature for entity in beginning])),
            tokens.tokenize("\n".join([entity.doc for entity in beginning])),
            tokens.tokenize_runs(runs),
            literal,
        )
        for _, beginning, _, name_runs, runs, literal in found
    )
    return tuple(make_rows(ChunkTerms, rows))


def find_shared_tokens(
    wanted: frozenset[str], path: str, content: bytes, chunk: Chunk, names: Sequence[str]
) -> frozenset[str]:
    """Find which of some tokens a chunk has: in its text, its path or the qualified names of what begins in it."""
    return tokens.find_tokens(join_searched_text(path, content, chunk, names), wanted)


def join_searched_text(path: str, content: bytes, chunk: Chunk, names: Sequence[str]) -> bytes:
    """Join what is searched of a chunk: its path, the qualified names of what begins in it, its text."""
    around = "\n".join([path, *names, ""])
    return around.encode("utf-8", "replace") + content[chunk.start : chunk.end]


def build_embedding_texts(
    path: str, content: bytes, parsed: ParsedFile, definitions: Definitions
) -> list[str]:
    """Build the text to embed of each chunk: a heading line, then the text of the chunk.

    The heading has the words of the path, those of the file's own name once more, and the names of the
    definition around the chunk and of those that begin in it.
    """
    heading = _make_heading(path)
    return [
        f"{heading} {' '.join(dict.fromkeys(_chunk_names(chunk, begun, parsed.entities)))}"
        f"\n{_body_text(content, chunk)}"
        for chunk, begun in pair_with_entities(parsed, definitions)
    ]


def build_documents(path: str, content: bytes, found: Sequence[Passage]) -> Iterator[Document]:
    """Build the text to embed of each chunk, cut into runs, given the passages."""
    path_runs = tokens.split_runs(_make_heading(path))
    for chunk, _, names, name_runs, runs, _ in found:
        once = dict.fromkeys(names)
        heading = path_runs + (name_runs if len(once) == len(names) else tokens.split_name_runs(once))
        is_long = chunk.end - chunk.start > MAX_EMBEDDED_CHARS
        body = tokens.split_runs(_body_text(content, chunk)) if is_long else runs
        line, broken, _ = content[chunk.start : chunk.end].lstrip().partition(b"\n")
        first = tokens.count_runs(line) if broken else len(body)
        yield Document(heading, body[:first], body[first:])


def _make_heading(path: str) -> str:
    return " ".join([*tokens.split_path_words(path), *tokens.split_path_words(path.rpartition("/")[2])])


def _chunk_names(chunk: Chunk, beginning: list[Entity], entities: Sequence[Entity]) -> list[str]:
    around = [entities[chunk.entity].qualified] if chunk.entity is not None else []
    return around + [entity.name for entity in beginning]


def _body_text(content: bytes, chunk: Chunk) -> str:
    return content[chunk.start : chunk.end].decode("utf-8", "replace")[:MAX_EMBEDDED_CHARS]


def pair_with_entities(parsed: ParsedFile, definitions: Definitions) -> Iterator[tuple[Chunk, list[Entity]]]:
    """Pair each chunk with the entities that begin in it."""
    for chunk, ordinals in zip(parsed.chunks, definitions, strict=True):
        yield chunk, [parsed.entities[i] for i in ordinals[:MAX_CHUNK_DEFINITIONS]]


def definitions_by_chunk(parsed: ParsedFile) -> Definitions:
    """Find for each chunk which entities begin in it, as ordinals."""
    ends = read_column(parsed.chunks, "end_line")
    found: list[list[int]] = [[] for _ in ends]
    last = len(ends) - 1
    for ordinal, line in enumerate(read_column(parsed.entities, "line")):
        found[min(bisect_left(ends, line), last)].append(ordinal)
    return tuple(map(tuple, found))
