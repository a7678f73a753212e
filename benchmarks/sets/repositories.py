"""The public code search benchmark: 31 repositories, about 20 queries each, file targets.

Scored by the bench's own score.py: NDCG@10 is the mean over repositories of the mean over queries. For
the token measure, up to 50 results are walked, each at the cost of the text that is shown for it. Beside it, the
recall of the answer that ``--budget`` packs into so many tokens: its hits, of which some are only named.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import cache
from typing import Any

from benchmarks import data
from benchmarks.bench_types import Figure, Hit, Query, Row, Tree
from benchmarks.metrics import mean

BUDGETS = (500, 1000, 2000, 4000)
"""Tokens that a reader may have to spend on an answer."""

SEMBLE_TOKENS = {500: 0.842, 1000: 0.923, 2000: 0.967, 4000: 0.988}
"""Recall of semble 0.7 with its own code model, by token budget."""

PUBLISHED = {"NDCG@10": "semble 0.7 with its own code model: 0.857; the best local engine: 0.869"}


@cache
def _load_bench() -> Any:
    return data.load_scorer().load_bench()


def trees() -> Iterator[Tree]:
    """Find the benchmarked folder of each repository."""
    bench = _load_bench()
    for name in bench.repos():
        path = bench.bench_dir(name)
        if not path.is_dir():
            raise data.MissingDataError(
                f"the tree of {name} is not in BENCH_TREES: run checkout.py of BENCH_HOME"
            )
        queries = (Query(str(task.qid), task.query) for task in bench.tasks if task.repo == name)
        yield Tree(name, path, tuple(queries))


def rows(tree: Tree, answers: Sequence[Sequence[Hit]]) -> list[Row]:
    """Score one repository with score.py."""
    count = _load_token_counter()
    keys = [(tree.name, int(query.id)) for query in tree.queries]
    found = {key: [(p.path, p.start, p.end) for p in hits] for key, hits in zip(keys, answers, strict=True)}
    costs = {
        key: {"tokens": [count(p.text) for p in hits]} if hits and hits[0].text else {}
        for key, hits in zip(keys, answers, strict=True)
    }
    scored: list[Row] = data.load_scorer().score_results(_load_bench(), found, tokens=True, extra=costs)
    return scored


@cache
def _load_token_counter() -> Callable[[str], int]:
    counter: Callable[[str], int] = data.load_scorer().token_counter()[0]
    return counter


def figures(rows: Sequence[Row]) -> list[Figure]:
    """Summarize NDCG@10, hit@k and recall within token budgets."""
    summary = data.load_scorer().aggregate(list(rows))
    overall = summary["macro"]
    found = [Figure("NDCG@10", overall["ndcg10"], beside=PUBLISHED["NDCG@10"])]
    found += [Figure(f"hit@{k}", overall[f"hit{k}"]) for k in (1, 5, 10)]
    found += [
        Figure(
            f"recall within {budget} tokens ({summary['tokens']['tokenizer']})",
            summary["tokens"][f"recall@{budget}"],
            beside=f"semble 0.7 with its own code model: {SEMBLE_TOKENS[budget]}",
        )
        for budget in BUDGETS
    ]
    return [*found, Figure("tokens of 10 results", mean(row["tokens_top10"] for row in rows), "tokens")]


def make_packed_figure(budget: int, rows: Sequence[Row]) -> Figure:
    """Make a figure of the recall of answers packed into a token budget."""
    return Figure(
        f"recall of an answer packed into {budget} tokens",
        mean(row["recall10"] for row in rows),
        beside="what --budget prints: of hits with no room for their text, place and signature",
    )


def breakdown(rows: Sequence[Row]) -> list[Figure]:
    """Break NDCG@10 down by category and by language."""
    summary = data.load_scorer().aggregate(list(rows))
    categories = {
        f"{name} questions": scores["ndcg10_macro"] for name, scores in summary["by_category"].items()
    }
    languages = {name: scores["ndcg10"] for name, scores in summary["by_language"].items()}
    return [Figure(f"NDCG@10, {name}", value) for name, value in (categories | languages).items()]
