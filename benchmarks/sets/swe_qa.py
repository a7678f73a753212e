"""SWE-QA: natural-language queries about Python repositories, whose answers cite files and lines.

Scored as loc.py scores: ``hit@5`` at least one cited file among the first five distinct files, ``mrr`` of
the first cited file, ``hunk@k`` at least one of the first k results has a cited line in it (only
queries whose answer cites lines). Cited tests do not count; queries without a cited file are skipped.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from functools import cache
from typing import Any

from benchmarks import data
from benchmarks.bench_types import Figure, Hit, Query, Row, Tree
from benchmarks.metrics import first_rank, list_files, mean, reciprocal, touches

UNLIMITED_DEPTH = 10**9
"""Depth for ``mrr``: the first cited file counts wherever it is."""

PUBLISHED = {
    "hit@5": "semble's rules over BM25, all 521 questions: 0.871",
    "MRR": "semble's rules over BM25, all 521 questions: 0.723",
    "hunk@5": "BM25, all 521 questions: 0.40",
    "hunk@10": "BM25, all 521 questions: 0.48",
}


@cache
def _load_items() -> dict[str, Any]:
    return {item["id"]: item for item in data.load_localizer().load("swe-qa")}


def trees() -> Iterator[Tree]:
    """Export each commit, once."""
    groups: dict[tuple[str, str, str], list[Query]] = defaultdict(list)
    for item in _load_items().values():
        groups[item["repo"], item["mirror"], item["commit"]].append(Query(item["id"], item["query"]))
    for (name, mirror, commit), queries in sorted(groups.items()):
        yield Tree(name, data.export_commit(mirror, commit), tuple(queries))


def cited_spans(query: str) -> dict[str, list[tuple[int, int]]]:
    """Return the line ranges that the answer to a query cites, by path; empty if it cites none."""
    found: dict[str, list[tuple[int, int]]] = _load_items()[query]["spans"]
    return found


def rows(tree: Tree, answers: Sequence[Sequence[Hit]]) -> list[Row]:
    """Score hits and ranks of each query."""
    return [_row(tree, query, hits) for query, hits in zip(tree.queries, answers, strict=True)]


def _row(tree: Tree, query: Query, hits: Sequence[Hit]) -> Row:
    item = _load_items()[query.id]
    files = list_files(hits)
    row: Row = {
        "repo": tree.name,
        "qid": query.id,
        "query": query.text,
        "hit5": float(bool(first_rank(files, item["gold"], 5))),
        "mrr": reciprocal(first_rank(files, item["gold"], UNLIMITED_DEPTH)),
    }
    if item["spans"]:
        row |= {f"hunk{k}": float(any(touches(p, item["spans"]) for p in hits[:k])) for k in (5, 10)}
    return row


def figures(rows: Sequence[Row]) -> list[Figure]:
    """Average the scores over queries."""
    names = {"MRR": "mrr", "hit@5": "hit5", "hunk@5": "hunk5", "hunk@10": "hunk10"}
    return [
        Figure(name, mean(row[key] for row in rows if key in row), beside=PUBLISHED[name])
        for name, key in names.items()
    ]


def breakdown(rows: Sequence[Row]) -> list[Figure]:
    """Break hit@5 down by repository."""
    return [
        Figure(f"hit@5, {name}", mean(row["hit5"] for row in rows if row["repo"] == name))
        for name in sorted({row["repo"] for row in rows})
    ]
