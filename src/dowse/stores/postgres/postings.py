"""Inverted index for PostgreSQL: posting lists per token, packed, merged, and scored by BM25 with numpy.

Every commit of a view is a *segment* with one packed list of postings per token; small segments are merged. Lists are
scored by the client: adding up a common word would keep the server busy for a hundred milliseconds, and packed lists
are small. Pure: no database here.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from operator import itemgetter
from typing import Any, NamedTuple

import numpy as np

from dowse.types.source import ChunkTerms
from dowse.types.stored import CHUNK_BITS, DEFAULT_BM25, Bm25, Scored

FIELDS = ChunkTerms._fields

POSTING = np.dtype([("chunk", "<u4"), ("frequency", "<u2"), ("field", "u1"), ("length", "u1")])
"""The index of a chunk in its segment, how often a field of it has the token, and how long the field is."""

NUM_FREE_LENGTHS = 24
"""Lengths of fields are kept in a byte as the embedded store's engine does: so that scores agree. Exact up to 40."""

MERGE_SEGMENTS = 8
"""So many segments of about one size are merged into one."""

MERGE_CHUNKS = 4_000
"""Larger segments, such as those of the batches of a first run, are left as they are: rewriting them takes longer than
it saves, for lists of a few segments are joined in no time."""

Array = np.ndarray[Any, Any]


def _build_length_table() -> Array:
    def value(code: int) -> int:
        if code < NUM_FREE_LENGTHS:
            return code
        rest = code - NUM_FREE_LENGTHS
        bits, shift = rest & 7, (rest >> 3) - 1
        return NUM_FREE_LENGTHS + (bits if shift < 0 else (bits | 8) << shift)

    return np.array([value(code) for code in range(256)], dtype=np.float64)


FIELD_LENGTHS = _build_length_table()


def encode_lengths(lengths: Sequence[int] | Array) -> Array:
    """Encode lengths as bytes: the largest that is not greater."""
    return (np.searchsorted(FIELD_LENGTHS, np.asarray(lengths), side="right") - 1).astype(np.uint8)


class PackedPostings(NamedTuple):
    """The postings of some files: by token in its order, chunks per file, tokens per file and field."""

    lists: list[tuple[str, bytes]]
    chunks: list[int]
    tokens: list[list[int]]


@dataclass(frozen=True)
class PostingSegment:
    """Which chunks a segment has."""

    number: int
    files: Array  # ids
    chunks: Array  # how many of each file
    removed: frozenset[int] = frozenset()

    @classmethod
    def from_row(cls, number: int, files: bytes, chunks: bytes, removed: Iterable[int]) -> PostingSegment:
        """Make a segment from a row of its table."""
        ids, counts = np.frombuffer(files, dtype="<i8"), np.frombuffer(chunks, dtype="<i4")
        return cls(number, ids, counts, frozenset(removed))

    @cached_property
    def ids(self) -> Array:
        """The global id of each chunk."""
        starts = np.cumsum(self.chunks) - self.chunks
        indexes = np.arange(int(self.chunks.sum())) - np.repeat(starts, self.chunks)
        ids: Array = np.repeat(self.files.astype(np.int64) << CHUNK_BITS, self.chunks) | indexes
        return ids

    @cached_property
    def live_files(self) -> Array:
        """Whether each file is still there."""
        if not self.removed:
            return np.ones(len(self.files), dtype=bool)
        return ~np.isin(self.files, np.fromiter(self.removed, dtype=np.int64))

    @cached_property
    def live(self) -> Array:
        """Whether each chunk is still there."""
        return np.repeat(self.live_files, self.chunks)

    @property
    def size(self) -> int:
        """How many chunks it has, those of files that are gone too."""
        return int(self.chunks.sum())

    @property
    def live_size(self) -> int:
        """How many chunks are still there."""
        return int(self.chunks[self.live_files].sum())


class ChunkLayout:
    """The chunks of all segments of a view in one row; a chunk is addressed by its position there."""

    def __init__(self, segments: Iterable[PostingSegment]) -> None:
        self.segments = {segment.number: segment for segment in segments}
        self.starts: dict[int, int] = {}
        self.size = 0
        for number, segment in self.segments.items():
            self.starts[number] = self.size
            self.size += segment.size

    @cached_property
    def ids(self) -> Array:
        """The global id of each chunk."""
        return _concatenate([segment.ids for segment in self.segments.values()], np.int64)

    @cached_property
    def live(self) -> Array:
        """Whether each chunk is still there."""
        return _concatenate([segment.live for segment in self.segments.values()], np.bool_)

    def chunks_of(self, files: Array) -> int:
        """Count the chunks of some files."""
        return sum(int(s.chunks[np.isin(s.files, files)].sum()) for s in self.segments.values())


def _concatenate(parts: Sequence[Array], kind: type) -> Array:
    return np.concatenate(parts) if parts else np.empty(0, dtype=kind)


