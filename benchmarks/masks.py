"""Masked secrets: of what is masked in real source trees, how much is a secret?

Every mask was looked at and labelled by hand (``sets/masks.jsonl``). Right is a key or a token with which a program
signs, signs in or decrypts, whatever it opens: in public trees that is mostly a server made for a test. Wrong are
values that only look like it, and keys that are published on purpose. A mask without a label counts as wrong.
"""

from __future__ import annotations

import argparse
import json
import os
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from benchmarks import data, history
from benchmarks.bench_types import Figure, Outcome, at_least
from dowse.code import secrets

LABELS_FILE = Path(__file__).parent / "sets" / "masks.jsonl"
MAX_FILE_BYTES = 1_000_000
SKIPPED_FOLDERS = frozenset({".git", "node_modules", ".dowse"})

Place = tuple[str, str, int]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add whether masks are printed that are wrong."""
    group = parser.add_argument_group("masks")
    group.add_argument("--show-wrong-masks", action="store_true", help="print the masks that are no secrets")


def run(args: argparse.Namespace) -> Iterator[Outcome]:
    """Mask every file of every tree, and compare with the labels."""
    rows = [json.loads(line) for line in LABELS_FILE.read_text(encoding="utf-8").splitlines()]
    labels: dict[Place, bool] = {(row["tree"], row["path"], row["line"]): row["right"] for row in rows}
    trees = _list_trees()
    files, right = 0, 0
    wrong: list[Place] = []
    rules: Counter[str] = Counter()
    started = time.process_time()
    for tree in trees:
        for path in _list_files(tree):
            files += 1
            name = path.relative_to(tree).as_posix()
            for found in secrets.mask(path.read_bytes(), name)[1]:
                place = (tree.name, name, found.line)
                rules[found.rule] += 1
                if labels.get(place):
                    right += 1
                else:
                    wrong.append(place)
                    if args.show_wrong_masks:
                        print("no label" if place not in labels else "wrong", found.rule, *place)
    total = right + len(wrong)
    yield Outcome(
        name="masks",
        title="Masked secrets in real source trees",
        figures=[
            Figure("trees", len(trees), "trees"),
            Figure("files", files, "files"),
            Figure("masks", total, "masks"),
            Figure("precision", right / max(1, total), "", at_least(0.9)),
            Figure("CPU of a thousand files", (time.process_time() - started) / max(1, files) * 1e3, "s"),
        ],
        notes=["By rule: " + ", ".join(f"{rule} {count}" for rule, count in rules.most_common()) + "."],
    )


def _list_trees() -> list[Path]:
    """List the trees: those of the query sets, the large one, and the repositories of the questions about commits."""
    folder = data.find_folder("BENCH_TREES")
    trees = sorted(path for path in folder.iterdir() if path.is_dir())
    trees.append(data.find_folder("BENCH_BIG_TREE"))
    for half in ("decide", "report"):
        asked = history.load_questions(half)
        trees += [history.check_out(name, asked[name][0].head) for name in sorted(asked)]
    return trees


def _list_files(tree: Path) -> Iterator[Path]:
    """List the text files of a tree that are not too large."""
    for folder, folders, names in os.walk(tree):
        folders[:] = sorted(set(folders) - SKIPPED_FOLDERS)
        for name in sorted(names):
            path = Path(folder, name)
            if path.is_file() and not path.is_symlink() and path.stat().st_size <= MAX_FILE_BYTES:
                with path.open("rb") as file:
                    is_text = b"\0" not in file.read(8000)
                if is_text:
                    yield path
