"""Snapshot reads of an embedded index: one generation of catalogue, inverted index and vectors, seen consistently.

Implements ``Snapshot``: BM25, nearest neighbours, name lookup, files and contents.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from itertools import islice

from dowse.errors import IndexCorrupt, UsageError
from dowse.filters import chunk_passes, entity_passes, file_passes
from dowse.stores import name_match
from dowse.stores.embedded.catalogue import (
    CatalogueFile,
    NamedEntity,
    SqliteCatalogue,
)
from dowse.stores.embedded.lexical_index import LexicalReader
from dowse.stores.embedded.open_index import SnapshotCache
from dowse.stores.embedded.quantize import unpack_vectors
from dowse.stores.embedded.vector_index import VectorIndex
from dowse.stores.protocol import StampRow
from dowse.types.discovered import ChunkVector, WatchedTimes
from dowse.types.queries import Term
from dowse.types.source import Kind
from dowse.types.stored import (
    CHUNK_BITS,
    DEFAULT_BM25,
    Bm25,
    FileReferences,
    Filter,
    NameHit,
    NameTier,
    Scored,
    StoredFile,
    split_chunk_id,
)

SPARE_HITS = 8
"""Hits fetched beyond the limit, so that a few whose files are gone crowd out nothing."""

MAX_SCANNED_NAMES = 1000
"""Definitions that a name may bring, or chunks that a glob or a typo may, before they are put in order: what is
more common than that points at nothing. A filter is applied before, so that it misses nothing."""


class EmbeddedSnapshot:
    """One generation of an embedded index, for reading (snapshot isolation)."""

    def __init__(
        self,
        identity: str,
        catalogue: SqliteCatalogue,
        reader: LexicalReader,
        vectors: VectorIndex,
        cache: SnapshotCache,
        *,
        is_current: bool,
    ) -> None:
        self.identity = identity
        self.is_current = is_current
        self.generation = reader.generation
        self._catalogue = catalogue
        self._lexical = reader
        self._vectors = vectors
        self._cache = cache
        self._last_names: tuple[tuple[str, str, Filter], list[NamedEntity]] | None = None

    def lexical(
        self,
        terms: Sequence[Term],
        fields: Mapping[str, float],
        filter: Filter,
        limit: int,
        bm25: Bm25 = DEFAULT_BM25,
    ) -> list[Scored]:
        """Rank chunks by BM25, whose constants are fixed in the lexical engine."""
        if bm25 != DEFAULT_BM25:
            raise UsageError(
                f"the embedded store has BM25 with k1 {DEFAULT_BM25.k1:g} and b {DEFAULT_BM25.b:g} built in: leave "
                "bm25_k1 and bm25_b as they are, or set store to 'memory' or to a PostgreSQL server"
            )
        return self._lexical.search(terms, fields, filter, limit, self._find_changed_files(filter))

    def document_frequency(self, token: str) -> int:
        """Count the chunks that have a token in their body."""
        return self._lexical.document_frequency(token)

    def find_tokens(self, part: str, limit: int) -> list[str]:
        """Find tokens of bodies that contain a text, shortest first."""
        return self._lexical.find_tokens(part, limit)

    def chunk_count(self) -> int:
        """Count the chunks."""
        return self._lexical.chunk_count()

    def lexical_chunks(self, file: int) -> list[int]:
        """List the chunks of a file that the lexical index has."""
        return self._lexical.list_chunks(file)

    def list_embedded_chunks(self) -> dict[int, list[int]]:
        """List for each file the ordinals of the chunks that have a vector."""
        found: dict[int, list[int]] = {}
        for file, ordinal in map(split_chunk_id, sorted(self._vectors.chunks())):
            found.setdefault(file, []).append(ordinal)
        return found

    def dense(self, vector: Sequence[float], filter: Filter, limit: int) -> list[Scored]:
        """Rank chunks by cosine; filters on files act on the arrays, those on definitions on the best of these."""
        if limit < 1:
            return []
        fetch, cache = limit + SPARE_HITS, self._cache
        files = self._find_passing_files(filter) if filter.about_files or cache.has_many_stale_rows else None
        while True:
            hits = self._vectors.search(vector, fetch, files)
            if filter.about_chunks:
                kept = [hit for hit in hits if self.chunk_passes(hit.chunk, filter)]
            else:  # rows of the vectors outlive their files for a while
                ids = {hit.chunk >> CHUNK_BITS for hit in hits}
                gone = {id for id in ids - cache.files.keys() if self.file(id) is None}
                kept = [hit for hit in hits if hit.chunk >> CHUNK_BITS not in gone] if gone else hits
                if gone and (min(gone) < 1 or max(gone) > self._catalogue.find_last_file_id()):
                    folder = self._vectors.folder
                    raise IndexCorrupt(
                        f"the vectors at {folder} are corrupt (they name files that never were)"
                    )
            if len(kept) >= limit or len(hits) < fetch:
                return kept[:limit]
            if files is None and not filter.about_chunks:
                cache.has_many_stale_rows, files = True, self._find_passing_files(filter)
            else:
                fetch *= 4

    def file_cosines(self, vector: Sequence[float], files: Sequence[int]) -> dict[int, list[float]]:
        """Compare the vector with all chunks of some files."""
        return self._vectors.score_files(vector, files)

    def _find_passing_files(self, filter: Filter) -> frozenset[int]:
        """Find the files that pass a filter."""
        files = self._cache.files_by_filter.get(filter)
        if files is None:
            rows = self._catalogue.list_live_files(self.generation)
            files = frozenset(id for id, file in rows if file_passes(filter, file))
            self._cache.files_by_filter.put(filter, files)
        return files

    def names(self, pattern: str, tier: NameTier, filter: Filter, limit: int) -> list[NameHit]:
        """Look up definitions by name: exact names and prefixes in the catalogue, other tiers in the lexical index."""
        if tier in (NameTier.GLOB, NameTier.FUZZY):
            candidates: Iterable[NamedEntity] = self._find_defined_in(
                self._lexical.find_defining_chunks(
                    pattern, tier, filter, MAX_SCANNED_NAMES, self._find_changed_files(filter)
                )
            )
        else:
            key = pattern.lower()
            last = key + "\U0010ffff" if tier is NameTier.PREFIX else key
            candidates = self._find_names(key, last, filter)
        found = (
            NameHit(row.file, row.entity, row.chunk, tier, Kind(row.kind))
            for row in candidates
            if name_match.matches(tier, pattern, row.name)
            and file_passes(filter, row.facts)
            and entity_passes(filter, row.kind, row.name)
        )
        return list(islice(found, max(0, limit)))

    def _find_names(self, first: str, last: str, filter: Filter) -> list[NamedEntity]:
        """Find the entities whose names lie between two; cached for the next tier, which may need the same."""
        key = (first, last, filter)
        if self._last_names is None or self._last_names[0] != key:
            limit = None if filter.about_files or filter.about_chunks else MAX_SCANNED_NAMES
            self._last_names = key, list(self._catalogue.find_names(first, last, self.generation, limit))
        return self._last_names[1]

    def _find_changed_files(self, filter: Filter) -> Sequence[int] | None:
        """Find the files that changed lately enough; their times are in the catalogue alone."""
        if filter.changed_since_ns is None:
            return None
        lately = Filter(changed_since_ns=filter.changed_since_ns)
        return [
            id for id, file in self._catalogue.list_live_files(self.generation) if file_passes(lately, file)
        ]

    def _find_defined_in(self, chunks: list[int]) -> Iterable[NamedEntity]:
        """List the entities that begin in some chunks, by name and path."""
        found = []
        for id in chunks:
            file_id, ordinal = split_chunk_id(id)
            if (file := self.file(file_id)) is None:
                continue
            for index in file.definitions[ordinal]:
                entity = file.parsed.entities[index]
                found.append(
                    NamedEntity(
                        file_id,
                        index,
                        ordinal,
                        entity.name,
                        entity.kind,
                        file.path,
                        file.parsed.language,
                        file.role.value,
                        file.stamp.mtime_ns,
                    )
                )
        return sorted(found, key=lambda row: (row.name.lower(), row.path, row.entity))

    def chunk_passes(self, chunk: int, filter: Filter) -> bool:
        """Whether a chunk passes by its definitions."""
        file_id, ordinal = split_chunk_id(chunk)
        file = self.file(file_id)
        return file is not None and chunk_passes(filter, file, ordinal)

    def find_files_named(self, name: str, filter: Filter, limit: int) -> list[int]:
        """Find files by name, stem or trailing path."""
        wanted = name.lower().strip("/")
        last = wanted.rpartition("/")[2]
        files = self._cache.files_by_name.get(last)
        if files is None:
            files = list(self._catalogue.find_files_called(last, self.generation))
            self._cache.files_by_name.put(last, files)
        found = (
            id
            for id, file in files
            if name_match.path_ends_with(file.path, wanted) and file_passes(filter, file)
        )
        return list(islice(found, max(0, limit)))

    def file(self, id: int) -> StoredFile | None:
        """Read a file by its id."""
        files = self._cache.files
        file = files.get(id)
        if file is None and (file := self._catalogue.file(id, self.generation)) is not None:
            files[id] = file
            self._cache.ids[file.path] = id
        return file

    def file_at(self, path: str) -> StoredFile | None:
        """Read a file by its path."""
        id = self._cache.ids.get(path)
        if id is None:
            id = self._catalogue.file_id(path, self.generation)
        return None if id is None else self.file(id)

    def prefetch(self, ids: Sequence[int]) -> None:
        """Do nothing: contents are local."""

    def content(self, id: int) -> bytes:
        """Read the content of a file."""
        content = self._cache.contents.get(id)
        if content is None:
            content = self._catalogue.content(id)
            self._cache.contents.put(id, content, len(content))
        return content

    def contents(self, filter: Filter) -> Iterator[tuple[int, bytes]]:
        """Read id and content of every file that passes, in order of path."""
        files = [
            (file.path, id)
            for id, file in self._catalogue.list_live_files(self.generation)
            if file_passes(filter, file)
        ]
        return ((id, self._catalogue.content(id)) for _, id in sorted(files))

    def file_count(self) -> int:
        """Count the files."""
        cache = self._cache
        if cache.file_count is None:
            cache.file_count = self._catalogue.file_count(self.generation)
        return cache.file_count

    def file_vectors(self, id: int) -> tuple[ChunkVector, ...]:
        """Read the vectors of a file's chunks, to the precision that they are stored in."""
        rows = self._catalogue.file_vectors(id)
        vectors = unpack_vectors([data for _, data in rows])
        return tuple(ChunkVector(key, vector) for (key, _), vector in zip(rows, vectors, strict=True))

    def references(self, paths: Collection[str] | None = None) -> Iterator[FileReferences]:
        """Read what files define and mention, in order of path."""
        return self._catalogue.references(self.generation, paths)

    def manifest(self) -> Mapping[str, CatalogueFile]:
        """List every file by path."""
        cache = self._cache
        if cache.manifest is None:
            cache.manifest = self._catalogue.manifest(self.generation)
        return cache.manifest

    def list_stamps(self) -> Iterable[StampRow]:
        """List every file in order of path, with its stamp; of a large tree, they are not held in memory."""
        return self._catalogue.list_stamps(self.generation)

    def list_watched(self) -> WatchedTimes:
        """List what is watched beside the files."""
        cache = self._cache
        if cache.watched is None:
            cache.watched = self._catalogue.list_watched()
        return cache.watched
