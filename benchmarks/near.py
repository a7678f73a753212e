"""What the editor's position adds: CodeGrapher's tasks with and without the file that was open.

The file is one that the change edits. The right position should never cost an edited file that was found without it.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path

from benchmarks.bench_types import Figure, Outcome, Tree, at_least, at_most
from benchmarks.metrics import mean
from benchmarks.sets import codegrapher
from benchmarks.sets.codegrapher import MAX_FILES, WAYS, Task
from dowse import Engine, SearchOptions

DEPTH = 100
"""Hits asked for, so that enough distinct files are among them."""

Found = tuple[float, float, int]
"""Recall without and with the position, and the edited files that only the search without it found."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add no options."""


def run(_: argparse.Namespace) -> Iterator[Outcome]:
    """Search for every task twice, and compare."""
    found: dict[str, list[Found]] = {way: [] for way in WAYS}
    skipped = []
    for tree in codegrapher.trees():
        print(f"near: {tree.name}", file=sys.stderr)
        task = codegrapher.find_task(tree.name)
        if not (tree.path / task["cursor_file"]).is_file():
            skipped.append(f"{tree.name}: {task['cursor_file']}")
            continue
        for way, pair in _search_task(tree, task):
            found[way].append(pair)
    yield Outcome(
        "near",
        "The editor's position: CodeGrapher's tasks with and without the file that was open",
        [figure for way, pairs in found.items() for figure in _make_figures(way, pairs)],
        notes=(
            f"{len(found['terms'])} tasks",
            *(f"not in the tree at its commit: {name}" for name in skipped),
        ),
    )


def _search_task(tree: Tree, task: Task) -> Iterator[tuple[str, Found]]:
    with (
        tempfile.TemporaryDirectory(prefix="dowse-benchmark-", ignore_cleanup_errors=True) as folder,
        Engine.open(tree.path, index_dir=str(Path(folder)), cache="off") as engine,
    ):
        engine.index()
        near = engine.near(task["cursor_file"])
        edited = set(task["files_edited"])
        for query in tree.queries:
            plain = edited & set(_list_files(engine, query.text, ()))
            helped = edited & set(_list_files(engine, query.text, near))
            yield query.id, (len(plain) / len(edited), len(helped) / len(edited), len(plain - helped))


def _list_files(engine: Engine, query: str, near: Sequence[tuple[str, float]]) -> list[str]:
    options = SearchOptions(limit=DEPTH, near=tuple(near), text=False)
    return list(dict.fromkeys(hit.path for hit in engine.search(query, options).results))[:MAX_FILES]


def _make_figures(way: str, pairs: Sequence[Found]) -> Iterator[Figure]:
    before = mean(before for before, _, _ in pairs)
    recall = f"recall of edited files at {MAX_FILES} files, {WAYS[way]}"
    yield Figure(f"{recall}, without the position", before)
    yield Figure(f"{recall}, with it", mean(after for _, after, _ in pairs), "", at_least(round(before, 4)))
    lost = sum(lost for _, _, lost in pairs)
    yield Figure(f"edited files lost by the position, {WAYS[way]}", lost, "files", at_most(0))
