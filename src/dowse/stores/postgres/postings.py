"""The lexical index: posting lists per token, packed and scored with numpy. Pure: no database here.

Every commit of a view is a *segment*: the tokens of its chunks, each with one packed list of postings. A chunk is
known in its segment by its place; the segment says which files its chunks are of, and which of them have gone. Small
segments are merged. Lists are scored where they are needed, not on the server: what has to be added up for a
common word would keep it busy for a hundred milliseconds, and packed lists are small.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from dowse.types import CHUNK_BITS, ChunkTerms, Scored, Term

K1 = 1.2
B = 0.75
"""BM25's constants as the lexical engine of the embedded store has them."""

FIELDS = ChunkTerms._fields

POSTING = np.dtype([("chunk", "<u4"), ("frequency", "<u2"), ("field", "u1"), ("length", "u1")])
"""The place of a chunk in its segment, how often a field of it has the token, and how long the field is."""

FREE_LENGTHS = 24
"""Lengths of fields are kept in a byte as the embedded store's engine does: so that scores agree. Exact up to 40."""

MERGE_SEGMENTS = 8
"""As many segments of about a size are merged into one."""

MERGE_CHUNKS = 20_000
"""Larger segments are left as they are: rewriting them takes longer than it saves."""

Array = np.ndarray[Any, Any]


def _length_table() -> Array:
    def value(code: int) -> int:
        if code < FREE_LENGTHS:
            return code
        rest = code - FREE_LENGTHS
        bits, shift = rest & 7, (rest >> 3) - 1
        return FREE_LENGTHS + (bits if shift < 0 else (bits | 8) << shift)

    return np.array([value(code) for code in range(256)], dtype=np.float64)


LENGTHS = _length_table()


def length_codes(lengths: Sequence[int] | Array) -> Array:
    """Lengths as bytes: the largest that is not greater."""
    return (np.searchsorted(LENGTHS, np.asarray(lengths), side="right") - 1).astype(np.uint8)


class Packed(NamedTuple):
    """The postings of some files: by token in its order, chunks per file, tokens per file and field."""

    lists: list[tuple[str, bytes]]
    chunks: list[int]
    tokens: list[list[int]]


@dataclass(frozen=True)
class Segment:
    """Which chunks a segment has."""

    number: int
    files: Array  # ids
    chunks: Array  # how many of each file
    removed: frozenset[int] = frozenset()

    @cached_property
    def ids(self) -> Array:
        """The global id of each chunk."""
        starts = np.cumsum(self.chunks) - self.chunks
        places = np.arange(int(self.chunks.sum())) - np.repeat(starts, self.chunks)
        ids: Array = np.repeat(self.files.astype(np.int64) << CHUNK_BITS, self.chunks) | places
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


def pack(files: Sequence[Sequence[ChunkTerms]]) -> Packed:
    """The postings of files, by the tokens of their chunks."""
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
    return Packed(list(_lists(ids, tokens, frequencies, runs)), [len(terms) for terms in files], totals)


def _lists(
    ids: Mapping[str, int], tokens: list[int], frequencies: list[int], runs: list[tuple[int, int, int, int]]
) -> Iterator[tuple[str, bytes]]:
    if not runs:
        return
    repeats, chunks, fields, lengths = (np.array(column) for column in zip(*runs, strict=True))
    postings = np.empty(len(tokens), dtype=POSTING)
    postings["chunk"] = np.repeat(chunks, repeats)
    postings["field"] = np.repeat(fields, repeats)
    postings["length"] = np.repeat(length_codes(lengths), repeats)
    postings["frequency"] = np.minimum(frequencies, 65535)
    names = sorted(ids)
    ranks = np.empty(len(names), dtype=np.int64)
    ranks[[ids[name] for name in names]] = np.arange(len(names))
    yield from _sliced(names, ranks[tokens], postings)


def _sliced(names: Sequence[str], ranks: Array, postings: Array) -> Iterator[tuple[str, bytes]]:
    """The postings of each name, which are in the order of their chunks."""
    data = postings[np.argsort(ranks, kind="stable")].tobytes()
    ends = np.cumsum(np.bincount(ranks, minlength=len(names))) * POSTING.itemsize
    start = 0
    for name, end in zip(names, ends.tolist(), strict=True):
        if end > start:
            yield name, data[start:end]
        start = end


# --- merging ---


