"""Questions that somebody asks who operates a system: configuration, infrastructure, CI, notebooks, routes, components.

Sixty questions about seven mixed repositories, in ``sets/formats/``, written before any answer was seen. The
repositories of the split ``decide`` may be looked at while working; those of ``report`` are for reporting. Right is a
hit with a line of a place that should be shown first (grade 2).
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from training.trees import check_out

from benchmarks import data
from benchmarks.bench_types import Figure, Hit, Outcome, at_least
from benchmarks.competitors import COMPETITORS
from benchmarks.engine_process import EngineProcess
from benchmarks.messages import share_within
from dowse.evaluation import dataset
from dowse.evaluation.eval_types import EvalQuery

QUESTIONS = Path(__file__).parent / "sets" / "formats"
SPLITS = ("decide", "report")
ENGINES = ("dowse", "bm25_windows")
DEPTH = 10
TARGETS = {1: at_least(0.75), 3: at_least(0.90)}


class Asked(NamedTuple):
    """A question with the rank of its first right hit, by file and by lines; 0 if there is none."""

    split: str
    query: EvalQuery
    file_rank: int
    line_rank: int
    first: str

    def get_rank(self, what: str) -> int:
        """Return the rank by file or by lines."""
        return self.file_rank if what == "file" else self.line_rank


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add which split is asked, and whether each question is shown."""
    group = parser.add_argument_group("formats")
    group.add_argument("--format-split", choices=SPLITS, help="only the repositories of a split")
    group.add_argument("--show-questions", action="store_true", help="print the rank of every question")


def run(args: argparse.Namespace) -> Iterator[Outcome]:
    """Ask every question of dowse, and of plain BM25 over windows of 30 lines."""
    asked = {name: list(_ask_all(name, args.format_split)) for name in ENGINES}
    if args.show_questions:
        for one in asked["dowse"]:
            print(
                f"{one.file_rank:3}{one.line_rank:3}  {one.query.id:32} {one.query.query[:60]:60} {one.first}"
            )
    yield Outcome(
        name="formats",
        title="Questions about configuration, infrastructure, CI, notebooks, routes and components",
        figures=[
            figure
            for split in SPLITS
            if args.format_split in (None, split)
            for figure in _make_figures(split, asked)
        ],
        details={"by_category": _summarize_categories(asked["dowse"])},
        official=args.format_split is None,
    )


def _ask_all(engine: str, split: str | None) -> Iterator[Asked]:
    for pin in json.loads((QUESTIONS / "repositories.json").read_text("utf-8")):
        if split in (None, pin["split"]):
            tree = _get_tree(pin["repository"].replace("/", "+"), pin["commit"])
            queries = dataset.load(QUESTIONS / f"{tree.name}.jsonl").queries
            with EngineProcess(COMPETITORS[engine].name) as process:
                process.index(tree)
                answers = process.search([query.query for query in queries], DEPTH)
            for query, answer in zip(queries, answers, strict=True):
                yield _judge(pin["split"], query, answer.hits)


def _get_tree(name: str, commit: str) -> Path:
    """Return the tree of a repository at its commit, checked out from its snapshot into the cache."""
    tree = data.cache_folder() / "formats" / name
    if not tree.is_dir():
        mirror = data.find_folder("BENCH_MIRRORS") / name / "repo"
        if not mirror.is_dir():
            raise data.MissingDataError(f"there is no snapshot {name} in BENCH_MIRRORS")
        check_out(str(mirror), commit, tree)
    return tree


def _judge(split: str, query: EvalQuery, hits: Sequence[Hit]) -> Asked:
    right = [target for target in query.relevant if target.grade == 2]
    file_rank = line_rank = 0
    for rank, hit in enumerate(hits, 1):
        of_file = [target for target in right if target.path == hit.path]
        if of_file and not file_rank:
            file_rank = rank
        if not line_rank and any((hit.start or 0) <= t.end and t.start <= (hit.end or 0) for t in of_file):
            line_rank = rank
    return Asked(split, query, file_rank, line_rank, f"{hits[0].path}:{hits[0].start}" if hits else "")


def _make_figures(split: str, asked: dict[str, list[Asked]]) -> Iterator[Figure]:
    ours, windows = ([one for one in asked[name] if one.split == split] for name in ENGINES)
    yield Figure(f"questions, {split}", len(ours), "queries")
    for what in ("file", "lines"):
        of_ours, of_windows = ([one.get_rank(what) for one in found] for found in (ours, windows))
        for k, target in TARGETS.items():
            yield Figure(
                f"right {what} in {k}, {split}",
                share_within(of_ours, k),
                "",
                target if what == "lines" else None,
                f"BM25 over windows {share_within(of_windows, k):.2f}",
            )


def _summarize_categories(asked: Sequence[Asked]) -> dict[str, dict[str, float]]:
    """Count the questions of each category, and those whose right lines are first and in three."""
    found = {}
    for category in sorted({one.query.category for one in asked}):
        ranks = [one.line_rank for one in asked if one.query.category == category]
        found[category] = {
            "questions": len(ranks),
            "first": share_within(ranks, 1),
            "in 3": share_within(ranks, 3),
        }
    return found
