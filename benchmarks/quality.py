"""Search quality: every query set, per query and in total.

``--set`` picks a set, ``--tag`` saves its rows under a name, ``--compare`` shows the difference to saved rows,
 ``--setting`` overrides a setting of dowse, ``--ablate`` switches groups of features and channels off in turn.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from benchmarks import data
from benchmarks.bench_types import Figure, Outcome, Row, Target, at_least
from benchmarks.engine_process import EngineProcess
from benchmarks.results import RUNS
from benchmarks.sets import SETS, QuerySet, repositories
from dowse.settings import ENVIRONMENT_PREFIX, FEATURE_GROUPS, Settings

ABLATED_SETS = ("repositories", "swe-qa")
"""One set with many languages, one whose queries avoid the words of file names."""

ABLATION_FIGURES = 4
"""Number of figures shown for each set: the headline and what could suffer for it."""

CHANNELS_OFF: Mapping[str, dict[str, Any]] = {
    "names": {"name_weight": 0.0},
    "files": {"file_weight": 0.0},
    "dense": {"dense_weight": 0.0},
}

ALTERNATIVE_SETTINGS: Mapping[str, dict[str, Any]] = {
    "fusion by rank": {"fusion": "rrf"},
    "fusion by z-score": {"fusion": "zscore"},
    "hybrid always": {"hybrid": "on"},
}
"""Alternatives that a setting can choose."""

TARGETS: Mapping[str, Mapping[str, Target]] = {
    "repositories": {
        "NDCG@10": at_least(0.88),
        "NDCG@10, symbol questions": at_least(0.97),
        "recall within 500 tokens": at_least(0.86),
        "recall within 1000 tokens": at_least(0.94),
        "recall within 2000 tokens": at_least(0.975),
    },
    "swe-qa": {
        "MRR": at_least(0.73),
        "hit@5": at_least(0.9),
        "hunk@5": at_least(0.48),
        "hunk@10": at_least(0.57),
    },
    "codegrapher": {
        "recall of edited files at 13 files, query terms": at_least(0.93),
        "recall of edited files at 13 files, description and query terms": at_least(0.95),
    },
    "locagent": {"MRR@10 of entities": at_least(0.85)},
}
"""Targets by set and figure name, without the tokenizer that some names have in brackets."""

ENGINE = "dowse"

Variants = Mapping[str, Mapping[str, Any]]
"""Settings by the name of what they change."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("quality")
    group.add_argument("--set", action="append", choices=list(SETS), dest="sets", help="only this query set")
    group.add_argument("--tag", default=ENGINE, help="name under which the rows are kept in results/runs")
    group.add_argument("--compare", metavar="TAG", help="compare with the rows of an earlier run")
    group.add_argument(
        "--setting", action="append", default=[], metavar="KEY=VALUE", help="override a setting"
    )
    group.add_argument(
        "--ablate", action="store_true", help="switch groups of features and channels off one at a time"
    )


def run(args: argparse.Namespace) -> Iterator[Outcome]:
    """Measure every chosen set, or ablate groups of features and channels."""
    environment = parse_overrides(args.setting)
    if args.ablate:
        return ablate(args.sets or ABLATED_SETS, environment)
    return measure_sets(args, environment)


def measure_sets(args: argparse.Namespace, environment: dict[str, str]) -> Iterator[Outcome]:
    """Measure each set with the current settings."""
    for name in args.sets or SETS:
        query_set = SETS[name]
        earlier = _read_rows(query_set, args.compare) if args.compare else None
        packed_variants = {f"within {budget}": {"budget": budget} for budget in query_set.budgets}
        rows_by_variant = run_variants(query_set, ENGINE, {"": {}, **packed_variants}, environment)
        rows = rows_by_variant[""]
        packed_figures = [
            repositories.make_packed_figure(budget, rows_by_variant[f"within {budget}"])
            for budget in query_set.budgets
        ]
        _write_rows(query_set, args.tag, rows)
        if earlier is not None:
            _show_comparison(query_set, earlier, rows)
        figures = [*query_set.figures(rows), *packed_figures, *query_set.breakdown(rows)]
        yield Outcome(
            name=f"quality-{name}",
            title=query_set.title,
            figures=[replace(f, target=TARGETS[name].get(f.name.partition(" (")[0])) for f in figures],
            notes=(f"{len(rows)} questions",),
            official=not environment,
        )


