"""What one file becomes in the index: language, syntax, definitions, chunks, tokens. Pure, so it can run anywhere."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from dowse.code import chunking, parsing, references, symbols, terms
from dowse.code.languages import Languages
from dowse.types import ChunkTerms, ParsedFile, ParseHealth

VERSION = 4
"""Goes into every content hash: raise it when the same content gives other entities, chunks or references."""


@dataclass(frozen=True, slots=True)
class Understanding:
    """The settings that decide what a content becomes."""

    languages: Languages
    chunk_size: int
    chunk_overlap: int


class Understood(NamedTuple):
    """A content taken apart, or why it could not be."""

    parsed: ParsedFile
    terms: tuple[ChunkTerms, ...]
    references: bytes = b""  # none of a content that is known already: the store has them
    error: str = ""


def understand(how: Understanding, path: str, content: bytes, known: ParsedFile | None = None) -> Understood:
    """Parse a file, unless its content is known already, and make its tokens."""
    parsed, mentioned = (known, b"") if known else parse(how, path, content)
    return Understood(parsed, terms.chunk_terms(path, content, parsed), mentioned)


def parse(how: Understanding, path: str, content: bytes) -> tuple[ParsedFile, bytes]:
    """What a content says, and its packed references, whatever its path but for the language."""
    language = how.languages.detect(path, content)
    tree, health = parsing.parse(language, content)
    if health is ParseHealth.FAILED:
        tree = None  # one great error: nothing to find in it, and looking takes time by its size squared
    entities = symbols.find(language, tree, content) if tree is not None else ()
    chunks = chunking.cut(content, entities, tree, how.chunk_size, how.chunk_overlap)
    found = references.find(language, tree, content) if tree is not None else ()
    found += references.links(language, content)
    return ParsedFile(language.name, health, entities, chunks), references.pack(entities, found)
