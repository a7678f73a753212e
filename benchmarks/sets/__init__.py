"""Table of the query sets, with one file each.

A set knows its trees and queries, how hits are scored, and how scores become figures.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from benchmarks.bench_types import Figure, Hit, Row, Tree
from benchmarks.sets import codegrapher, locagent, repositories, swe_qa


@dataclass(frozen=True, slots=True)
class QuerySet:
    """A query set: a row of the table."""

    name: str
    title: str
    depth: int  # results per query
    headline: str  # the metric by which runs are compared
    trees: Callable[[], Iterator[Tree]]
    rows: Callable[[Tree, Sequence[Sequence[Hit]]], list[Row]]  # hits in the order of the queries
    figures: Callable[[Sequence[Row]], list[Figure]]
    breakdown: Callable[[Sequence[Row]], list[Figure]]  # figures by kind of query or tree
    budgets: Sequence[int] = ()  # token budgets to measure as well


SETS = {
    row.name: row
    for row in (
        QuerySet(
            "repositories",
            "31 repositories of a public code search benchmark, 19 languages",
            50,
            "ndcg10",
            repositories.trees,
            repositories.rows,
            repositories.figures,
            repositories.breakdown,
            repositories.BUDGETS,
        ),
        QuerySet(
            "swe-qa",
            "SWE-QA: questions about 7 Python repositories that avoid identifiers",
            50,
            "mrr",
            swe_qa.trees,
            swe_qa.rows,
            swe_qa.figures,
            swe_qa.breakdown,
        ),
        QuerySet(
            "codegrapher",
            "CodeGrapher's 23 tasks: the files that a change edits, no cursor file given",
            100,
            "recall13",
            codegrapher.trees,
            codegrapher.rows,
            codegrapher.figures,
            codegrapher.breakdown,
        ),
        QuerySet(
            "locagent",
            "LocAgent's 100 labelled queries: the entity that is meant",
            50,
            "mrr10",
            locagent.trees,
            locagent.rows,
            locagent.figures,
            locagent.breakdown,
        ),
    )
}
