"""What a file becomes in the index: language, syntax, definitions, chunks, tokens. Pure, so it can run anywhere."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from dowse.code import chunking, parsing, references, symbols, terms
from dowse.code.languages import Languages
from dowse.embedders.base import Preparing
from dowse.indexing import embed
from dowse.types import ChunkTerms, ParsedFile, ParseHealth, PreparedChunk

VERSION = 5
"""Goes into every content hash: raise it when the same content gives other entities, chunks or references."""


@dataclass(frozen=True, slots=True)
class Understanding:
    """The settings that decide what a content becomes."""

    languages: Languages
    chunk_size: int
    chunk_overlap: int
    embedder: Preparing | None = None  # what needs no more than the words of a file


class Task(NamedTuple):
    """A file to understand."""

    path: str
    content: bytes
    known: ParsedFile | None


class Understood(NamedTuple):
    """A content taken apart, or why it could not be."""

    parsed: ParsedFile
    terms: tuple[ChunkTerms, ...]
    references: bytes = b""  # none of a content that is known already: the store has them
    error: str = ""
    prepared: tuple[PreparedChunk, ...] = ()


def understand(how: Understanding, path: str, content: bytes, known: ParsedFile | None = None) -> Understood:
    """Parse a file, unless its content is known already, and make its tokens."""
    return understand_group(how, [Task(path, content, known)])[0]


def understand_group(how: Understanding, tasks: Sequence[Task]) -> list[Understood]:
    """The same for some files, all of them in each stage in turn.

    Done file by file, it takes a tenth longer: the code and the tables of each stage drive out those of the others
    from the processor's caches.
    """
    fresh = iter(_parse_group(how, [(path, content) for path, content, known in tasks if not known]))
    parsed = [(task.known, b"") if task.known else next(fresh) for task in tasks]
    files = [(task.path, task.content, file) for task, (file, _) in zip(tasks, parsed, strict=True)]
    passages = [terms.passages(content, file) for _, content, file in files]
    fields = [terms.chunk_terms(*file, found) for file, found in zip(files, passages, strict=True)]
    prepared = [
        embed.prepared(how.embedder, *file, found) if how.embedder else ()
        for file, found in zip(files, passages, strict=True)
    ]
    return [
        Understood(file, made, mentioned, prepared=ready)
        for (file, mentioned), made, ready in zip(parsed, fields, prepared, strict=True)
    ]


def parse(how: Understanding, path: str, content: bytes) -> tuple[ParsedFile, bytes]:
    """What a content says, and its packed references, whatever its path but for the language."""
    return _parse_group(how, [(path, content)])[0]


def _parse_group(how: Understanding, files: Sequence[tuple[str, bytes]]) -> list[tuple[ParsedFile, bytes]]:
    contents = [content for _, content in files]
    languages = [how.languages.detect(path, content) for path, content in files]
    parsed = list(map(parsing.parse, languages, contents))
    # a tree that is one great error: nothing to find in it, and looking takes time by its size squared
    trees = [None if health is ParseHealth.FAILED else tree for tree, health in parsed]
    matches = list(map(parsing.matches, languages, trees))
    entities = list(map(symbols.find, languages, [found.definitions for found in matches], contents))
    chunks = [
        chunking.cut(content, found, tree, how.chunk_size, how.chunk_overlap)
        for content, found, tree in zip(contents, entities, trees, strict=True)
    ]
    mentioned = list(map(references.find, languages, [found.references for found in matches], contents))
    packed = map(references.pack, entities, mentioned)
    files_parsed = (
        ParsedFile(language.name, health, found, cut)
        for language, (_, health), found, cut in zip(languages, parsed, entities, chunks, strict=True)
    )
    return list(zip(files_parsed, packed, strict=True))
