"""Full-text inverted index (tantivy): BM25 ranking, filters and fuzzy or glob name lookup over the tokens of chunks.

Derived from the catalogue. Each commit carries the catalogue's generation in a document of its own (``STAMP_FACT``), in
the same atomic step, so that a difference is seen and repaired. Text is tokenized by ``code/tokens.py``, not here.
"""

from __future__ import annotations

import json
import os
import re
import struct
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import lru_cache
from pathlib import Path

import tantivy
from tantivy import Occur, Query

from dowse.errors import IndexCorrupt, IndexUnwritable
from dowse.filters import chunk_definitions, name_regex, path_regex
from dowse.stores.embedded import layout
from dowse.stores.embedded.layout import checksum
from dowse.stores.name_match import max_typos
from dowse.types.discovered import SourceFile
from dowse.types.queries import Term
from dowse.types.source import ChunkTerms
from dowse.types.stored import (
    CHUNK_BITS,
    Filter,
    NameTier,
    Scored,
    StoredFile,
    best_first,
    chunk_id,
    shortest_first,
)

WRITER_HEAP_BYTES = 30_000_000
"""Bytes buffered before a segment is written: large enough that a batch makes one segment. A third of it is a table
that is cleared for every segment, however small."""

STAMP_FACT = "stamp"
"""The only fact of the document that carries the generation; those of chunks have a prefix and a value."""

NO_GENERATION = 0
"""The generation of an index that carries no stamp: that before the first commit, when there is nothing in it."""

META_FILE = "meta.json"
"""Where the engine names the segments of the newest commit."""

_FOOTER_TAIL = struct.Struct("<II")
"""How the engine ends a file: the length of a footer in JSON, which has the checksum of all before it, and a mark."""

_NO_LOCK_MESSAGE = "Failed to acquire Lockfile: IoError"
"""What the engine says where it cannot make the file that keeps others from cleaning up while it opens an index."""

_FIELDS = ChunkTerms._fields

_LANGUAGE, _ROLE, _PATH, _KIND, _NAME = "language=", "role=", "path=", "kind=", "name="
"""What is known of a chunk beside its tokens begins with one of these. All of it is one field of the engine: each field
that there is takes time in every document and every commit."""


@lru_cache(maxsize=1)
def _build_schema() -> tantivy.Schema:
    builder = tantivy.SchemaBuilder()
    for field in _FIELDS:
        builder.add_text_field(field, tokenizer_name="whitespace", index_option="freq")
    builder.add_text_field("fact", tokenizer_name="raw", index_option="basic")
    builder.add_integer_field("file", indexed=True, fast=True)
    builder.add_integer_field("chunk", fast=True)
    builder.add_integer_field("generation", fast=True)
    return builder.build()


class LexicalIndex:
    """The tantivy index in one folder; each of its readers belongs to one commit."""

    def __init__(self, folder: Path, *, create: bool) -> None:
        self.folder = folder
        with _translate_errors(folder):
            if create:
                folder.mkdir(parents=True, exist_ok=True)
                self._index = tantivy.Index(_build_schema(), str(folder), reuse=True)
            else:
                self._index = tantivy.Index.open(str(folder))

    def reader(self) -> LexicalReader:
        """Open the newest commit."""
        with _translate_errors(self.folder):
            self._index.reload()
            return LexicalReader(self.folder, self._index.searcher())

    def writer(self) -> LexicalWriter:
        """Open the writer; there can be only one at a time."""
        try:
            return LexicalWriter(self._index.writer(heap_size=WRITER_HEAP_BYTES, num_threads=1))
        except (ValueError, OSError) as error:
            raise IndexUnwritable.because(f"the lexical index at {self.folder}", error) from error


def open_or_recreate(folder: Path, *, thorough: bool) -> tuple[LexicalIndex, int]:
    """Open the index in a folder and return it with its generation; replace one that is corrupt by an empty one.

    Corruption in the middle of a file is only seen where every byte is read, which is ``thorough``.
    """
    if thorough and (folder / META_FILE).exists() and not is_intact(folder):
        layout.remove(folder, layout.LEXICAL_LAYOUT)
    try:
        index = LexicalIndex(folder, create=True)
        return index, index.reader().generation
    except IndexCorrupt:
        layout.remove(folder, layout.LEXICAL_LAYOUT)
        return LexicalIndex(folder, create=True), NO_GENERATION


def is_intact(folder: Path) -> bool:
    """Whether the files of the newest commit have valid checksums; reads all of them."""
    before = None
    while (segments := _read_segment_ids(folder)) != before:  # else a writer has replaced them meanwhile
        if segments is not None and all(
            _has_valid_checksum(path) for id in segments for path in folder.glob(f"{id}.*")
        ):
            return True
        before = segments
    return False


