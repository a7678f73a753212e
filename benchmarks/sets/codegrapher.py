"""CodeGrapher's tasks: which files a change will edit, from the terms and the description of the change.

Each task is searched twice, with its query terms alone and with its description before them. The cursor
file, which is always one of the answers, is never given. ``recall13`` is the share of the edited files
among the first 13 distinct files.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from typing import Any

from benchmarks import data
from benchmarks.bench_types import Figure, Hit, Query, Row, Tree
from benchmarks.metrics import mean, recall_at_files

MAX_FILES = 13
"""Files that CodeGrapher's budget of 3,500 tokens holds."""

WAYS = {"terms": "query terms", "described": "description and query terms"}
"""The two queries of a task, and what they are made of."""

Task = Mapping[str, Any]

PUBLISHED = "CodeGrapher, given the cursor file: 0.850; BM25 over whole files, without: 0.891"


@cache
def _load_tasks() -> dict[str, Task]:
    lines = (
        (data.find_folder("BENCH_HOME") / "codegrapher_tasks.jsonl").read_text(encoding="utf-8").splitlines()
    )
    return {task["task_id"]: task for task in map(json.loads, lines)}


def find_task(name: str) -> Task:
    """Find the task of a tree."""
    return _load_tasks()[name]


def trees() -> Iterator[Tree]:
    """Export each task's repository just before the change."""
    for task_id, task in _load_tasks().items():
        owner, name = task["repo"].rstrip("/").split("/")[-2:]
        mirror = data.ALTERNATE_MIRRORS.get(task_id, f"{owner}+{name}")
        terms = " ".join(task["query_terms"])
        queries = (Query("terms", terms), Query("described", f"{task['description']} {terms}"))
        yield Tree(task_id, data.export_commit(mirror, task["commit_before"]), queries)


def rows(tree: Tree, answers: Sequence[Sequence[Hit]]) -> list[Row]:
    """Score the recall of each form of the query."""
    edited = find_task(tree.name)["files_edited"]
    return [
        {
            "repo": tree.name,
            "qid": query.id,
            "query": query.text,
            "recall13": recall_at_files(hits, edited, MAX_FILES),
        }
        for query, hits in zip(tree.queries, answers, strict=True)
    ]


def figures(rows: Sequence[Row]) -> list[Figure]:
    """Average the recall of each form of the query."""
    return [
        Figure(
            f"recall of edited files at {MAX_FILES} files, {name}",
            mean(row["recall13"] for row in rows if row["qid"] == way),
            beside=PUBLISHED,
        )
        for way, name in WAYS.items()
    ]


def breakdown(rows: Sequence[Row]) -> list[Figure]:
    """Return nothing: there are too few tasks."""
    return []
