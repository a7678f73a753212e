"""Forty questions about this repository in the words of the field, asked with dowse on its own tree.

They were written without looking at the names of modules, each with the file that answers it: they measure whether a
stranger who knows the field finds the code. The tree is that of the last commit, without the questions themselves.
"""

from __future__ import annotations

import argparse
import io
import subprocess
import tarfile
import tempfile
from collections.abc import Iterator
from pathlib import Path

from benchmarks.bench_types import Figure, Outcome, at_least
from benchmarks.engine_process import EngineProcess
from benchmarks.metrics import first_rank, list_files, mean, reciprocal
from dowse.evaluation import dataset

ROOT = Path(__file__).parent.parent
QUESTIONS = Path(__file__).parent / "sets" / "own_tree.jsonl"
DEPTH = 20


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add no options."""


def run(_: argparse.Namespace) -> Iterator[Outcome]:
    """Ask every question, and rank the first right file."""
    queries = dataset.load(QUESTIONS).queries
    with tempfile.TemporaryDirectory(prefix="dowse-benchmark-", ignore_cleanup_errors=True) as folder:
        tree = Path(folder) / "tree"
        export_head(tree)
        with EngineProcess("dowse") as process:
            process.index(tree)
            answers = process.search([query.query for query in queries], DEPTH)
    ranks = {
        query.query: first_rank(list_files(answer.hits), {target.path for target in query.relevant}, DEPTH)
        for query, answer in zip(queries, answers, strict=True)
    }
    yield Outcome(
        "own-tree",
        "Forty questions about this repository, asked on its own tree",
        [
            Figure("right file first", mean(float(rank == 1) for rank in ranks.values()), "", at_least(0.8)),
            Figure("right file among the first 5", mean(float(0 < rank <= 5) for rank in ranks.values())),
            Figure("MRR", mean(map(reciprocal, ranks.values()))),
        ],
        notes=(f"{len(queries)} questions",),
        details={"not first": {query: rank for query, rank in ranks.items() if rank != 1}},
    )


def export_head(folder: Path) -> None:
    """Export the files of the last commit."""
    packed = subprocess.run(
        ["git", "archive", "--format=tar", "HEAD"], cwd=ROOT, capture_output=True, check=True
    ).stdout
    with tarfile.open(fileobj=io.BytesIO(packed)) as archive:
        archive.extractall(folder, filter="data")
