"""Vector search: recall lost by quantization, and search time, on chunks of real trees.

The chunks of the 31 repositories and of SWE-QA's trees are embedded with the built-in model and put into a vector
index; the public queries are searched in it. Recall is the share of the 100 nearest by exact float32 that are among
the 100 found. More rows than there are chunks are these vectors several times over, each time with other noise (a
fifth of their length), so that neighbours are near but not equal. "As it ships" is what the store does: all rows are
compared as int8. The alternatives beside it: one-bit codes, with and without a random rotation.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from itertools import count
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import simsimd

from benchmarks import data
from benchmarks.bench_types import Figure, Outcome, at_least
from benchmarks.metrics import mean, percentile
from benchmarks.sets import repositories, swe_qa
from dowse.code import chunk_fields
from dowse.code.languages import load_builtin
from dowse.embedders.static import load_built_in
from dowse.gc_pause import gc_paused
from dowse.indexing.analyze_file import ParserConfig, analyze
from dowse.stores.embedded.quantize import pack_vectors
from dowse.stores.embedded.vector_index import VectorIndex
from dowse.types.discovered import ChunkVector
from dowse.types.stored import split_chunk_id

SIZES = (100_000, 300_000, 1_000_000)
QUERY_COUNT = 100
TOP_K = 100
NOISE_SHARE = 0.2
BATCH_TEXTS = 4096
ONE_BIT_CANDIDATES = {100_000: 4000, 300_000: 8000, 1_000_000: 16_000}
"""Candidates that one-bit codes choose: as many as recall needs."""

SHIPPED = "as it ships"
WARM_UP_QUERIES = 30
"""Queries that run before any is timed: what was just written is then in memory."""

MAX_FILE_BYTES = 1_000_000
TARGETS = {"all": at_least(0.98), "one language": at_least(0.97), "one tree": at_least(0.97)}
ONE_TREE = "flask"
SNIFF_BYTES = 8_000
SEED = 0


class EmbeddedChunks(NamedTuple):
    """Vectors, the file number of each row, and the files of one language and of one tree."""

    matrix: Any
    files: Any
    subsets: dict[str, set[int]]


SearchMethod = Callable[[Any, "frozenset[int] | None"], set[int]]
"""Finds the rows nearest to a query vector, only in some files if they are given."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add no options: ``--chunks`` of scale applies."""


def run(args: argparse.Namespace) -> Iterator[Outcome]:
    """Measure each size."""
    embedded = _embed_chunks()
    queries = data.load_bench_queries()
    np.random.default_rng(SEED).shuffle(queries)
    query_vectors = np.array(
        [load_built_in().embed_query(text) for text in queries[:QUERY_COUNT]], dtype=np.float32
    )
    for size in args.chunks or SIZES:
        yield _make_outcome(size, _resize(embedded, size), query_vectors)


# --- vectors ---


def _embed_chunks() -> EmbeddedChunks:
    """Embed the chunks of all trees."""
    config = ParserConfig(load_builtin(), 1000, 0)
    texts: list[str] = []
    files: list[int] = []
    subsets: dict[str, set[int]] = {"one language": set(), "one tree": set()}
    numbers = count(1)
    for tree in (*repositories.trees(), *swe_qa.trees()):
        print(f"vectors: {tree.name}", file=sys.stderr)
        for number, (path, content) in zip(numbers, _read_sources(tree.path), strict=False):
            parsed = analyze(config, path, content).parsed
            found = chunk_fields.build_embedding_texts(
                path, content, parsed, chunk_fields.definitions_by_chunk(parsed)
            )
            texts += found
            files += [number] * len(found)
            if parsed.language == "python":
                subsets["one language"].add(number)
            if tree.name == ONE_TREE:
                subsets["one tree"].add(number)
    parts = [
        load_built_in().embed_documents(texts[i : i + BATCH_TEXTS]) for i in range(0, len(texts), BATCH_TEXTS)
    ]
    return EmbeddedChunks(np.concatenate(parts), np.array(files), subsets)


def _read_sources(root: Path) -> Iterator[tuple[str, bytes]]:
    for path in sorted(root.rglob("*")):
        if path.is_file() and not path.is_symlink() and 0 < path.stat().st_size <= MAX_FILE_BYTES:
            content = path.read_bytes()
            if b"\0" not in content[:SNIFF_BYTES]:
                yield path.relative_to(root).as_posix(), content


def _resize(embedded: EmbeddedChunks, size: int) -> EmbeddedChunks:
    """Return so many rows: the first ones, or all of them repeated with noise."""
    random = np.random.default_rng(SEED)
    matrix, files = [embedded.matrix[:size]], [embedded.files[:size]]
    missing, last = size - len(matrix[0]), int(embedded.files[-1])
    subsets = {name: set(numbers) for name, numbers in embedded.subsets.items()}
    while missing > 0:
        rows = embedded.matrix[:missing]
        noise = random.standard_normal(rows.shape, dtype=np.float32) * (NOISE_SHARE / rows.shape[1] ** 0.5)
        varied = rows + noise
        matrix.append(varied / np.linalg.norm(varied, axis=1, keepdims=True))
        files.append(embedded.files[:missing] + last * len(files))
        subsets["one language"] |= {n + last * (len(files) - 1) for n in embedded.subsets["one language"]}
        missing -= len(rows)
    return EmbeddedChunks(np.concatenate(matrix), np.concatenate(files), subsets)


