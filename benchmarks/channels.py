"""Quality of single channels: every query set with keywords alone, with vectors alone, and with everything.

"Words" is BM25 over the fields of a chunk, "meaning" the built-in model; both alone are without names, file names and
ranking features, to show what a channel is worth by itself. Results are chunks, as the channel ranks them.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from benchmarks import quality
from benchmarks.bench_types import Outcome, Row
from benchmarks.sets import SETS, QuerySet

ONE_CHANNEL_SETTINGS = {"name_weight": 0.0, "file_weight": 0.0, "fusion": "scores"}

VARIANTS: Mapping[str, Mapping[str, Any]] = {
    "words alone": {**ONE_CHANNEL_SETTINGS, "hybrid": "off"},
    "meaning alone": {**ONE_CHANNEL_SETTINGS, "hybrid": "on", "lexical_weight": 0.0},
    "both, no rules": {**ONE_CHANNEL_SETTINGS, "hybrid": "on"},
    "everything but meaning": {"hybrid": "off"},
    "everything": {},
}
"""All on the same index."""

BASELINE = "everything but meaning"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add no options: ``--set`` of quality applies."""


def run(args: argparse.Namespace) -> Iterator[Outcome]:
    """Measure each set."""
    for name in args.sets or SETS:
        query_set = SETS[name]
        rows = quality.run_variants(query_set, quality.ENGINE, VARIANTS, {})
        comparison = {v: quality.compare_runs(query_set, rows[BASELINE], rows[v]) for v in VARIANTS}
        yield Outcome(
            name=f"channels-{name}",
            title=f"One channel alone, and all: {query_set.title}",
            figures=[quality.make_variant_figure(query_set, v, rows[v], comparison[v]) for v in VARIANTS],
            notes=(
                f"in brackets: the mean difference to '{BASELINE}' by question, its 95 % interval, and how many "
                "questions are better and worse",
            ),
            details={"breakdown": {v: _break_down(query_set, rows[v]) for v in VARIANTS}},
        )


def _break_down(query_set: QuerySet, rows: Sequence[Row]) -> dict[str, float]:
    return {figure.name: round(figure.value, 4) for figure in query_set.breakdown(rows)}
