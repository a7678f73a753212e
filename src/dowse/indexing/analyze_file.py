"""What a file becomes in the index: language, syntax, definitions, chunks, tokens. Pure, so it can run anywhere."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from dowse.code import bracket_depth, chunk_fields, chunking, parsing, references, symbols
from dowse.code.languages import Languages, builtin
from dowse.code.languages.spec import Language
from dowse.embedders.embedder import Preparing
from dowse.indexing import embed
from dowse.types import ChunkTerms, Definitions, ParsedFile, ParseHealth, PreparedChunk

VERSION = 6
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
    definitions: Definitions
    terms: tuple[ChunkTerms, ...]
    references: bytes = b""  # none of a content that is known already: the store has them
    error: str = ""
    prepared: tuple[PreparedChunk, ...] = ()


def understand(how: Understanding, path: str, content: bytes, known: ParsedFile | None = None) -> Understood:
    """Parse a file, unless its content is known already, and make its tokens."""
    return understand_group(how, [Task(path, content, known)])[0]


def understand_group(how: Understanding, tasks: Sequence[Task]) -> list[Understood]:
    """The same for some files: all are parsed before the first is made into tokens.

    Each file at once takes some 3 % longer, since the code and the tables of the one drive out those of the other from
    the processor's caches; smaller steps take 5 % longer, since what a step leaves for the next is driven out.
    """
    parsed = [(task.known, b"") if task.known else parse(how, task.path, task.content) for task in tasks]
    return [_made_searchable(how, task, *made) for task, made in zip(tasks, parsed, strict=True)]


def understand_soon(how: Understanding, tasks: Sequence[Task]) -> list[Understood | None]:
    """Take apart the files that are soon done with; none for one that a process of its own is for."""
    parsed = [_parse_soon(how, task) for task in tasks]
    return [
        _made_searchable(how, task, *made) if made else None for task, made in zip(tasks, parsed, strict=True)
    ]


def _parse_soon(how: Understanding, task: Task) -> tuple[ParsedFile, bytes] | None:
    if task.known:
        return task.known, b""
    language = how.languages.detect(task.path, task.content)
    if not _is_trusted(language) or bracket_depth.nests_deeply(task.content):
        return None
    try:
        return _parse(how, language, task.content, parsing.SOON)
    except parsing.NotSoon:
        return None


def _is_trusted(language: Language) -> bool:
    """Tell whether the patterns of a language are ours: those of a tree's settings may take forever."""
    has_patterns = bool(language.links or language.blanks)
    return not has_patterns or builtin().by_name.get(language.name) == language


def understand_by_lines(how: Understanding, task: Task) -> Understood:
    """Make a file searchable that takes too much to be taken apart."""
    language = how.languages.detect(task.path, task.content)
    chunks = chunking.cut(task.content, (), None, how.chunk_size, how.chunk_overlap)
    parsed = ParsedFile(language.name, ParseHealth.OVER_BUDGET, (), chunks)
    return _made_searchable(how, task, parsed, references.pack((), {}))


def parse(how: Understanding, path: str, content: bytes) -> tuple[ParsedFile, bytes]:
    """What a content says, and its packed references, whatever its path but for the language."""
    return _parse(how, how.languages.detect(path, content), content)


def _parse(
    how: Understanding, language: Language, content: bytes, limits: parsing.Limits | None = None
) -> tuple[ParsedFile, bytes]:
    tree, health = parsing.parse(language, content, limits)
    if health is ParseHealth.FAILED:
        tree = None  # one great error: nothing to find in it, and looking takes time by its size squared
    found = parsing.matches(language, tree)
    entities = symbols.find(language, found.definitions, content)
    chunks = chunking.cut(content, entities, tree, how.chunk_size, how.chunk_overlap)
    mentioned = references.find(language, found.references, content)
    return ParsedFile(language.name, health, entities, chunks), references.pack(entities, mentioned)


def _made_searchable(how: Understanding, task: Task, parsed: ParsedFile, mentioned: bytes) -> Understood:
    """A file that was parsed, with its tokens and what its vectors are made of."""
    definitions = chunk_fields.definitions_by_chunk(parsed)
    passages = chunk_fields.passages(task.content, parsed, definitions)
    fields = chunk_fields.chunk_terms(task.path, passages)
    prepared = embed.prepared(how.embedder, task.path, task.content, passages) if how.embedder else ()
    return Understood(parsed, definitions, fields, mentioned, prepared=prepared)
