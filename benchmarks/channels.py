"""What words, what meaning and what both find: every question set with one channel alone, and with everything.

"Words" is BM25 over the fields of a chunk, "meaning" the built-in model; both alone are without names, file names and
signals, so that they say what a channel is worth by itself. The list is of chunks, as a channel ranks them.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from benchmarks import quality
from benchmarks.bench_types import Outcome, Row
from benchmarks.sets import SETS, QuestionSet
from dowse.settings import SIGNALS

ALONE = {"name_weight": 0.0, "file_weight": 0.0, "disabled_signals": list(SIGNALS)}

VARIANTS: Mapping[str, Mapping[str, Any]] = {
    "words alone": {**ALONE, "hybrid": "off"},
    "meaning alone": {**ALONE, "hybrid": "on", "lexical_weight": 0.0},
    "both, no rules": {**ALONE, "hybrid": "on"},
    "everything but meaning": {"hybrid": "off"},
    "everything": {},
}
"""All on the same index."""

BASE = "everything but meaning"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Takes ``--set``, like quality."""


def run(args: argparse.Namespace) -> Iterator[Outcome]:
    """Each set."""
    for name in args.sets or SETS:
        question_set = SETS[name]
        rows = quality.ask(question_set, quality.ENGINE, VARIANTS, {})
        compared = {v: quality.compared_with(question_set, rows[BASE], rows[v]) for v in VARIANTS}
        yield Outcome(
            name=f"channels-{name}",
            title=f"One channel alone, and all: {question_set.title}",
            figures=[quality.variant_figure(question_set, v, rows[v], compared[v]) for v in VARIANTS],
            notes=(
                f"in brackets: the mean difference to '{BASE}' by question, its 95 % interval, and how many "
                "questions are better and worse",
            ),
            details={"breakdown": {v: _breakdown(question_set, rows[v]) for v in VARIANTS}},
        )


def _breakdown(question_set: QuestionSet, rows: Sequence[Row]) -> dict[str, float]:
    return {figure.name: round(figure.value, 4) for figure in question_set.breakdown(rows)}
