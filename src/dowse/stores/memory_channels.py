"""Channels in memory: words, vectors and names of chunks, computed plainly; the definition of what channels do."""

from __future__ import annotations

import math
import threading
from array import array
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from dowse.filters import chunk_passes, entity_passes, file_passes
from dowse.stores import name_match
from dowse.stores.channels_protocol import FindChanged, NumberedFile, PlannedCommit, VisibleGeneration
from dowse.types.discovered import SourceFile
from dowse.types.queries import Term
from dowse.types.source import ChunkTerms
from dowse.types.stored import (
    DEFAULT_BM25,
    Bm25,
    FileFacts,
    Filter,
    NameHit,
    NameTier,
    Scored,
    StoredFile,
    best_first,
    chunk_id,
    shortest_first,
    split_chunk_id,
)

_BODY = ChunkTerms._fields.index("body")

RETAINED_GENERATIONS = 8
"""Rows that were removed so many generations ago are deleted: who opened a snapshot then has them by now."""

FieldCounts = tuple[Counter[str], ...]
"""How often each field of a chunk has each token."""


@dataclass(slots=True)
class ChannelRow:
    """What is searched of a file: added by one commit, and perhaps removed by another."""

    id: int
    source: SourceFile
    counts: tuple[FieldCounts, ...]  # by chunk
    added: int = 0
    removed: int | None = None

    @classmethod
    def of(cls, file: NumberedFile, generation: int = 0) -> ChannelRow:
        """Count the tokens of a file."""
        counts = tuple(tuple(Counter(field.split()) for field in chunk) for chunk in file.source.terms)
        return cls(file.id, file.source, counts, generation)


class MemoryChannels:
    """What is searched of one index or several, in memory."""

    def __init__(self) -> None:
        self._guard = threading.Lock()
        self._rows: dict[tuple[str, int], ChannelRow] = {}  # by index and file

    def snapshot(self, visible: VisibleGeneration, find_changed: FindChanged) -> MemoryChannelsSnapshot:
        """Open what belongs to a generation. Rows are read now: a sweep takes nothing from who reads already."""
        with self._guard:
            rows = [row for (identity, _), row in self._rows.items() if identity == visible.identity]
            seen = [row for row in rows if visible.shows(row.added, row.removed)]
        return MemoryChannelsSnapshot(seen, find_changed)

    def put(self, commit: PlannedCommit) -> None:
        """Write what a commit adds."""
        added = {
            (commit.base.identity, file.id): ChannelRow.of(file, commit.generation) for file in commit.added
        }
        with self._guard:
            self._rows.update(added)

    def drop(self, commit: PlannedCommit) -> None:
        """Mark what a commit removes."""
        with self._guard:
            for file in commit.removed:
                row = self._rows[commit.base.identity, file.id]
                if row.removed is None or row.removed in commit.base.abandoned:
                    row.removed = commit.generation

    def sweep(self, visible: VisibleGeneration) -> None:
        """Delete what nobody can see any more."""
        oldest = visible.generation - RETAINED_GENERATIONS
        with self._guard:
            for key, row in list(self._rows.items()):
                was_removed = row.removed is not None and row.removed not in visible.abandoned
                is_gone = was_removed and (row.removed or 0) <= oldest
                if key[0] == visible.identity and (is_gone or row.added in visible.abandoned):
                    del self._rows[key]
                elif key[0] == visible.identity and row.removed in visible.abandoned:
                    row.removed = None

    def clear(self, visible: VisibleGeneration) -> None:
        """Delete all rows of an index."""
        with self._guard:
            for key in [key for key in self._rows if key[0] == visible.identity]:
                del self._rows[key]

    def close(self) -> None:
        """Do nothing: there is nothing to close."""


