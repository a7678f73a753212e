"""Initial table of word vectors: those of a small general model, weighted by inverse frequency."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np

RARITY_WEIGHT = 3e-4
"""``a`` in the weight a / (a + p) of a word with probability p (smooth inverse frequency)."""


def make_initial_table(
    surface: list[str], occurrences: Any, buckets: int, dimensions: int, folder: Path | None, seed: int
) -> tuple[Any, Any]:
    """Make a vector of length one per word and bucket, and a first guess of its weight."""
    random = np.random.default_rng(seed)
    table = random.standard_normal((len(surface) + buckets, dimensions)).astype(np.float32)
    table /= np.linalg.norm(table, axis=1, keepdims=True)
    if folder is not None:
        vectors, pieces = _load_vectors(folder)
        vectors = _reduce_dimensions(vectors, dimensions)
        for row, word in enumerate(surface):
            found = _split_pieces(word, pieces)
            if found:
                mean = vectors[found].mean(axis=0)
                table[row] = (
                    mean / (np.linalg.norm(mean) + 1e-9) * 0.9 + table[row] * 0.1
                )  # no two words the same
        table[len(surface) :] *= 0.3
    table /= np.linalg.norm(table, axis=1, keepdims=True)
    share = occurrences / occurrences.sum()
    weights = np.concatenate([RARITY_WEIGHT / (RARITY_WEIGHT + share), np.full(buckets, 0.15)])
    return table, weights.astype(np.float32)


def _load_vectors(folder: Path) -> tuple[Any, dict[str, int]]:
    raw = (folder / "model.safetensors").read_bytes()
    length = int.from_bytes(raw[:8], "little")
    header = json.loads(raw[8 : 8 + length])
    about = next(v for k, v in header.items() if k != "__metadata__" and len(v["shape"]) == 2)
    start, end = about["data_offsets"]
    kind = {"F32": np.float32, "F16": np.float16}[about["dtype"]]
    vectors = (
        np.frombuffer(raw[8 + length + start : 8 + length + end], dtype=kind)
        .reshape(about["shape"])
        .astype(np.float32)
    )
    pieces = json.loads((folder / "tokenizer.json").read_text())["model"]["vocab"]
    return vectors, pieces if isinstance(pieces, dict) else {p[0]: i for i, p in enumerate(pieces)}


def _reduce_dimensions(vectors: Any, dimensions: int) -> Any:
    if vectors.shape[1] <= dimensions:
        return np.pad(vectors, ((0, 0), (0, dimensions - vectors.shape[1])))
    centred = vectors - vectors.mean(axis=0)
    _, _, axes = np.linalg.svd(centred[:: max(len(vectors) // 8000, 1)], full_matrices=False)
    return centred @ axes[:dimensions].T


def _split_pieces(word: str, pieces: dict[str, int]) -> list[int]:
    """Split a word into its longest pieces first, as WordPiece does."""
    found, start = [], 0
    while start < len(word):
        for end in range(len(word), start, -1):
            piece = word[start:end] if start == 0 else f"##{word[start:end]}"
            if piece in pieces:
                found.append(pieces[piece])
                start = end
                break
        else:
            return found
    return found
