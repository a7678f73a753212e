"""Stage 5: compare embedders on held-out packages.

    python training/compare.py --data DIR [--embedder static --embedder onnx:DIR ...] [--limit 1000] [--languages ...]

First sentence of a definition's documentation -> the definition without it, among all candidates of its language
(MRR@10), for the embedders of the program, and for BM25 over the same words. Prints a table and, with ``--to``, writes
the figures as JSON.
"""

from __future__ import annotations

import argparse
import gzip
import json
import math
import time
from collections import Counter, defaultdict
from pathlib import Path
from typing import Any

import numpy as np

from dowse.code import tokens
from dowse.embedders import create

MIN_PAIRS = 200
"""A language with fewer pairs is skipped."""

SEED = 7

Pairs = list[tuple[str, str]]


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--embedder", action="append", default=[])
    parser.add_argument("--limit", type=int, default=1000)
    parser.add_argument("--languages", nargs="*")
    parser.add_argument("--to", type=Path)
    args = parser.parse_args()
    sets = load_held_out(args.data, args.limit)
    figures: dict[str, dict[str, float]] = {}
    for language, pairs in sorted(sets.items()):
        if args.languages and language not in args.languages:
            continue
        row: dict[str, float] = {
            "pairs": len(pairs),
            "bm25": round(mean_reciprocal_rank(score_bm25(pairs)), 4),
        }
        for spec in args.embedder or ["static"]:
            started = time.process_time()
            row[spec.partition(":")[0]] = round(mean_reciprocal_rank(score_dense(spec, pairs)), 4)
            row[f"{spec.partition(':')[0]} seconds"] = round(time.process_time() - started, 2)
        figures[language] = row
        print(language, row, flush=True)
    if args.to:
        args.to.write_text(json.dumps(figures, indent=1) + "\n")


def load_held_out(data: Path, limit: int) -> dict[str, Pairs]:
    """Load up to so many (documentation, code) pairs of each language, no code twice."""
    manifest = json.loads((Path(__file__).parent / "manifest.json").read_text())
    found: dict[str, dict[str, str]] = defaultdict(dict)
    for row in manifest:
        file = data / "pairs" / f"{row['registry']}+{row['package'].replace('/', '+')}.jsonl.gz"
        if row["split"] != "held-out" or not file.exists():
            continue
        with gzip.open(file, "rt", encoding="utf-8") as lines:
            for line in lines:
                _, language, _, _, _, body, queries = json.loads(line)
                query = next((text for kind, text in queries if kind == "doc"), "")
                if query and body not in found[language]:
                    found[language][body] = query
    random = np.random.default_rng(SEED)
    sets = {}
    for language, by_body in found.items():
        pairs = [(query, body) for body, query in by_body.items()]
        if len(pairs) >= MIN_PAIRS:
            sets[language] = [pairs[i] for i in random.permutation(len(pairs))[:limit]]
    return sets


def score_dense(spec: str, pairs: Pairs) -> Any:
    """Compute the cosine of every query with every piece of code."""
    embedder = create(spec)
    assert embedder
    documents = embedder.embed_documents(["\n" + body for _, body in pairs])
    return np.array([embedder.embed_query(query) for query, _ in pairs], dtype=np.float32) @ documents.T


def score_bm25(pairs: Pairs) -> Any:
    """Compute BM25 scores (k1 1.2, b 0.75) over the tokens of the index."""
    counts = [Counter(tokens.tokenize(body).split()) for _, body in pairs]
    lengths = [sum(c.values()) for c in counts]
    mean = sum(lengths) / len(lengths)
    postings: dict[str, list[tuple[int, int]]] = defaultdict(list)
    for position, found in enumerate(counts):
        for token, often in found.items():
            postings[token].append((position, often))
    scores = np.zeros((len(pairs), len(pairs)))
    for row, (query, _) in enumerate(pairs):
        for token in set(tokens.tokenize(query).split()):
            having = postings.get(token, ())
            idf = math.log(1 + (len(pairs) - len(having) + 0.5) / (len(having) + 0.5))
            for position, often in having:
                norm = 1.2 * (0.25 + 0.75 * lengths[position] / mean)
                scores[row, position] += idf * often * 2.2 / (often + norm)
    return scores


def mean_reciprocal_rank(scores: Any) -> float:
    """Compute MRR@10 where candidate i answers query i; half of the ties count as ranked before it."""
    own = np.diag(scores)[:, None]
    ranks = (scores > own).sum(axis=1) + 1 + ((scores == own).sum(axis=1) - 1) / 2
    return float(np.where(ranks <= 10, 1.0 / ranks, 0.0).mean())


if __name__ == "__main__":
    main()
