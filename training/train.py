"""Stage 3b: learn the table. In-batch InfoNCE over the encoded pairs, on a CPU.

    python training/train.py --data DIR --out DIR/runs/NAME [--steps 2500] [--init DIR]

A text's vector is the sum of its words' vectors, each scaled by a weight that is learned separately for queries and
documents. A batch holds groups of pairs from one package, so that most negatives are neighbours: code of the same
package and often of the same file. Every 500 steps the held-out packages are measured, and the best table is kept.
"""

from __future__ import annotations

import argparse
import json
import time
from pathlib import Path
from typing import Any

import numpy as np
import torch
from encode import KINDS
from scipy import sparse
from wordpieces import make_initial_table

TEMPERATURE = 0.05
GROUP_PAIRS = 32
"""Pairs of one package in each group of a batch."""

KIND_WEIGHTS = {
    "doc": 1.0,
    "doc-whole": 0.4,
    "name": 0.25,
    "comment": 0.6,
    "error": 0.5,
    "title": 0.6,
    "file": 1.0,
    "path": 0.6,
    "test": 1.0,
    "prose-code": 0.8,
    "heading": 0.5,
}
"""How often a pair is drawn, by kind: names are many and carry little meaning."""

LANGUAGE_POWER = 0.6
"""Languages are drawn in proportion to this power of their size, so that rare ones count."""

SMALL_LANGUAGE_PAIRS = 1500
MAX_REPEATS = 3.0
NEIGHBOURHOOD_PAIRS = 150
"""Pairs: how far apart in a package the members of a group may lie (standard deviation)."""

FAVOURED_WEIGHT = 3.0
"""How much more often the pairs of a favoured language are drawn."""

HIDE_NAME_SHARE = 0.7
"""Share of name and path queries whose words are removed from the document, which would else repeat them."""

HEADING_SHARES = (0.0, 1.0, 1.0, 1.0)
"""How much a document shows of its path and of its qualified name. The first run of the shipped table showed them
twice as heavily, as an index does, the second like this; which of the two is better was not measured."""

QUESTION_PHRASES = (
    "how does",
    "how is",
    "where is",
    "how are",
    "what",
    "how",
    "where do we",
    "find the",
    "code that",
    "function to",
    "implementation of",
)
"""Added to some queries, as people write them, so that the model learns to ignore these words."""


class Rows:
    """Sparse rows of one field, read by number."""

    def __init__(self, folder: Path, name: str) -> None:
        self.ids = np.load(folder / f"{name}.ids.npy")
        self.values = np.load(folder / f"{name}.values.npy")
        self.offsets = np.load(folder / f"{name}.offsets.npy")

    def take(self, numbers: Any) -> tuple[Any, Any, Any]:
        """Return result row, id and value of every entry of these rows."""
        starts, lengths = self.offsets[numbers], self.offsets[numbers + 1] - self.offsets[numbers]
        owner = np.repeat(np.arange(len(numbers)), lengths)
        at = (
            np.arange(len(owner))
            - np.repeat(np.cumsum(lengths) - lengths, lengths)
            + np.repeat(starts, lengths)
        )
        return owner, self.ids[at].astype(np.int64), self.values[at].astype(np.float32)


