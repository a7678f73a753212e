"""What one file becomes in the index: language, syntax, definitions, chunks, tokens. Pure, so it can run anywhere."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from dowse.code import chunking, parsing, symbols, terms
from dowse.code.languages import Languages
from dowse.types import ChunkTerms, ParsedFile, ParseHealth

VERSION = 1
"""Goes into every content hash: raise it when the same content gives other entities or chunks."""


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
    error: str = ""


def understand(how: Understanding, path: str, content: bytes, known: ParsedFile | None = None) -> Understood:
    """Parse a file, unless its content is known already, and make its tokens."""
    parsed = known or parse(how, path, content)
    return Understood(parsed, terms.chunk_terms(path, content, parsed))


def parse(how: Understanding, path: str, content: bytes) -> ParsedFile:
    """What a content says, whatever its path but for the language."""
    language = how.languages.detect(path, content)
    tree, health = parsing.parse(language, content)
    if health is ParseHealth.FAILED:
        tree = None  # one great error: nothing to find in it, and looking takes time by its size squared
    entities = symbols.find(language, tree, content) if tree is not None else ()
    chunks = chunking.cut(content, entities, tree, how.chunk_size, how.chunk_overlap)
    return ParsedFile(language.name, health, entities, chunks)
