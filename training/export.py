"""Stage 4: the trained table as one small file.

    python training/export.py --data DIR --run DIR/runs/NAME --to src/dowse/embedders/data/static.bin

Rows become int8 with a scale of their own; the learned weights, made a little more alike, are folded into the scales.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

import numpy as np

from dowse.embedders.static import StaticEmbedder, write_model

WEIGHT_POWERS = {"query": 0.8, "document": 0.7}
"""The weight of a word is raised to these powers. Training sees every word of a document alike; an index counts the
lines that say most several times, and then the learned differences between words are too large."""


def main() -> None:
    """Quantise, write, and say what it cost."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--run", type=Path, required=True)
    parser.add_argument("--to", type=Path, required=True)
    args = parser.parse_args()
    vocabulary = (args.data / "encoded" / "vocabulary.txt").read_text().split("\n")
    trained = np.load(args.run / "best.npz")
    table = trained["table"]
    scale = np.maximum(np.abs(table).max(axis=1), 1e-9) / 127
    rows = np.round(table / scale[:, None]).astype(np.int8)
    query, document = (
        scale * flatten_weights(table, trained[name], power) for name, power in WEIGHT_POWERS.items()
    )
    write_model(args.to, vocabulary, rows, query / query.max(), document / document.max())
    error = np.abs(rows * scale[:, None] - table).max()
    print(f"{args.to.stat().st_size / 1e6:.2f} MB, {StaticEmbedder(args.to).name}, largest error {error:.5f}")


def flatten_weights(table: Any, logarithm: Any, power: float) -> Any:
    """Raise the whole weight of each word, its vector's length included, to a power."""
    whole = np.exp(logarithm) * np.linalg.norm(table, axis=1)
    return np.exp(logarithm) * (whole / np.median(whole)) ** (power - 1)


if __name__ == "__main__":
    main()
