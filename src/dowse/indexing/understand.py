"""What one file becomes in the index: language, syntax, definitions, chunks, tokens. Pure, so it can run anywhere."""

from __future__ import annotations

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


class Understood(NamedTuple):
    """A content taken apart, or why it could not be."""

    parsed: ParsedFile
    terms: tuple[ChunkTerms, ...]
    references: bytes = b""  # none of a content that is known already: the store has them
    error: str = ""
    prepared: tuple[PreparedChunk, ...] = ()


def understand(how: Understanding, path: str, content: bytes, known: ParsedFile | None = None) -> Understood:
    """Parse a file, unless its content is known already, and make its tokens."""
    parsed, mentioned = (known, b"") if known else parse(how, path, content)
    passages = terms.passages(content, parsed)
    fields = terms.chunk_terms(path, content, parsed, passages)
    prepared = embed.prepared(how.embedder, path, content, parsed, passages) if how.embedder else ()
    return Understood(parsed, fields, mentioned, prepared=prepared)


def parse(how: Understanding, path: str, content: bytes) -> tuple[ParsedFile, bytes]:
    """What a content says, and its packed references, whatever its path but for the language."""
    language = how.languages.detect(path, content)
    tree, health = parsing.parse(language, content)
    if health is ParseHealth.FAILED:
        tree = None  # one great error: nothing to find in it, and looking takes time by its size squared
    matches = parsing.matches(language, tree)
    entities = symbols.find(language, matches.definitions, content)
    chunks = chunking.cut(content, entities, tree, how.chunk_size, how.chunk_overlap)
    mentioned = references.find(language, matches.references, content)
    return ParsedFile(language.name, health, entities, chunks), references.pack(entities, mentioned)