class MemoryChannelsSnapshot:
    """What is searched of one generation."""

    def __init__(self, rows: Iterable[ChannelRow], find_changed: FindChanged) -> None:
        self._by_id = {row.id: row for row in rows}
        self._find_changed = find_changed

    def lexical(
        self,
        terms: Sequence[Term],
        fields: Mapping[str, float],
        filter: Filter,
        limit: int,
        bm25: Bm25 = DEFAULT_BM25,
    ) -> list[Scored]:
        """Rank chunks by BM25 with length normalization, summed over terms and weighted fields."""
        chunks = [
            (chunk_id(row.id, i), counts)
            for row in self._by_id.values()
            for i, counts in enumerate(row.counts)
        ]
        scores: dict[int, float] = defaultdict(float)
        for index, field in enumerate(ChunkTerms._fields):
            weight = fields.get(field, 0.0)
            average = sum(counts[index].total() for _, counts in chunks) / max(1, len(chunks))
            for term in terms if weight else ():
                holders = [(id, counts[index]) for id, counts in chunks if term.text in counts[index]]
                idf = math.log(1 + (len(chunks) - len(holders) + 0.5) / (len(holders) + 0.5))
                for id, counts in holders:
                    frequency, length = counts[term.text], counts.total()
                    norm = bm25.k1 * (1 - bm25.b + bm25.b * length / average)
                    scores[id] += term.weight * weight * idf * frequency * (bm25.k1 + 1) / (frequency + norm)
        return self._top_k({id: score for id, score in scores.items() if score}, filter, limit)

    def document_frequency(self, token: str) -> int:
        """Count the chunks that have a token in their body."""
        return sum(token in counts[_BODY] for row in self._by_id.values() for counts in row.counts)

    def find_tokens(self, part: str, limit: int) -> list[str]:
        """Find tokens of bodies that contain a text, shortest first."""
        held = {token for row in self._by_id.values() for counts in row.counts for token in counts[_BODY]}
        return shortest_first((token for token in held if part in token), limit)

    def chunk_count(self) -> int:
        """Count the chunks."""
        return sum(len(row.counts) for row in self._by_id.values())

    def dense(self, vector: Sequence[float], filter: Filter, limit: int) -> list[Scored]:
        """Rank chunks by the cosine with their vectors."""
        cosines = self.file_cosines(vector, list(self._by_id)).items()
        return self._top_k(
            {chunk_id(id, n): cosine for id, each in cosines for n, cosine in enumerate(each)}, filter, limit
        )

    def file_cosines(self, vector: Sequence[float], files: Sequence[int]) -> dict[int, list[float]]:
        """Compare the vector with all chunks of some files."""
        found: dict[int, list[float]] = {}
        for row in (self._by_id[id] for id in files if id in self._by_id):
            vectors = [array("f", raw) for _, raw in row.source.vectors]
            if vectors and len(vectors[0]) == len(vector):
                found[row.id] = [sum(map(float.__mul__, one, map(float, vector))) for one in vectors]
        return found

    def _top_k(self, scores: Mapping[int, float], filter: Filter, limit: int) -> list[Scored]:
        passing = {row.id for row in self._list_passing(filter)}
        ranked = best_first(scores.keys(), scores.values())
        return [hit for hit in ranked if self._passes(hit.chunk, filter, passing)][:limit]

    def _passes(self, chunk: int, filter: Filter, files: set[int]) -> bool:
        id, ordinal = split_chunk_id(chunk)
        return id in files and chunk_passes(filter, make_stored_file(id, self._by_id[id].source), ordinal)

    def _list_passing(self, filter: Filter) -> list[ChannelRow]:
        """List the rows of the files that pass, in order of path; the catalogue knows when they were changed."""
        rows = sorted(self._by_id.values(), key=lambda row: row.source.path)
        if filter.changed_since_ns is not None:
            changed = frozenset(self._find_changed(filter.changed_since_ns))
            rows = [row for row in rows if row.id in changed]
        unstamped = replace(filter, changed_since_ns=None)
        return [row for row in rows if file_passes(unstamped, _describe(row))]

    def names(self, pattern: str, tier: NameTier, filter: Filter, limit: int) -> list[NameHit]:
        """Find entities whose name matches, by name and path."""
        found = []
        for row in self._list_passing(filter):
            chunks = enumerate(row.source.definitions)
            for chunk, ordinal in ((chunk, i) for chunk, held in chunks for i in held):
                entity = row.source.parsed.entities[ordinal]
                is_named = name_match.matches(tier, pattern, entity.name)
                if is_named and entity_passes(filter, entity.kind, entity.name):
                    hit = NameHit(row.id, ordinal, chunk, tier, entity.kind)
                    found.append(((entity.name.lower(), row.source.path, ordinal), hit))
        return [hit for _, hit in sorted(found)][:limit]

    def list_chunks(self) -> dict[int, tuple[list[int], list[int]]]:
        """List for each file its chunks that have words, and those that have a vector."""
        return {
            row.id: (list(range(len(row.counts))), list(range(len(row.source.vectors))))
            for row in self._by_id.values()
        }


def _describe(row: ChannelRow) -> FileFacts:
    source = row.source
    return FileFacts(source.path, source.parsed.language, source.role.value, source.stamp.mtime_ns)


def make_stored_file(id: int, source: SourceFile) -> StoredFile:
    """Make of a file that is to be stored what the catalogue shows of it."""
    return StoredFile(
        id,
        source.path,
        source.stamp,
        source.content_hash,
        source.role,
        source.parsed,
        source.definitions,
    )