def run_variants(
    query_set: QuerySet, engine: str, variants: Variants, environment: dict[str, str]
) -> dict[str, list[Row]]:
    """Search with every variant and score the hits. Variants that leave the index alone share it."""
    rows: dict[str, list[Row]] = {name: [] for name in variants}
    with EngineProcess(engine, environment) as process:
        for tree in query_set.trees():
            print(f"{query_set.name}: {engine}: {tree.name}", file=sys.stderr)
            with tempfile.TemporaryDirectory(prefix="dowse-benchmark-", ignore_cleanup_errors=True) as folder:
                index_settings = {"index_dir": folder} if engine == ENGINE else {}
                for name, settings in variants.items():
                    process.index(tree.path, **index_settings, **settings)
                    answers = process.search([query.text for query in tree.queries], query_set.depth)
                    rows[name] += query_set.rows(tree, [answer.hits for answer in answers])
    return rows


def parse_overrides(given: Sequence[str]) -> dict[str, str]:
    """Turn ``key=value`` into the environment variables that dowse reads."""
    variables = {}
    for item in given:
        key, _, value = item.partition("=")
        if key not in Settings.__dataclass_fields__ or not value:
            raise data.MissingDataError(f"--setting {item}: not a setting and its value")
        variables[ENVIRONMENT_PREFIX + key.upper()] = value
    return variables


def ablate(names: Sequence[str], environment: dict[str, str]) -> Iterator[Outcome]:
    """Switch off each group of features and channel in turn; report the headline and its paired difference."""
    variants: Variants = {
        "everything": {},
        **{f"without {name}": {"disabled_features": [name]} for name in FEATURE_GROUPS},
        **{f"without channel {name}": settings for name, settings in CHANNELS_OFF.items()},
        "fusion by score": {"fusion": "scores"},
        "fusion by score, without dense": {"fusion": "scores", **CHANNELS_OFF["dense"]},
        **ALTERNATIVE_SETTINGS,
    }
    for name in names:
        query_set = SETS[name]
        rows = run_variants(query_set, ENGINE, variants, environment)
        table = {variant: compare_runs(query_set, rows["everything"], rows[variant]) for variant in variants}
        yield Outcome(
            name=f"ablation-{name}",
            title=f"Each group of features and channel off in turn: {query_set.title}",
            figures=[make_variant_figure(query_set, v, rows[v], table[v]) for v in variants],
            notes=(
                "in brackets: the mean difference to everything by question, its 95 % interval, and how many "
                "questions are better and worse",
            ),
            details={"compared": table},
            official=not environment,
        )


def make_variant_figure(
    query_set: QuerySet, variant: str, rows: Sequence[Row], comparison: Mapping[str, Any]
) -> Figure:
    """Make a figure of a variant's headline, beside it the difference and the next figures."""
    headline, *others = query_set.figures(rows)[:ABLATION_FIGURES]
    low, high = comparison["micro_ci95"]
    counts = f"+{comparison['better']} -{comparison['worse']}"
    difference = f"{comparison['micro_diff']:+.4f}, {low:+.4f} to {high:+.4f}, {counts}"
    beside = ", ".join(f"{figure.name} {figure.value:.3f}" for figure in others)
    return Figure(f"{headline.name}, {variant}", headline.value, beside=f"[{difference}] {beside}")


def compare_runs(query_set: QuerySet, before: Sequence[Row], after: Sequence[Row]) -> dict[str, Any]:
    """Compute the paired difference of two runs in the set's headline metric."""
    comparison: dict[str, Any] = data.load_scorer().compare(before, after, metric=query_set.headline)
    return comparison


def _show_comparison(query_set: QuerySet, earlier: Sequence[Row], rows: Sequence[Row]) -> None:
    print(f"{query_set.headline}, this run minus the earlier one, paired bootstrap:")
    print(json.dumps(compare_runs(query_set, earlier, rows), indent=1))


def _rows_file(query_set: QuerySet, tag: str) -> Path:
    return RUNS / f"{query_set.name}.{tag}.jsonl"


def _write_rows(query_set: QuerySet, tag: str, rows: Sequence[Row]) -> None:
    RUNS.mkdir(parents=True, exist_ok=True)
    text = "".join(json.dumps(row) + "\n" for row in rows)
    _rows_file(query_set, tag).write_text(text, encoding="utf-8")


def _read_rows(query_set: QuerySet, tag: str) -> list[Row]:
    path = _rows_file(query_set, tag)
    if not path.is_file():
        raise data.MissingDataError(
            f"there are no rows {path.name} in benchmarks/results/runs: run with --tag {tag}"
        )
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
