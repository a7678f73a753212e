"""LocAgent's labelled queries on two source distributions: the rank of the right entity.

Labels are entity ids, ``path:Class.method``, or ``path`` for a file as a whole. A result's id is its path
and the qualified name of the entity it points at (only the path where it points at none; a constructor is
its class, since the labels know no ``__init__``). Results with the same id count once, as the first of them.
``mrr10`` is 1 / rank of the first result whose id equals a label, among the first ten distinct ids, else 0.
``hit1`` is 1 if that rank is 1. LocAgent's own figures come from the results of its search tool in the
same file, by the same formula.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from functools import cache
from typing import Any

from benchmarks import data
from benchmarks.bench_types import Figure, Hit, Query, Row, Tree
from benchmarks.metrics import entity_id, first_rank, mean, reciprocal

RANK_DEPTH = 10
SDISTS = {"requests": "requests-2.32.3", "flask": "flask-3.0.3"}
SYMBOL_KIND = "symbol"
"""Kind of the queries that are exact names."""


@cache
def _load_queries() -> dict[str, Any]:
    lines = (
        (data.find_folder("BENCH_HOME") / "locagent_queries.jsonl").read_text(encoding="utf-8").splitlines()
    )
    return {label["id"]: label for label in map(json.loads, lines)}


def trees() -> Iterator[Tree]:
    """Find the two source distributions."""
    for name, sdist in SDISTS.items():
        path = data.find_folder("BENCH_SDISTS") / sdist
        if not path.is_dir():
            raise data.MissingDataError(f"{sdist} is not in BENCH_SDISTS: unpack it there from PyPI")
        queries = (
            Query(key, label["text"]) for key, label in _load_queries().items() if label["repo"] == name
        )
        yield Tree(name, path, tuple(queries))


def rows(tree: Tree, answers: Sequence[Sequence[Hit]]) -> list[Row]:
    """Score the rank of the first right entity, ours and LocAgent's."""
    return [_row(tree, query, hits) for query, hits in zip(tree.queries, answers, strict=True)]


def _row(tree: Tree, query: Query, hits: Sequence[Hit]) -> Row:
    label = _load_queries()[query.id]
    rank = first_rank(map(entity_id, hits), label["gold"], RANK_DEPTH)
    theirs = first_rank((hit["nid"] for hit in label["searchentity_results"]), label["gold"], RANK_DEPTH)
    return {
        "repo": tree.name,
        "qid": query.id,
        "query": query.text,
        "kind": label["kind"],
        "mrr10": reciprocal(rank),
        "hit1": float(rank == 1),
        "mrr10_locagent": reciprocal(theirs),
        "hit1_locagent": float(theirs == 1),
    }


def figures(rows: Sequence[Row]) -> list[Figure]:
    """Summarize MRR@10 of all queries and hit@1 of exact names."""
    symbols = [row for row in rows if row["kind"] == SYMBOL_KIND]
    return [
        _make_figure("MRR@10 of entities", rows, "mrr10"),
        _make_figure("hit@1, exact names", symbols, "hit1"),
    ]


def breakdown(rows: Sequence[Row]) -> list[Figure]:
    """Break MRR@10 down by kind of query."""
    kinds = sorted({row["kind"] for row in rows})
    return [
        _make_figure(f"MRR@10, {kind}", [r for r in rows if r["kind"] == kind], "mrr10") for kind in kinds
    ]


def _make_figure(name: str, rows: Sequence[Row], key: str) -> Figure:
    theirs = mean(row[f"{key}_locagent"] for row in rows)
    return Figure(name, mean(row[key] for row in rows), beside=f"LocAgent's own search: {theirs:.3f}")