def pack_postings(files: Sequence[Sequence[ChunkTerms]]) -> PackedPostings:
    """Pack the postings of files, by the tokens of their chunks."""
    ids: defaultdict[str, int] = defaultdict()
    ids.default_factory = ids.__len__
    tokens: list[int] = []
    frequencies: list[int] = []
    runs: list[tuple[int, int, int, int]] = []  # postings, chunk, field, length
    totals, chunk = [], 0
    for terms in files:
        total = [0] * len(FIELDS)
        for fields in terms:
            for field, text in enumerate(fields):
                if text:
                    counted = Counter(words := text.split())
                    tokens.extend(map(ids.__getitem__, counted))
                    frequencies.extend(counted.values())
                    runs.append((len(counted), chunk, field, len(words)))
                    total[field] += len(words)
            chunk += 1
        totals.append(total)
    return PackedPostings(
        list(_build_lists(ids, tokens, frequencies, runs)), [len(terms) for terms in files], totals
    )


def _build_lists(
    ids: Mapping[str, int], tokens: list[int], frequencies: list[int], runs: list[tuple[int, int, int, int]]
) -> Iterator[tuple[str, bytes]]:
    if not runs:
        return
    repeats, chunks, fields, lengths = (np.array(column) for column in zip(*runs, strict=True))
    postings = np.empty(len(tokens), dtype=POSTING)
    postings["chunk"] = np.repeat(chunks, repeats)
    postings["field"] = np.repeat(fields, repeats)
    postings["length"] = np.repeat(encode_lengths(lengths), repeats)
    postings["frequency"] = np.minimum(frequencies, 65535)
    names = sorted(ids)
    ranks = np.empty(len(names), dtype=np.int64)
    ranks[[ids[name] for name in names]] = np.arange(len(names))
    yield from _slice_lists(names, ranks[tokens], postings)


def _slice_lists(names: Sequence[str], ranks: Array, postings: Array) -> Iterator[tuple[str, bytes]]:
    """Slice the postings into one list for each token, in the order of their chunks."""
    data = postings[np.argsort(ranks, kind="stable")].tobytes()
    ends = np.cumsum(np.bincount(ranks, minlength=len(names))) * POSTING.itemsize
    start = 0
    for name, end in zip(names, ends.tolist(), strict=True):
        if end > start:
            yield name, data[start:end]
        start = end


# --- merging ---


