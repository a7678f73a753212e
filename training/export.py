"""Stage 4: the trained table as one small file.

    python training/export.py --data DIR --run DIR/runs/NAME --to src/dowse/embedders/data/static.bin

Rows become int8 with a scale of their own; the learned weights are folded into the scales.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np

from dowse.embedders.static import StaticEmbedder, write_model


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
    query, document = (scale * np.exp(trained[name]) for name in ("query", "document"))
    write_model(args.to, vocabulary, rows, query / query.max(), document / document.max())
    error = np.abs(rows * scale[:, None] - table).max()
    print(f"{args.to.stat().st_size / 1e6:.2f} MB, {StaticEmbedder(args.to).name}, largest error {error:.5f}")


if __name__ == "__main__":
    main()