def _read_segment_ids(folder: Path) -> list[str] | None:
    try:
        meta = json.loads((folder / META_FILE).read_text(encoding="utf-8"))
        return [segment["segment_id"].replace("-", "") for segment in meta["segments"]]
    except (OSError, ValueError, KeyError, TypeError):
        return None


def _has_valid_checksum(path: Path) -> bool:
    """Whether a file of the engine has the checksum that its footer says."""
    try:
        with open(path, "rb") as file:
            end = file.seek(-_FOOTER_TAIL.size, os.SEEK_END)
            length, _ = _FOOTER_TAIL.unpack(file.read())
            file.seek(end - length)
            footer = json.loads(file.read(length))
        return bool(checksum(path, end - length) == footer["crc"])
    except (OSError, ValueError, KeyError, TypeError):
        return False


@contextmanager
def _translate_errors(folder: Path) -> Iterator[None]:
    """Translate the engine's errors to ours; on corrupt files it may even panic."""
    try:
        yield
    except OSError as error:
        raise IndexUnwritable(f"the lexical index at {folder} cannot be opened: {error}") from error
    except BaseException as error:
        if not isinstance(error, ValueError) and not _is_panic(error):
            raise
        if _NO_LOCK_MESSAGE in str(error):
            raise IndexUnwritable(
                f"the lexical index at {folder} cannot be opened, not even for reading, where no file can be made: "
                "copy the index to a folder that can be written, and set index_dir to it"
            ) from error
        raise IndexCorrupt(f"the lexical index at {folder} is corrupt ({_flatten(error)})") from error


def _is_panic(error: BaseException) -> bool:
    return type(error).__name__ == "PanicException"


def _flatten(error: BaseException) -> str:
    return " ".join(str(error).split())


class LexicalReader:
    """One commit of the inverted index: BM25 search, document frequencies, name lookup."""

    def __init__(self, folder: Path, searcher: tantivy.Searcher) -> None:
        self._folder = folder
        self._searcher = searcher
        self._schema = _build_schema()
        self.generation = self._read_generation()

    def _read_generation(self) -> int:
        hits = self._searcher.search(
            Query.term_query(self._schema, "fact", STAMP_FACT), limit=1, count=False
        ).hits
        if not hits:
            return NO_GENERATION
        (value,) = self._searcher.fast_field_values("generation", [hits[0][1]])
        return NO_GENERATION if value is None else int(value)

    def search(
        self,
        terms: Sequence[Term],
        fields: Mapping[str, float],
        filter: Filter,
        limit: int,
        files: Sequence[int] | None = None,
    ) -> list[Scored]:
        """Rank chunks by BM25 summed over terms and weighted fields, of some files or of all."""
        clauses = [
            (
                Occur.Should,
                Query.boost_query(
                    Query.term_query(self._schema, field, term.text, "freq"), term.weight * weight
                ),
            )
            for term in terms
            for field, weight in fields.items()
            if weight and term.weight
        ]
        if not clauses:
            return []
        return self._run(self._apply_filter(Query.boolean_query(clauses), filter, files), limit)

    def find_defining_chunks(
        self, pattern: str, tier: NameTier, filter: Filter, limit: int, files: Sequence[int] | None = None
    ) -> list[int]:
        """Find the chunks in or around which a name is defined that matches as a glob, or with a few typos."""
        if tier is NameTier.GLOB:
            query = self._match_regex(_NAME, name_regex(pattern))
        else:
            key = pattern.lower()
            query = Query.fuzzy_term_query(self._schema, "fact", _NAME + key, max_typos(key))
        return sorted(hit.chunk for hit in self._run(self._apply_filter(query, filter, files), limit))

    def document_frequency(self, token: str) -> int:
        """Count the chunks that have a token in their body; those just deleted may still count."""
        with _translate_errors(self._folder):
            return int(self._searcher.doc_freq("body", token))

    def find_tokens(self, part: str, limit: int) -> list[str]:
        """Find tokens of bodies that contain a text, shortest first; lists all tokens only if there are any."""
        pattern = Query.regex_query(self._schema, "body", f".*{re.escape(part)}.*")
        if not self._run(pattern, 1):
            return []
        with _translate_errors(self._folder):
            held = self._searcher.terms_with_prefix("body", "")
        return shortest_first((token for token, _ in held if part in token), limit)

    def chunk_count(self) -> int:
        """Count the chunks, without the stamp."""
        return max(0, int(self._searcher.num_docs) - 1)

    def list_chunks(self, file: int) -> list[int]:
        """List the chunks of a file that the index has."""
        query = Query.term_query(self._schema, "file", file)
        return sorted(hit.chunk for hit in self._run(query, 1 << CHUNK_BITS))

    def _apply_filter(self, query: Query, filter: Filter, files: Sequence[int] | None) -> Query:
        """Add clauses to a query that say what a filter lets through, of some files or of all, and add no score."""
        if files is None and not (filter.about_files or filter.about_chunks):
            return query
        included = {_LANGUAGE: filter.languages, _ROLE: filter.roles, _KIND: filter.kinds}
        excluded = {_LANGUAGE: filter.not_languages, _ROLE: filter.not_roles, _KIND: filter.not_kinds}
        required = [self._match_one_of(prefix, values) for prefix, values in included.items() if values]
        if filter.paths:
            required.append(self._match_any_of(_PATH, path_regex, filter.paths))
        if filter.names:
            required.append(self._match_any_of(_NAME, name_regex, filter.names))
        prohibited = [self._match_one_of(prefix, values) for prefix, values in excluded.items() if values]
        prohibited += [self._match_regex(_PATH, path_regex(pattern)) for pattern in filter.not_paths]
        if files is not None:
            required.append(Query.term_set_query(self._schema, "file", files))
        conditions = [
            *((Occur.Must, Query.const_score_query(clause, 0.0)) for clause in required),
            *((Occur.MustNot, clause) for clause in prohibited),
        ]
        return Query.boolean_query([(Occur.Must, query), *conditions]) if conditions else query

    def _match_one_of(self, prefix: str, values: Iterable[str]) -> Query:
        return Query.term_set_query(self._schema, "fact", [prefix + value for value in sorted(values)])

    def _match_any_of(self, prefix: str, regex: Callable[[str], str], patterns: Iterable[str]) -> Query:
        return Query.boolean_query(
            [(Occur.Should, self._match_regex(prefix, regex(pattern))) for pattern in patterns]
        )

    def _match_regex(self, prefix: str, regex: str) -> Query:
        """Match documents with a fact; compare fact by fact where the pattern is too much for the engine."""
        if (query := _compile_regex_query(prefix + regex)) is not None:
            return query
        pattern = re.compile(prefix + regex)
        with _translate_errors(self._folder):
            facts = [fact for fact, _ in self._searcher.terms_with_prefix("fact", prefix)]
        return Query.term_set_query(self._schema, "fact", list(filter(pattern.fullmatch, facts)))

    def _run(self, query: Query, limit: int) -> list[Scored]:
        if limit < 1:
            return []
        with _translate_errors(self._folder):
            hits = self._searcher.search(query, limit=limit, count=False).hits
            chunks = self._searcher.fast_field_values("chunk", [address for _, address in hits])
        return best_first([int(chunk or 0) for chunk in chunks], [score for score, _ in hits])