def choose_merge(segments: Iterable[PostingSegment]) -> list[PostingSegment]:
    """Choose segments that should become one: many of about a size, or one that is mostly gone."""
    tiers: defaultdict[int, list[PostingSegment]] = defaultdict(list)
    for segment in segments:
        live = segment.live_size
        if live <= MERGE_CHUNKS:
            tiers[max(live, 1).bit_length() // 3].append(segment)
        if 2 * live < segment.size:
            return [segment]
    return next((found for found in tiers.values() if len(found) >= MERGE_SEGMENTS), [])


def merge_segments(
    segments: Sequence[PostingSegment], rows: Iterable[tuple[str, int, bytes]]
) -> tuple[Array, Array, list[tuple[str, bytes]]]:
    """Merge segments: files, chunks per file and postings of all of them, without what is gone.

    Rows are tokens in order, each with a number of a segment and its postings there.
    """
    layout = ChunkLayout(segments)
    files = np.concatenate([s.files[s.live_files] for s in segments])
    chunks = np.concatenate([s.chunks[s.live_files] for s in segments])
    names, ranks, starts, parts = _flatten_rows(layout, rows)
    postings = np.frombuffer(b"".join(parts), dtype=POSTING).copy()
    sizes = np.array([len(part) for part in parts], dtype=np.int64) // POSTING.itemsize
    positions = np.repeat(np.array(starts, dtype=np.int64), sizes) + postings["chunk"]
    kept = layout.live[positions]
    postings, rank = postings[kept], np.repeat(np.array(ranks, dtype=np.int64), sizes)[kept]
    postings["chunk"] = (np.cumsum(layout.live) - 1)[positions[kept]]
    order = np.argsort(postings["chunk"], kind="stable")
    return files, chunks, list(_slice_lists(names, rank[order], postings[order]))


def _flatten_rows(
    layout: ChunkLayout, rows: Iterable[tuple[str, int, bytes]]
) -> tuple[list[str], list[int], list[int], list[bytes]]:
    """List the distinct tokens; for each row, the index of its token, the start of its segment, its postings."""
    names: list[str] = []
    ranks, starts, parts = [], [], []
    for token, number, data in rows:
        if not names or names[-1] != token:
            names.append(token)
        ranks.append(len(names) - 1)
        starts.append(layout.starts[number])
        parts.append(data)
    return names, ranks, starts, parts


# --- scoring ---


class Statistics(NamedTuple):
    """Corpus statistics for BM25: how many chunks a view has, and how many tokens in each field."""

    chunks: int
    tokens: Sequence[int]


PostingLists = Mapping[str, Array]
"""The live postings of tokens, chunks by their positions in a layout, in order."""


def unpack_postings(layout: ChunkLayout, rows: Iterable[tuple[str, int, bytes]]) -> PostingLists:
    """Unpack postings by token, without those of files that are gone."""
    found: defaultdict[str, list[tuple[int, Array]]] = defaultdict(list)
    for token, number, data in rows:
        segment, postings = layout.segments[number], np.frombuffer(data, dtype=POSTING)
        if segment.removed:
            postings = postings[segment.live[postings["chunk"]]]
        found[token].append((layout.starts[number], postings))
    return {token: _join_lists(sorted(parts, key=itemgetter(0))) for token, parts in found.items()}


def _join_lists(parts: Sequence[tuple[int, Array]]) -> Array:
    """Join the postings of several segments to one list."""
    if len(parts) == 1 and not parts[0][0]:
        return parts[0][1]
    starts = np.repeat(np.array([start for start, _ in parts]), [len(part) for _, part in parts])
    joined: Array = np.concatenate([part for _, part in parts])
    joined["chunk"] += starts.astype(np.uint32)
    return joined


class TermScores(NamedTuple):
    """What a token adds to the score of each chunk that has it; how many chunks have it in each field."""

    positions: Array
    values: Array
    chunk_counts: Array

    @property
    def size(self) -> int:
        """Size in bytes."""
        return int(self.positions.nbytes + self.values.nbytes + self.chunk_counts.nbytes)


def score_term(
    postings: Array, fields: Mapping[str, float], statistics: Statistics, bm25: Bm25 = DEFAULT_BM25
) -> TermScores:
    """Score a token that counts once by BM25 with length normalization, summed over weighted fields."""
    weights = np.array([fields.get(field, 0.0) for field in FIELDS])
    averages = np.array(statistics.tokens, dtype=np.float64) / max(1, statistics.chunks)
    averages[averages == 0] = 1.0  # a field that nobody has
    field, frequency = postings["field"], postings["frequency"].astype(np.float64)
    chunk_counts = np.bincount(field, minlength=len(FIELDS))
    idf = np.log(1 + (statistics.chunks - chunk_counts + 0.5) / (chunk_counts + 0.5))
    relative = FIELD_LENGTHS[postings["length"]] / averages[field]
    values = (
        (weights * idf)[field]
        * frequency
        * (bm25.k1 + 1)
        / (frequency + bm25.k1 * (1 - bm25.b + bm25.b * relative))
    )
    chunks = postings["chunk"]
    firsts = np.flatnonzero(np.diff(chunks, prepend=chunks[:1] + 1))  # of each chunk; they are in order
    return TermScores(
        chunks[firsts], np.add.reduceat(values, firsts) if len(firsts) else values, chunk_counts
    )


NO_SCORES = score_term(np.empty(0, dtype=POSTING), {}, Statistics(0, [0] * len(FIELDS)))
"""The scores of a token that no chunk has."""


def sum_scores(layout: ChunkLayout, weighted: Iterable[tuple[float, TermScores]]) -> Array:
    """Add up the weighted scores of every chunk."""
    sums = np.zeros(layout.size)
    for weight, part in weighted:
        sums[part.positions] += weight * part.values
    return sums


class AllowedIds(NamedTuple):
    """What passes a filter: these files (None: any), these chunks (None: any), not those chunks."""

    files: Array | None = None
    chunks: Array | None = None
    not_chunks: Array | None = None

    def mask(self, layout: ChunkLayout) -> Array | None:
        """Mark the chunks of a view that pass; None for all."""
        passes = None
        if self.files is not None:
            parts = [np.repeat(np.isin(s.files, self.files), s.chunks) for s in layout.segments.values()]
            passes = _concatenate(parts, np.bool_)
        for chunks, wanted in ((self.chunks, True), (self.not_chunks, False)):
            if chunks is not None:
                among = np.isin(layout.ids, chunks)
                among = among if wanted else ~among
                passes = among if passes is None else passes & among
        return passes


def top_k(layout: ChunkLayout, sums: Array, passes: Array | None, limit: int) -> list[Scored]:
    """Select the k best chunks that pass a filter, best first."""
    indexes = np.flatnonzero(sums if passes is None else np.where(passes, sums, 0.0))
    score = sums[indexes]
    if len(score) > limit:
        cutoff = np.partition(score, len(score) - limit)[len(score) - limit]
        kept = score >= cutoff
        indexes, score = indexes[kept], score[kept]
    chunks = layout.ids[indexes]
    order = np.lexsort((chunks, -score))[:limit]
    return [Scored(int(chunks[i]), float(score[i])) for i in order]
