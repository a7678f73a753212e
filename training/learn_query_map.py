"""Learn the query map of the built-in embedding model from the written questions: ``embedders/query_map.py``.

    python training/learn_query_map.py --trees FOLDER --indexes FOLDER --folds FOLDER \\
        [--to src/dowse/embedders/data/query_map.bin]

A listwise softmax over chunks: the mapped question should be nearer to a chunk that answers it than to the other chunks
that search considers, which are in the same tree and hard to tell from it. ``--folds`` gets maps for learning the
ranking: each is learned without a part of the repositories, and ``folds.json`` says which one has not seen which
repository.
"""

from __future__ import annotations

import argparse
import json
import random
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from query_map_folds import FOLDS_FILE
from ranking_data import load_rows, parse_target
from ranking_examples import PRIMARY, Target
from scipy.optimize import minimize
from trees import Pin, load_pins

from dowse import Engine, SearchOptions
from dowse.embedders.query_map import write_query_map
from dowse.embedders.static import load_built_in
from dowse.errors import UsageError
from dowse.search.ranking.candidates import FileCandidate
from dowse.search.ranking.features.context import FeatureContext

Array = NDArray[np.float32]

SPLITS = ("train", "validation")
FOLDS = 5
SEED = 20261118

NEAREST_CHUNKS = 4
"""Chunks of each candidate file that are learned from, beside the right ones: those nearest to the question."""

SHARPNESS = 15.0
"""What a cosine is multiplied by before the softmax: the inverse of its temperature."""

L2 = 30.0
"""How strongly the map is pulled to changing nothing."""

MAX_ITERATIONS = 25


class Asked(NamedTuple):
    """A question's vector, the vectors of the chunks to tell apart, and which of them answer it."""

    repository: str
    query: Array
    chunks: Array
    is_right: NDArray[np.bool_]


def main() -> None:
    """Learn a map for each fold, and one from all questions."""
    parser = argparse.ArgumentParser(description="Learn the query map of the built-in embedding model.")
    parser.add_argument("--trees", type=Path, required=True, help="where training/trees.py wrote the trees")
    parser.add_argument("--indexes", type=Path, required=True, help="where indexes of the trees are kept")
    parser.add_argument("--folds", type=Path, required=True, help="where to write the maps of the folds")
    parser.add_argument("--to", type=Path, help="where to write the map learned from all questions")
    arguments = parser.parse_args()
    load_built_in().query_map = None
    pins = [pin for pin in load_pins() if pin.split in SPLITS]
    asked = [each for pin in pins for each in collect(pin, arguments.trees, arguments.indexes)]
    repositories = sorted({each.repository for each in asked})
    random.Random(SEED).shuffle(repositories)
    fold_of = {name: n % FOLDS for n, name in enumerate(repositories)}
    arguments.folds.mkdir(parents=True, exist_ok=True)
    (arguments.folds / FOLDS_FILE).write_text(json.dumps(fold_of, indent=1), encoding="utf-8")
    found = []
    for fold in range(FOLDS):
        matrix = learn([each for each in asked if fold_of[each.repository] != fold])
        write_query_map(arguments.folds / f"{fold}.bin", matrix)
        found += [
            (measure(each, np.zeros_like(matrix)), measure(each, matrix))
            for each in asked
            if fold_of[each.repository] == fold
        ]
    before, after = np.mean(found, axis=0)
    print(f"reciprocal rank of the first right chunk, of held-out repositories: {before:.4f} -> {after:.4f}")
    if arguments.to:
        write_query_map(arguments.to, learn(asked))


def collect(pin: Pin, trees: Path, indexes: Path) -> Iterator[Asked]:
    """Index a tree if need be, and collect what to learn from its questions."""
    name = pin.folder_name
    with Engine.open(trees / name, index_dir=str(indexes / name), cache="off") as engine:
        engine.index()
        for row in load_rows(pin.split, name):
            targets = [
                target for relevant in row["relevant"] if (target := parse_target(relevant)).grade == PRIMARY
            ]
            try:
                with engine.candidates(row["query"], SearchOptions(limit=10)) as context:
                    found = list(_list_chunks(context, targets))
            except UsageError:
                continue
            is_right = np.array([right for _, right in found], dtype=bool)
            if is_right.any() and not is_right.all():
                query = np.array(load_built_in().embed_words(row["query"]), dtype=np.float32)
                yield Asked(name, query, np.stack([vector for vector, _ in found]), is_right)
    print(f"{name}", flush=True)


def _list_chunks(context: FeatureContext, targets: Sequence[Target]) -> Iterator[tuple[Array, bool]]:
    """List the chunks to tell apart: those of files that have the role of an answer, since roles are for ranking."""
    paths = {target.path for target in targets}
    roles = {candidate.file.role for candidate in context.files if candidate.file.path in paths}
    for candidate in context.files:
        if candidate.file.role not in roles:
            continue
        rows = context.snapshot.file_vectors(candidate.file.id)
        vectors = [np.frombuffer(row.vector, dtype=np.float32) for row in rows]
        cosines = context.cosines.get(candidate.file.id, ())
        nearest = sorted(range(len(cosines)), key=lambda n: -cosines[n])[:NEAREST_CHUNKS]
        right = set(_find_right(candidate, targets))
        yield from ((vectors[n], n in right) for n in sorted(right.union(nearest)) if n < len(vectors))


def _find_right(candidate: FileCandidate, targets: Iterable[Target]) -> Iterator[int]:
    own = [target for target in targets if target.path == candidate.file.path]
    for n, chunk in enumerate(candidate.file.parsed.chunks if own else ()):
        if any(t.first <= chunk.end_line and t.last >= chunk.start_line for t in own):
            yield n


def learn(asked: Sequence[Asked]) -> Array:
    """Learn what is added to a query: a matrix that its vector is multiplied by, from the left."""
    queries = np.stack([each.query for each in asked])
    chunks = np.concatenate([each.chunks for each in asked])
    sizes = [len(each.chunks) for each in asked]
    owners, starts = np.repeat(np.arange(len(asked)), sizes), np.concatenate([[0], np.cumsum(sizes)[:-1]])
    grades = np.concatenate([each.is_right / each.is_right.sum() for each in asked])
    size = queries.shape[1]

    def loss(flat: Any) -> tuple[float, Any]:
        matrix = flat.reshape(size, size).astype(np.float32)
        mapped = queries + queries @ matrix.T
        scores = np.einsum("ij,ij->i", chunks, mapped[owners]).astype(float) * SHARPNESS
        scores -= np.maximum.reduceat(scores, starts)[owners]
        sums = np.add.reduceat(np.exp(scores), starts)[owners]
        errors = ((np.exp(scores) / sums - grades) * SHARPNESS).astype(np.float32)
        moved = np.add.reduceat(chunks * errors[:, None], starts, axis=0)
        value = -(grades * (scores - np.log(sums))).sum() + 0.5 * L2 * (flat @ flat)
        return float(value), (moved.T @ queries).ravel().astype(float) + L2 * flat

    found = minimize(
        loss, np.zeros(size * size), jac=True, method="L-BFGS-B", options={"maxiter": MAX_ITERATIONS}
    )
    learned: Array = found.x.reshape(size, size).astype(np.float32)
    return learned


def measure(asked: Asked, matrix: Array) -> float:
    """Measure the reciprocal rank of the first right chunk among those to tell apart."""
    scores = asked.chunks @ (asked.query + matrix @ asked.query)
    best = scores[asked.is_right].max()
    return 1.0 / float(1 + (scores[~asked.is_right] > best).sum())


if __name__ == "__main__":
    main()