class Data:
    """The encoded pairs."""

    def __init__(self, folder: Path) -> None:
        self.path, self.qualified, self.body, self.query = (
            Rows(folder, n) for n in ("path", "qualified", "body", "query")
        )
        self.targets, self.pairs = np.load(folder / "targets.npy"), np.load(folder / "pairs.npy")
        self.languages = np.load(folder / "languages.npy")
        self.language_names = json.loads((folder / "languages.json").read_text())
        self.vocabulary = (folder / "vocabulary.txt").read_text().split("\n")
        _, first = np.unique(self.targets[:, 3], return_index=True)
        self.unique = np.zeros(len(self.targets), dtype=bool)
        self.unique[first] = True
        self.held = self.targets[self.pairs[:, 0], 2] == 1
        packages = (folder / "packages.txt").read_text().split("\n")
        rows = json.loads((Path(__file__).parent / "manifest.json").read_text())
        listed = {f"{row['registry']}+{row['package'].replace('/', '+')}" for row in rows}
        self.listed = np.array([package in listed for package in packages])[self.targets[:, 0]]

    def documents(self, targets: Any, path: Any, qualified: Any) -> tuple[Any, Any, Any]:
        """Return the entries of documents; ``path`` and ``qualified`` scale these two fields."""
        parts = []
        for rows, numbers, share in (
            (self.body, targets, None),
            (self.path, self.targets[targets, 1], path),
            (self.qualified, targets, qualified),
        ):
            owner, ids, values = rows.take(numbers)
            parts.append((owner, ids, values if share is None else values * share[owner]))
        return tuple(np.concatenate(column) for column in zip(*parts, strict=True))  # type: ignore[return-value]