def to_merge(segments: Iterable[Segment]) -> list[Segment]:
    """Segments that should become one: many of about a size, or one that is mostly gone."""
    tiers: defaultdict[int, list[Segment]] = defaultdict(list)
    for segment in segments:
        live = segment.live_size
        if live <= MERGE_CHUNKS:
            tiers[max(live, 1).bit_length() // 3].append(segment)
        if 2 * live < segment.size:
            return [segment]
    return next((found for found in tiers.values() if len(found) >= MERGE_SEGMENTS), [])


def merged(
    segments: Sequence[Segment], rows: Iterable[tuple[str, int, bytes]]
) -> tuple[Array, Array, list[tuple[str, bytes]]]:
    """Files, chunks per file and postings of some segments in one, without what is gone.

    Rows are tokens in order, each with a number of a segment and its postings there.
    """
    places, after = {}, 0
    for segment in segments:
        moved = np.where(segment.live, np.cumsum(segment.live) - 1 + after, -1)
        places[segment.number] = moved
        after += int(segment.live.sum())
    names: list[str] = []
    ranks, parts = [], []
    for token, number, data in rows:
        if not names or names[-1] != token:
            names.append(token)
        part = np.frombuffer(data, dtype=POSTING).copy()
        moved = places[number][part["chunk"]]
        kept = moved >= 0
        part = part[kept]
        part["chunk"] = moved[kept]
        parts.append(part)
        ranks.append(np.full(len(part), len(names) - 1))
    files = np.concatenate([s.files[s.live_files] for s in segments])
    chunks = np.concatenate([s.chunks[s.live_files] for s in segments])
    if not parts:
        return files, chunks, []
    postings, rank = np.concatenate(parts), np.concatenate(ranks)
    order = np.argsort(postings["chunk"], kind="stable")
    return files, chunks, list(_sliced(names, rank[order], postings[order]))


# --- scoring ---


class Statistics(NamedTuple):
    """How many chunks a view has, and how many tokens in each field."""

    chunks: int
    tokens: Sequence[int]


Lists = Mapping[str, Sequence[tuple[Segment, Array]]]
"""The live postings of tokens, segment by segment."""


def unpacked(segments: Mapping[int, Segment], rows: Iterable[tuple[str, int, bytes]]) -> Lists:
    """Postings by token, without those of files that are gone."""
    found: defaultdict[str, list[tuple[Segment, Array]]] = defaultdict(list)
    for token, number, data in rows:
        segment, postings = segments[number], np.frombuffer(data, dtype=POSTING)
        if segment.removed:
            postings = postings[segment.live[postings["chunk"]]]
        found[token].append((segment, postings))
    return found


def holders(lists: Sequence[tuple[Segment, Array]]) -> Array:
    """For each field, how many chunks have the token in it."""
    counts = [np.bincount(postings["field"], minlength=len(FIELDS)) for _, postings in lists]
    total: Array = np.sum(counts, axis=0) if counts else np.zeros(len(FIELDS), dtype=np.int64)
    return total


def scores(
    lists: Lists, terms: Sequence[Term], fields: Mapping[str, float], statistics: Statistics
) -> dict[int, tuple[Segment, Array]]:
    """BM25 of every chunk of every segment that has a token, summed over terms and weighted fields."""
    weights = np.array([fields.get(field, 0.0) for field in FIELDS])
    averages = np.array(statistics.tokens, dtype=np.float64) / max(1, statistics.chunks)
    averages[averages == 0] = 1.0  # a field that nobody has
    found: dict[int, tuple[Segment, Array]] = {}
    for term in terms:
        postings_of = lists.get(term.text, ())
        count = holders(postings_of)
        idf = np.log(1 + (statistics.chunks - count + 0.5) / (count + 0.5))
        factors = term.weight * weights * idf
        for segment, postings in postings_of:
            field, frequency = postings["field"], postings["frequency"].astype(np.float64)
            relative = LENGTHS[postings["length"]] / averages[field]
            shares = factors[field] * frequency * (K1 + 1) / (frequency + K1 * (1 - B + B * relative))
            sums = np.bincount(postings["chunk"], weights=shares, minlength=segment.size)
            if segment.number in found:
                sums = sums + found[segment.number][1]
            found[segment.number] = (segment, sums)
    return found


class Allowed(NamedTuple):
    """What a filter lets through: these files (None: any), these chunks (None: any), not those chunks."""

    files: Array | None = None
    chunks: Array | None = None
    not_chunks: Array | None = None

    def of(self, segment: Segment) -> Array | None:
        """Which chunks of a segment pass; None for all."""
        passes = None
        if self.files is not None:
            passes = np.repeat(np.isin(segment.files, self.files), segment.chunks)
        for chunks, wanted in ((self.chunks, True), (self.not_chunks, False)):
            if chunks is not None:
                among = np.isin(segment.ids, chunks)
                among = among if wanted else ~among
                passes = among if passes is None else passes & among
        return passes


def best(found: Mapping[int, tuple[Segment, Array]], allowed: Allowed, limit: int) -> list[Scored]:
    """The best chunks that a filter lets through, best first."""
    if not found or limit < 1:
        return []
    ids, values = [], []
    for segment, sums in found.values():
        passes = allowed.of(segment)
        places = np.flatnonzero(sums if passes is None else np.where(passes, sums, 0.0))
        ids.append(segment.ids[places])
        values.append(sums[places])
    chunks, score = np.concatenate(ids), np.concatenate(values)
    if len(score) > limit:
        least = np.partition(score, len(score) - limit)[len(score) - limit]
        kept = score >= least
        chunks, score = chunks[kept], score[kept]
    order = np.lexsort((chunks, -score))[:limit]
    return [Scored(int(chunks[i]), float(score[i])) for i in order]
