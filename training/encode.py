"""Stage 3a: words to numbers. Builds the vocabulary and writes every pair as sparse rows of token ids.

    python training/encode.py --data DIR [--words 44000] [--buckets 8192]

A row is what the model sees of a text: the ids of its words with damp counts. A word the vocabulary lacks is the
mean of the buckets that its character n-grams fall into (``dowse.embedders.static`` does the same).
"""

from __future__ import annotations

import argparse
import gzip
import json
from collections import Counter
from concurrent.futures import ProcessPoolExecutor
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
from pairs import fingerprint

from dowse.code import tokens
from dowse.embedders import static

KINDS = (
    "doc",
    "doc-whole",
    "name",
    "comment",
    "error",
    "title",
    "file",
    "path",
    "test",
    "prose-code",
    "heading",
)
BATCH_PACKAGES = 60
"""Packages per job."""


def main() -> None:
    """Build the vocabulary, then write the rows."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--words", type=int, default=48_000)
    parser.add_argument("--buckets", type=int, default=8192)
    parser.add_argument("--jobs", type=int, default=2)
    args = parser.parse_args()
    files = sorted((args.data / "pairs").glob("*.jsonl.gz"))
    out = args.data / "encoded"
    out.mkdir(exist_ok=True)
    batches = [files[i : i + BATCH_PACKAGES] for i in range(0, len(files), BATCH_PACKAGES)]
    with ProcessPoolExecutor(args.jobs) as pool:
        _build_vocabulary(pool.map(_count, batches), args.words, out)
    manifest = {
        f"{r['registry']}+{r['package'].replace('/', '+')}": r["split"]
        for r in json.loads((Path(__file__).parent / "manifest.json").read_text())
    }
    vocabulary = (out / "vocabulary.txt").read_text().split("\n")
    measured_file = args.data / "measured.bin"
    measured = measured_file.read_bytes() if measured_file.exists() else b""
    jobs = [
        (
            batch,
            vocabulary,
            args.buckets,
            measured,
            [manifest.get(f.name.removesuffix(".jsonl.gz"), "train") == "held-out" for f in batch],
            i * BATCH_PACKAGES,
        )
        for i, batch in enumerate(batches)
    ]
    with ProcessPoolExecutor(args.jobs) as pool:
        parts = list(pool.map(_encode, jobs))
    _write(parts, out)
    (out / "packages.txt").write_text("\n".join(f.name.removesuffix(".jsonl.gz") for f in files))


def _count(files: list[Path]) -> tuple[Counter[str], Counter[str]]:
    """Count the packages that use a raw word, and its occurrences in all."""
    packages: Counter[str] = Counter()
    occurrences: Counter[str] = Counter()
    for file in files:
        own: Counter[str] = Counter()
        with gzip.open(file, "rt", encoding="utf-8") as rows:
            for line in rows:
                row = json.loads(line)
                own.update(tokens.split_runs(f"{row[2]} {row[3]} {row[5]}"))
                for _, query in row[6]:
                    own.update(tokens.split_runs(query))
        packages.update(own.keys())
        occurrences.update(own)
    return packages, occurrences


def _build_vocabulary(counts: Any, size: int, out: Path) -> None:
    packages: Counter[str] = Counter()
    occurrences: Counter[str] = Counter()
    for part, often_here in counts:
        packages.update(part)
        occurrences.update(often_here)
    score: Counter[str] = Counter()
    often: Counter[str] = Counter()
    surface: dict[str, tuple[int, str]] = {}
    for word, count in packages.items():
        for token in set(chain.from_iterable(tokens.tokenize_word(w) for w in tokens.split_words(word))):
            score[token] += count
            often[token] += occurrences[word]
        if len(parts := tokens.split_identifier(word)) == 1:
            token = tokens.stem(parts[0])
            if occurrences[word] > surface.get(token, (0, ""))[0]:
                surface[token] = (occurrences[word], parts[0])
    chosen = [
        t
        for t, _ in sorted(score.items(), key=lambda kv: (-kv[1], -often[kv[0]], kv[0]))
        if not t.isdigit() or len(t) <= 4
    ][:size]
    chosen.sort()
    (out / "vocabulary.txt").write_text("\n".join(chosen))
    (out / "surface.json").write_text(json.dumps([surface.get(t, (0, t))[1] for t in chosen]))
    np.save(out / "occurrences.npy", np.array([often[t] for t in chosen], dtype=np.int64))
    covered = sum(often[t] for t in chosen) / sum(often.values())
    rarest = min(score[t] for t in chosen)
    print(
        f"{len(score):,} tokens, kept {len(chosen):,} covering {covered:.4f}; rarest in {rarest} packages",
        flush=True,
    )


class _Rows:
    """Sparse rows under construction."""

    def __init__(self) -> None:
        self.ids: list[Any] = []
        self.values: list[Any] = []
        self.lengths: list[int] = []

    def add(self, ids: Any, values: Any) -> int:
        self.ids.append(ids)
        self.values.append(values)
        self.lengths.append(len(ids))
        return len(self.lengths) - 1

    def to_arrays(self) -> tuple[Any, Any, Any]:
        def join(parts: list[Any], kind: Any) -> Any:
            return np.concatenate(parts) if parts else np.zeros(0, kind)

        return (
            join(self.ids, np.uint16),
            join(self.values, np.float16),
            np.array(self.lengths, dtype=np.int32),
        )


def _encode(job: tuple[list[Path], list[str], int, bytes, list[bool], int]) -> dict[str, Any]:
    files, vocabulary, buckets, measured_bytes, held, first = job
    lookup = static.WordRows(vocabulary, buckets)
    measured = {measured_bytes[i : i + 8] for i in range(0, len(measured_bytes), 8)}
    rows = {name: _Rows() for name in ("path", "qualified", "body", "query")}
    seen: set[bytes] = set()
    targets, pairs, dropped, languages = [], [], 0, []
    for offset, (file, is_held) in enumerate(zip(files, held, strict=True)):
        paths: dict[int, int] = {}
        with gzip.open(file, "rt", encoding="utf-8") as lines:
            for line in lines:
                number, language, path, qualified, _, body, queries = json.loads(line)
                key = fingerprint(body)
                if key in seen or key in measured:
                    dropped += 1
                    continue
                seen.add(key)
                if number not in paths:
                    paths[number] = rows["path"].add(*lookup.row(" ".join(tokens.split_path_words(path))))
                rows["qualified"].add(*lookup.row(qualified))
                target = rows["body"].add(*lookup.row(body))
                targets.append(
                    (first + offset, paths[number], int(is_held), int.from_bytes(key[:7], "little"))
                )
                languages.append(language)
                for kind, query in queries:
                    ids, values = lookup.row(query)
                    if len(ids) and kind in KINDS:
                        rows["query"].add(ids, values)
                        pairs.append((target, KINDS.index(kind)))
    arrays = {name: r.to_arrays() for name, r in rows.items()}
    return {
        "rows": arrays,
        "targets": np.array(targets, dtype=np.int64).reshape(-1, 4),
        "pairs": np.array(pairs, dtype=np.int64).reshape(-1, 2),
        "languages": languages,
        "dropped": dropped,
    }


def _write(parts: list[dict[str, Any]], out: Path) -> None:
    for name in ("path", "qualified", "body", "query"):
        np.save(out / f"{name}.ids.npy", np.concatenate([p["rows"][name][0] for p in parts]))
        np.save(out / f"{name}.values.npy", np.concatenate([p["rows"][name][1] for p in parts]))
        lengths = np.concatenate([p["rows"][name][2] for p in parts]).astype(np.int64)
        np.save(out / f"{name}.offsets.npy", np.concatenate([[0], np.cumsum(lengths)]))
    targets, pairs, done, paths = [], [], 0, 0
    for part in parts:
        t, p = part["targets"].copy(), part["pairs"].copy()
        t[:, 1] += paths
        p[:, 0] += done
        targets.append(t)
        pairs.append(p)
        done += len(t)
        paths += len(part["rows"]["path"][2])
    languages = list(chain.from_iterable(p["languages"] for p in parts))
    names = sorted(set(languages))
    position = {n: i for i, n in enumerate(names)}
    np.save(out / "targets.npy", np.concatenate(targets))
    np.save(out / "pairs.npy", np.concatenate(pairs))
    np.save(out / "languages.npy", np.array([position[x] for x in languages], dtype=np.int16))
    (out / "languages.json").write_text(json.dumps(names))
    dropped = sum(p["dropped"] for p in parts)
    print(
        f"{done:,} targets, {sum(map(len, pairs)):,} pairs, {dropped:,} duplicates or measured left out",
        flush=True,
    )


if __name__ == "__main__":
    main()