class Batches:
    """Draws pairs: by kind and language, in groups of one package."""

    def __init__(self, data: Data, args: Any) -> None:
        self.random = np.random.default_rng(args.seed)
        self.data = data
        self.group = args.group
        kinds = np.array([KIND_WEIGHTS[k] if not args.kinds or k in args.kinds else 0.0 for k in KINDS])
        usable = ~data.held & (data.unique & data.listed)[data.pairs[:, 0]]
        names = np.array(data.language_names)
        if args.languages:
            usable &= np.isin(names[data.languages[data.pairs[:, 0]]], args.languages)
        self.candidates = np.flatnonzero(usable)
        language = data.languages[data.pairs[self.candidates, 0]]
        weight = kinds[data.pairs[self.candidates, 1]]
        mass = np.bincount(language, weights=weight, minlength=len(data.language_names))
        mass[mass < SMALL_LANGUAGE_PAIRS] = mass.max()  # a handful of pairs is noise
        self.weight = weight * np.minimum((mass[language] / mass.max()) ** (LANGUAGE_POWER - 1), MAX_REPEATS)
        self.weight[np.isin(names[language], args.favour)] *= FAVOURED_WEIGHT
        self.package = data.targets[data.pairs[self.candidates, 0], 0]

    def epoch(self, size: int) -> Any:
        """Yield batches of pair numbers, each pair as often as its weight says, in groups of one package."""
        times = np.floor(self.weight + self.random.random(len(self.weight))).astype(np.int64)
        chosen = np.repeat(np.arange(len(times)), times)
        position = chosen + self.random.normal(
            0, NEIGHBOURHOOD_PAIRS, len(chosen)
        )  # neighbours, but not always the same ones
        chosen = chosen[np.lexsort((position, self.package[chosen]))]
        if self.group == 1:
            chosen = self.random.permutation(chosen)
        groups = np.array_split(chosen, max(len(chosen) // self.group, 1))
        order = self.random.permutation(len(groups))
        per_batch = size // self.group
        print(f"epoch of {len(chosen):,} pairs, {len(order) // per_batch} batches", flush=True)
        for i in range(0, len(order) - per_batch + 1, per_batch):
            yield self.candidates[np.concatenate([groups[j] for j in order[i : i + per_batch]])]


class SparseSum(torch.autograd.Function):
    """Rows of a sparse matrix times a dense table."""

    @staticmethod
    def forward(ctx: Any, matrix: Any, table: Any) -> Any:
        """Multiply the matrix by the table."""
        ctx.matrix = matrix
        return torch.from_numpy(matrix @ table.detach().numpy())

    @staticmethod
    def backward(ctx: Any, grad: Any) -> Any:  # type: ignore[override]
        """Return the gradient of the table; the matrix has none."""
        return None, torch.from_numpy(ctx.matrix.T.tocsr() @ grad.numpy())


class Model(torch.nn.Module):
    """The table and the two weights of each word."""

    def __init__(self, table: Any, weights: Any) -> None:
        super().__init__()
        self.table = torch.nn.Parameter(torch.from_numpy(table.astype(np.float32)))
        self.query_weight = torch.nn.Parameter(torch.from_numpy(np.log(weights).astype(np.float32)))
        self.document_weight = torch.nn.Parameter(torch.from_numpy(np.log(weights).astype(np.float32)))

    def encode(self, matrix: Any, weight: Any) -> Any:
        """Compute a vector of length one for each row of a sparse matrix."""
        used = np.unique(matrix.indices)
        position = np.zeros(matrix.shape[1], dtype=np.int32)
        position[used] = np.arange(len(used))
        small = sparse.csr_matrix(
            (matrix.data, position[matrix.indices], matrix.indptr), shape=(matrix.shape[0], len(used))
        )
        rows = torch.from_numpy(used.astype(np.int64))
        table = self.table[rows] * torch.exp(weight[rows])[:, None]
        return torch.nn.functional.normalize(SparseSum.apply(small, table), dim=1, eps=1e-6)


def build_matrix(entries: tuple[Any, Any, Any], rows: int, width: int) -> Any:
    """Build a sparse matrix of entries (row, column, value)."""
    owner, ids, values = entries
    found = sparse.csr_matrix((values, (owner, ids)), shape=(rows, width), dtype=np.float32)
    found.sum_duplicates()
    return found


def batch_matrices(data: Data, pairs: Any, width: int, random: Any, phrases: list[Any]) -> tuple[Any, Any]:
    """Build the queries and documents of a batch, with the random variations of training."""
    count, kinds, targets = len(pairs), data.pairs[pairs, 1], data.pairs[pairs, 0]
    is_name, is_path = kinds == KINDS.index("name"), kinds == KINDS.index("path")
    owner, ids, values = data.query.take(pairs)
    keep = (random.random(len(owner)) > 0.12 * (random.random(count) < 0.5)[owner]) | is_name[owner]
    query = [(owner[keep], ids[keep], values[keep])]
    for row in np.flatnonzero(random.random(count) < 0.15):
        extra = phrases[random.integers(len(phrases))]
        query.append((np.full(len(extra), row), extra, np.ones(len(extra), np.float32)))
    queries = build_matrix(tuple(np.concatenate(c) for c in zip(*query, strict=True)), count, width)  # type: ignore[arg-type]
    path = random.choice(HEADING_SHARES, count) * ~(is_path & (random.random(count) < HIDE_NAME_SHARE))
    qualified = random.choice(HEADING_SHARES, count)
    d_owner, d_ids, d_values = data.documents(targets, path.astype(np.float32), qualified.astype(np.float32))
    hidden = (is_name | is_path) & (random.random(count) < HIDE_NAME_SHARE)
    repeated = hidden[d_owner] & np.isin(d_owner * width + d_ids, owner * width + ids)
    kept = ~repeated & (d_values > 0)
    return queries, build_matrix((d_owner[kept], d_ids[kept], d_values[kept]), count, width)


def compute_loss(model: Model, queries: Any, documents: Any, same: Any) -> Any:
    """Compute symmetric InfoNCE; the same target or the same query is no negative."""
    q, d = model.encode(queries, model.query_weight), model.encode(documents, model.document_weight)
    scores = (q @ d.T) / TEMPERATURE
    scores = scores.masked_fill(same, -1e4)
    aim = torch.arange(len(scores))
    return (
        torch.nn.functional.cross_entropy(scores, aim) * 0.7
        + torch.nn.functional.cross_entropy(scores.T, aim) * 0.3
    )


def mask_duplicates(data: Data, pairs: Any, queries: Any) -> Any:
    """Mask the pairs of a batch that must not be each other's negatives."""
    targets = data.pairs[pairs, 0]
    sums = (
        np.asarray(queries @ np.sin(np.arange(queries.shape[1]) * 12.9898).astype(np.float32) * 1e4)
        .round()
        .astype(np.int64)
    )
    same = (targets[:, None] == targets[None, :]) | (sums[:, None] == sums[None, :])
    np.fill_diagonal(same, False)
    return torch.from_numpy(same)


# --- measuring on held-out packages ------------------------------------------------------------


def make_held_out_sets(data: Data, size: int = 1000, seed: int = 7) -> dict[str, Any]:
    """Choose up to so many held-out (documentation, code) pairs of each language; all their code is ranked."""
    random = np.random.default_rng(seed)
    kinds = data.pairs[:, 1]
    usable = np.flatnonzero(data.held & (kinds == KINDS.index("doc")) & data.unique[data.pairs[:, 0]])
    language = data.languages[data.pairs[usable, 0]]
    sets = {}
    for number, name in enumerate(data.language_names):
        found = usable[language == number]
        _, first = np.unique(data.pairs[found, 0], return_index=True)
        found = found[first]
        if len(found) >= 200:
            sets[name] = random.permutation(found)[:size]
    return sets


def mean_reciprocal_rank(scores: Any) -> float:
    """Compute MRR@10 where candidate i answers query i."""
    own = np.diag(scores)[:, None]
    ranks = (scores > own).sum(axis=1) + 1
    return float(np.where(ranks <= 10, 1.0 / ranks, 0.0).mean())


def evaluate(
    data: Data, sets: dict[str, Any], encode_query: Any, encode_document: Any, width: int
) -> dict[str, float]:
    """Compute MRR@10 by language; documents are bodies without their own documentation."""
    found = {}
    for name, pairs in sets.items():
        targets = data.pairs[pairs, 0]
        queries = build_matrix(data.query.take(pairs), len(pairs), width)
        ones = np.ones(len(pairs), np.float32)
        documents = build_matrix(data.documents(targets, ones * 0, ones * 0), len(pairs), width)
        found[name] = mean_reciprocal_rank(encode_query(queries) @ encode_document(documents).T)
    return found


def score_bm25(queries: Any, documents: Any) -> Any:
    """Compute BM25 scores (k1 1.2, b 0.75) over the same words."""
    counts = documents.copy()
    counts.data = counts.data**2
    lengths = np.asarray(counts.sum(axis=1)).ravel()
    present = np.bincount(counts.indices, minlength=counts.shape[1])
    idf = np.log(1 + (counts.shape[0] - present + 0.5) / (present + 0.5))
    norm = 1.2 * (0.25 + 0.75 * lengths / lengths.mean())
    owner = np.repeat(np.arange(counts.shape[0]), np.diff(counts.indptr))
    counts.data = idf[counts.indices] * counts.data * 2.2 / (counts.data + norm[owner])
    binary = queries.copy()
    binary.data = np.ones_like(binary.data)
    return np.asarray((binary @ counts.T).todense())


def main() -> None:
    """Train, measure, save the best table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument(
        "--init", type=Path, help="folder of a word-piece model to start from; random without"
    )
    parser.add_argument("--resume", type=Path, help="a run whose best table to go on from")
    parser.add_argument("--encoded", default="encoded", help="folder of the encoded pairs below DIR")
    parser.add_argument("--buckets", type=int, default=8192)
    parser.add_argument("--dimensions", type=int, default=256)
    parser.add_argument("--batch", type=int, default=2048)
    parser.add_argument("--steps", type=int, default=2500)
    parser.add_argument("--rate", type=float, default=1.5e-3)
    parser.add_argument("--minutes", type=float, default=60)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--favour", nargs="*", default=[], help="languages to draw more often than the rest")
    ablation = parser.add_argument_group("for ablations")
    ablation.add_argument("--languages", nargs="*", help="only pairs of these languages")
    ablation.add_argument("--kinds", nargs="*", help="only pairs of these kinds")
    ablation.add_argument("--group", type=int, default=GROUP_PAIRS, help="1: negatives from anywhere")
    args = parser.parse_args()
    torch.manual_seed(args.seed)
    args.out.mkdir(parents=True, exist_ok=True)
    data = Data(args.data / args.encoded)
    width = len(data.vocabulary) + args.buckets
    occurrences = np.load(args.data / args.encoded / "occurrences.npy")
    surface = json.loads((args.data / args.encoded / "surface.json").read_text())
    table, weights = make_initial_table(
        surface, occurrences, args.buckets, args.dimensions, args.init, args.seed
    )
    model = Model(table, weights)
    if args.resume:
        trained = np.load(args.resume / "best.npz")
        state = {
            "table": trained["table"],
            "query_weight": trained["query"],
            "document_weight": trained["document"],
        }
        model.load_state_dict({name: torch.from_numpy(value) for name, value in state.items()})
    sets = make_held_out_sets(data)
    _report("bm25", _measure_bm25(data, sets, width))
    best = _report("init", _measure(model, data, sets, width))
    optimizer = torch.optim.Adam(
        [
            {"params": [model.table], "lr": args.rate},
            {"params": [model.query_weight, model.document_weight], "lr": args.rate * 5},
        ],
        betas=(0.9, 0.98),
        eps=1e-8,
    )
    _train(args, model, data, sets, width, optimizer, best)


def _train(
    args: Any, model: Model, data: Data, sets: dict[str, Any], width: int, optimizer: Any, best: float
) -> None:
    batches, step, started, losses = Batches(data, args), 0, time.time(), []
    words = {w: i for i, w in enumerate(data.vocabulary)}
    phrases = [
        np.array([words[w] for w in phrase.split() if w in words], dtype=np.int64)
        for phrase in QUESTION_PHRASES
    ]
    rates = [group["lr"] for group in optimizer.param_groups]
    while step < args.steps:
        for pairs in batches.epoch(args.batch):
            elapsed = (time.time() - started) / 60 / args.minutes
            progress = max(step / args.steps, elapsed)
            if progress >= 1:
                _keep(args.out, model, data, sets, width, best, step)
                return
            for group, rate in zip(optimizer.param_groups, rates, strict=True):
                group["lr"] = rate * min(1.0, (step + 1) / 50) * (0.02 + 0.98 * (1 - progress))
            queries, documents = batch_matrices(data, pairs, width, batches.random, phrases)
            loss = compute_loss(model, queries, documents, mask_duplicates(data, pairs, queries))
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            losses.append(loss.item())
            step += 1
            if step % 50 == 0:
                print(
                    f"step {step} loss {np.mean(losses[-50:]):.3f} {time.time() - started:.0f} s", flush=True
                )
            if step % 500 == 0:
                best = _keep(args.out, model, data, sets, width, best, step)
    _keep(args.out, model, data, sets, width, best, step)


def _keep(
    out: Path, model: Model, data: Data, sets: dict[str, Any], width: int, best: float, step: int
) -> float:
    mean = _report(f"step {step}", _measure(model, data, sets, width))
    if mean > best:
        np.savez(
            out / "best.npz",
            table=model.table.detach().numpy(),
            query=model.query_weight.detach().numpy(),
            document=model.document_weight.detach().numpy(),
        )
    return max(mean, best)


def _measure(model: Model, data: Data, sets: dict[str, Any], width: int) -> dict[str, float]:
    with torch.no_grad():
        return evaluate(
            data,
            sets,
            lambda m: model.encode(m, model.query_weight).numpy(),
            lambda m: model.encode(m, model.document_weight).numpy(),
            width,
        )


def _measure_bm25(data: Data, sets: dict[str, Any], width: int) -> dict[str, float]:
    found = {}
    for name, pairs in sets.items():
        targets, zeros = data.pairs[pairs, 0], np.zeros(len(pairs), np.float32)
        documents = build_matrix(data.documents(targets, zeros, zeros), len(pairs), width)
        found[name] = mean_reciprocal_rank(
            score_bm25(build_matrix(data.query.take(pairs), len(pairs), width), documents)
            + np.random.default_rng(1).random((len(pairs), len(pairs))) * 1e-6
        )
    return found


def _report(label: str, row: dict[str, float]) -> float:
    mean = float(np.mean(list(row.values())))
    print(f"{label}: mean {mean:.4f} | " + " ".join(f"{k} {v:.3f}" for k, v in row.items()), flush=True)
    return mean


if __name__ == "__main__":
    main()
