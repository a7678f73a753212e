"""The public code search benchmark: 31 repositories, about 20 questions each, file targets.

Scored by the bench's own score.py: NDCG@10 is the mean over repositories of the mean over questions. For
the token measure, up to 50 results are walked, each at the cost of the text that is shown for it. Beside it, the
recall of the answer that ``--budget`` packs into so many tokens: its hits, of which some are only named.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import cache
from typing import Any

from benchmarks import data
from benchmarks.bench_types import Figure, Place, Question, Row, Tree
from benchmarks.metrics import mean

BUDGETS = (500, 1000, 2000, 4000)
"""Tokens that a reader may have to spend on an answer."""

SEMBLE_TOKENS = {500: 0.842, 1000: 0.923, 2000: 0.967, 4000: 0.988}
"""What semble 0.7 with its own code model reaches."""

BESIDE = {"NDCG@10": "semble 0.7 with its own code model: 0.857; the best local engine: 0.869"}


@cache
def _bench() -> Any:
    return data.scorer().load_bench()


def trees() -> Iterator[Tree]:
    """Each repository at the folder that the benchmark is about."""
    bench = _bench()
    for name in bench.repos():
        path = bench.bench_dir(name)
        if not path.is_dir():
            raise data.MissingDataError(
                f"the tree of {name} is not in BENCH_TREES: run checkout.py of BENCH_HOME"
            )
        asked = (Question(str(task.qid), task.query) for task in bench.tasks if task.repo == name)
        yield Tree(name, path, tuple(asked))


def rows(tree: Tree, answers: Sequence[Sequence[Place]]) -> list[Row]:
    """The rows of score.py for one repository."""
    count = _token_count()
    keys = [(tree.name, int(question.id)) for question in tree.questions]
    found = {
        key: [(p.path, p.start, p.end) for p in places] for key, places in zip(keys, answers, strict=True)
    }
    costs = {
        key: {"tokens": [count(p.text) for p in places]} if places and places[0].text else {}
        for key, places in zip(keys, answers, strict=True)
    }
    scored: list[Row] = data.scorer().score_results(_bench(), found, tokens=True, extra=costs)
    return scored


@cache
def _token_count() -> Callable[[str], int]:
    counter: Callable[[str], int] = data.scorer().token_counter()[0]
    return counter


def figures(rows: Sequence[Row]) -> list[Figure]:
    """NDCG@10, hits, recall by tokens."""
    summary = data.scorer().aggregate(list(rows))
    overall = summary["macro"]
    found = [Figure("NDCG@10", overall["ndcg10"], beside=BESIDE["NDCG@10"])]
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


def packed_figure(budget: int, rows: Sequence[Row]) -> Figure:
    """Recall of answers that were packed into so many tokens."""
    return Figure(
        f"recall of an answer packed into {budget} tokens",
        mean(row["recall10"] for row in rows),
        beside="what --budget prints: of hits with no room for their text, place and signature",
    )


def breakdown(rows: Sequence[Row]) -> list[Figure]:
    """NDCG@10 by category and by language."""
    summary = data.scorer().aggregate(list(rows))
    categories = {
        f"{name} questions": scores["ndcg10_macro"] for name, scores in summary["by_category"].items()
    }
    languages = {name: scores["ndcg10"] for name, scores in summary["by_language"].items()}
    return [Figure(f"NDCG@10, {name}", value) for name, value in (categories | languages).items()]
