"""Per-file indexing step: language detection, parsing, symbols and references, chunking, tokens of one file.

Pure: no disk and no store, so that it can run in any worker process.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from dowse.code import bracket_depth, chunk_fields, chunking, formats, parsing, references, symbols
from dowse.code.formats import routes
from dowse.code.formats.reading import FormatSource, nest_items
from dowse.code.languages import Languages, load_builtin
from dowse.code.languages.spec import Language
from dowse.embedders.embedder import PretokenizingEmbedder
from dowse.indexing import embed
from dowse.types.discovered import FileStamp, PreparedChunk
from dowse.types.source import ChunkTerms, Definitions, Entity, MaskedSecret, ParsedFile, ParseHealth

VERSION = 8
"""Goes into every content hash: raise it when the same content gives other entities, chunks or references."""


@dataclass(frozen=True, slots=True)
class ParserConfig:
    """The settings that decide how a content is analyzed: languages, chunk size and overlap."""

    languages: Languages
    chunk_size: int
    chunk_overlap: int
    embedder: PretokenizingEmbedder | None = None  # one that can prepare its input here


class PendingFile(NamedTuple):
    """A file that was read, and whose secrets are masked, to be analyzed."""

    path: str
    content: bytes
    known: ParsedFile | None  # from the store, if it has this content
    stamp: FileStamp = FileStamp(0, 0)
    content_hash: bytes = b""
    secrets: tuple[MaskedSecret, ...] = ()


class AnalyzedFile(NamedTuple):
    """The result of analyzing a file, or the error that stopped it."""

    parsed: ParsedFile
    definitions: Definitions
    terms: tuple[ChunkTerms, ...]
    references: bytes = b""  # packed; empty for a known content: the store has them
    error: str = ""
    prepared: tuple[PreparedChunk, ...] = ()


def analyze(parser: ParserConfig, path: str, content: bytes, known: ParsedFile | None = None) -> AnalyzedFile:
    """Parse a file, unless its content is known already, and make its tokens."""
    return analyze_group(parser, [PendingFile(path, content, known)])[0]


def analyze_group(parser: ParserConfig, tasks: Sequence[PendingFile]) -> list[AnalyzedFile]:
    """Analyze some files: parse all of them before the first is tokenized.

    Parsing and tokenizing file by file takes 3 % longer: each evicts the code and tables of the other from the
    processor's caches. Splitting the work into smaller steps takes 5 % longer: the output of a step is evicted.
    """
    parsed = [(task.known, b"") if task.known else parse(parser, task.path, task.content) for task in tasks]
    return [_add_terms(parser, task, *result) for task, result in zip(tasks, parsed, strict=True)]


def analyze_quickly(parser: ParserConfig, tasks: Sequence[PendingFile]) -> list[AnalyzedFile | None]:
    """Analyze the files that take little time; None for one that needs a process of its own."""
    parsed = [_parse_quickly(parser, task) for task in tasks]
    return [
        _add_terms(parser, task, *result) if result else None
        for task, result in zip(tasks, parsed, strict=True)
    ]


def _parse_quickly(parser: ParserConfig, task: PendingFile) -> tuple[ParsedFile, bytes] | None:
    if task.known:
        return task.known, b""
    language = parser.languages.detect(task.path, task.content)
    if not _is_trusted(language, parser.languages) or bracket_depth.nests_deeply(task.content):
        return None
    try:
        return _parse(parser, language, task.path, task.content, parsing.QUICK_LIMITS)
    except parsing.QuickLimitExceeded:
        return None


def _is_trusted(language: Language, known: Languages) -> bool:
    """Return whether the patterns for a file are built in: those of a tree's settings may take forever.

    Parts of a format may be in any language.
    """
    if known is load_builtin():
        return True
    languages = [one for one in known.by_name.values() if not one.reader] if language.reader else [language]
    return all(load_builtin().by_name.get(one.name) == one for one in languages if one.links or one.blanks)


def analyze_by_lines(parser: ParserConfig, task: PendingFile) -> AnalyzedFile:
    """Cut a file into chunks by lines only: parsing it takes too much time or memory."""
    language = parser.languages.detect(task.path, task.content)
    chunks = chunking.cut_chunks(task.content, (), None, parser.chunk_size, parser.chunk_overlap)
    parsed = ParsedFile(language.name, ParseHealth.OVER_BUDGET, (), chunks)
    return _add_terms(parser, task, parsed, references.pack((), {}))


def parse(parser: ParserConfig, path: str, content: bytes) -> tuple[ParsedFile, bytes]:
    """Parse a content into entities and chunks, and its packed references; the path tells the language,
    and to some formats what the file is called.
    """
    return _parse(parser, parser.languages.detect(path, content), path, content)


def _parse(
    parser: ParserConfig,
    language: Language,
    path: str,
    content: bytes,
    limits: parsing.ParseLimits | None = None,
) -> tuple[ParsedFile, bytes]:
    if language.reader:
        return _parse_format(parser, language, path, content, limits)
    tree, health = parsing.parse(language, content, limits)
    if health is ParseHealth.FAILED:
        tree = None  # all of it is one error: a query finds nothing, and takes quadratic time
    matches = parsing.run_queries(language, tree)
    entities: Sequence[Entity] = symbols.find(language, matches.definitions, content)
    mentions = references.find(language, matches.references, content)
    if routes.may_have_routes(language.name, content):
        entities, mentions = routes.add_routes(language.name, content, entities, mentions)
    chunks = chunking.cut_chunks(content, entities, tree, parser.chunk_size, parser.chunk_overlap)
    return ParsedFile(language.name, health, entities, chunks), references.pack(entities, mentions)


def _parse_format(
    parser: ParserConfig, language: Language, path: str, content: bytes, limits: parsing.ParseLimits | None
) -> tuple[ParsedFile, bytes]:
    """Parse a file in a format that is more than its language."""
    name = path.rpartition("/")[2] if language.named else ""
    found = formats.read_format(FormatSource(language, name, content, parser.languages.by_name, limits))
    entities = nest_items(found.items) if content.strip() else ()  # without a line, there is no chunk
    apart = frozenset(index for index, entity in enumerate(entities) if entity.kind in found.apart)
    chunks = chunking.cut_chunks(
        content, entities, found.tree, parser.chunk_size, parser.chunk_overlap, apart=apart
    )
    packed = references.pack(entities, found.collect_references())
    return ParsedFile(language.name, found.health, entities, chunks), packed


def _add_terms(
    parser: ParserConfig, task: PendingFile, parsed: ParsedFile, packed_references: bytes
) -> AnalyzedFile:
    """Add tokens, and the input of the embedder, to a file that was parsed."""
    definitions = chunk_fields.definitions_by_chunk(parsed)
    passages = chunk_fields.build_passages(task.content, parsed, definitions)
    fields = chunk_fields.chunk_terms(task.path, passages)
    prepared = (
        embed.prepare_chunks(parser.embedder, task.path, task.content, passages) if parser.embedder else ()
    )
    return AnalyzedFile(parsed, definitions, fields, packed_references, prepared=prepared)