def _build_index(folder: Path, embedded: EmbeddedChunks) -> VectorIndex:
    """Build the store's vector index with one segment."""
    vectors = pack_vectors([ChunkVector(b"", row.tobytes()) for row in embedded.matrix.astype("<f4")])
    starts = np.flatnonzero(np.diff(embedded.files, prepend=0)).tolist()
    ends = [*starts[1:], len(vectors)]
    by_file = [(int(embedded.files[s]), vectors[s:e]) for s, e in zip(starts, ends, strict=True)]
    VectorIndex(folder).append(1, by_file, lambda ids: ids >= 0)
    return VectorIndex(folder)


# --- ways to search ---


def _find_exact(embedded: EmbeddedChunks, query_vectors: Any, files: frozenset[int] | None) -> list[set[int]]:
    """Find the rows nearest to each query in full precision."""
    rows = np.arange(len(embedded.files))
    if files is not None:
        rows = np.flatnonzero(np.isin(embedded.files, list(files)))
    matrix = embedded.matrix if files is None else embedded.matrix[rows]
    near = []
    for query in query_vectors:
        scores = matrix @ query
        near.append(set(rows[np.argpartition(-scores, min(TOP_K, len(scores) - 1))[:TOP_K]].tolist()))
    return near


def _make_flat_search(index: VectorIndex, embedded: EmbeddedChunks) -> SearchMethod:
    """Make a search as the store does it, for rows instead of chunks."""
    first = dict(zip(*np.unique(embedded.files, return_index=True), strict=True))

    def find(query: Any, files: frozenset[int] | None) -> set[int]:
        hits = index.search(query.tolist(), TOP_K, files)
        return {int(first[file]) + ordinal for file, ordinal in (split_chunk_id(hit.chunk) for hit in hits)}

    return find


def _make_one_bit_search(embedded: EmbeddedChunks, rotated: bool, candidates: int) -> SearchMethod:
    """Make a search by one-bit codes, whose candidates are compared as int8."""
    size = embedded.matrix.shape[1]
    turn = np.eye(size, dtype=np.float32)
    if rotated:
        turn = np.linalg.qr(np.random.default_rng(SEED).standard_normal((size, size)))[0].astype(np.float32)
    codes = np.concatenate(
        [np.packbits(part @ turn > 0, axis=1) for part in np.array_split(embedded.matrix, 32)]
    )
    scale = 127 / np.abs(embedded.matrix).max(axis=1, keepdims=True)
    rows = np.rint(embedded.matrix * scale).astype(np.int8)

    def find(query: Any, files: frozenset[int] | None) -> set[int]:
        code = np.packbits(query @ turn > 0)[None]
        apart: Any = simsimd.cdist(code, codes, "hamming", dtype="bin8", out_dtype="float32")
        distances = np.asarray(apart).ravel()
        if files is not None:
            distances = np.where(np.isin(embedded.files, list(files)), distances, np.inf)
        chosen = np.argpartition(distances, candidates)[:candidates]
        scores = (rows[chosen].astype(np.float32) @ query) / scale[chosen, 0]
        scores[np.isinf(distances[chosen])] = -np.inf
        return set(chosen[np.argpartition(-scores, TOP_K)[:TOP_K]].tolist())

    return find


# --- figures ---


def _make_outcome(size: int, embedded: EmbeddedChunks, query_vectors: Any) -> Outcome:
    print(f"vectors: {size:,} rows", file=sys.stderr)
    candidates = ONE_BIT_CANDIDATES.get(size, size // 25)
    with tempfile.TemporaryDirectory(prefix="dowse-benchmark-", ignore_cleanup_errors=True) as folder:
        methods = {SHIPPED: _make_flat_search(_build_index(Path(folder, "shipped"), embedded), embedded)}
        for rotated, name in ((False, "one bit"), (True, "one bit after a rotation")):
            methods[f"{name}, {candidates:,} compared as int8"] = _make_one_bit_search(
                embedded, rotated, candidates
            )
        figures = list(_measure_figures(methods, embedded, query_vectors))
    return Outcome(
        name=f"vectors-{size}",
        title=f"Searching {size:,} vectors",
        figures=figures,
        notes=(
            f"{QUERY_COUNT} questions, the {TOP_K} nearest, each asked of every way in turn; "
            f"{len(set(embedded.files.tolist())):,} files",
            f"one language: {len(embedded.subsets['one language']):,} files; "
            f"one tree: {len(embedded.subsets['one tree']):,} files",
        ),
    )


def _measure_figures(
    methods: Mapping[str, SearchMethod], embedded: EmbeddedChunks, query_vectors: Any
) -> Iterator[Figure]:
    subsets = {among: frozenset(files) for among, files in embedded.subsets.items()}
    for among, files in {"all": None, **subsets}.items():
        near = _find_exact(embedded, query_vectors, files)
        times: dict[str, list[float]] = {name: [] for name in methods}
        shares: dict[str, list[float]] = {name: [] for name in methods}
        for query in query_vectors[:WARM_UP_QUERIES]:
            for find in methods.values():
                find(query, files)
        for query, wanted in zip(query_vectors, near, strict=True):
            for name, find in methods.items():
                with gc_paused():  # as in the engine
                    started = time.perf_counter()
                    found = find(query, files)
                    times[name].append((time.perf_counter() - started) * 1e3)
                shares[name].append(len(found & wanted) / len(wanted))
        for name in methods:
            target = TARGETS[among] if name == SHIPPED else None
            yield Figure(f"{name}: recall@{TOP_K}, {among}", mean(shares[name]), "", target)
            yield Figure(f"{name}: p50, {among}", percentile(times[name], 0.5), "ms")
            yield Figure(f"{name}: p95, {among}", percentile(times[name], 0.95), "ms")