@lru_cache(maxsize=500)
def _compile_regex_query(regex: str) -> Query | None:
    """Compile a pattern, which takes milliseconds and is cached; None if it needs too many states."""
    try:
        return Query.regex_query(_build_schema(), "fact", regex)
    except ValueError:
        return None


class LexicalWriter:
    """Adds and deletes chunks in the inverted index; nothing is visible before ``commit``."""

    def __init__(self, writer: tantivy.IndexWriter) -> None:
        self._writer = writer

    def delete(self, files: Iterable[int]) -> None:
        """Delete all chunks of these files."""
        for file in files:
            self._writer.delete_documents_by_term("file", file)

    def delete_all(self) -> None:
        """Delete everything."""
        self._writer.delete_all_documents()

    def add(self, id: int, file: SourceFile | StoredFile, terms: Sequence[ChunkTerms]) -> None:
        """Add the chunks of a file."""
        parsed = file.parsed
        of_file = [_LANGUAGE + parsed.language, _ROLE + file.role, _PATH + file.path]
        of_entities = [(_KIND + entity.kind, _NAME + entity.name.lower()) for entity in parsed.entities]
        for ordinal, (tokens, beginning) in enumerate(zip(terms, file.definitions, strict=True)):
            definitions = chunk_definitions(parsed, ordinal, beginning)
            document = {
                **{field: value for field, value in zip(_FIELDS, tokens, strict=True) if value},
                "fact": [*of_file, *{fact for ordinal in definitions for fact in of_entities[ordinal]}],
                "file": id,
                "chunk": chunk_id(id, ordinal),
            }
            self._writer.add_document(tantivy.Document.from_dict(document))

    def commit(self, generation: int) -> None:
        """Publish what was added and deleted, stamped with the catalogue's generation."""
        self._writer.delete_documents_by_term("fact", STAMP_FACT)
        stamp = tantivy.Document()
        stamp.add_text("fact", STAMP_FACT)
        stamp.add_integer("generation", generation)
        self._writer.add_document(stamp)
        with _translate_write_errors():
            self._writer.commit()

    def close(self) -> None:
        """Wait for merges in progress and release the lock."""
        with _translate_write_errors():
            self._writer.wait_merging_threads()


@contextmanager
def _translate_write_errors() -> Iterator[None]:
    try:
        yield
    except (ValueError, OSError) as error:
        raise IndexUnwritable.because("the lexical index", error) from error
    except BaseException as error:
        if not _is_panic(error):
            raise
        raise IndexCorrupt(f"the lexical index is corrupt ({_flatten(error)})") from error
