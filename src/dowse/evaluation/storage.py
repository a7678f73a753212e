"""Save and load evaluation results as JSON: what ``--json`` prints, ``--save`` writes and ``dowse eval diff`` reads."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

from dowse.errors import UsageError
from dowse.evaluation.eval_types import (
    Comparison,
    Estimate,
    Evaluation,
    Leaks,
    Outcome,
    Run,
    Summary,
    Variant,
)

SCHEMA = 2
"""Increased when a field is removed or changes its meaning, not when one is added."""

KIND = "dowse evaluation"


def evaluation_as_json(evaluation: Evaluation) -> dict[str, Any]:
    """Return an evaluation as JSON values, as docs/json.md describes it."""
    return {
        "schema": SCHEMA,
        "kind": KIND,
        "root": evaluation.root,
        "made": evaluation.made,
        "version": evaluation.version,
        "truth": evaluation.truth,
        "depth": evaluation.depth,
        "metrics": list(evaluation.metrics),
        "files": evaluation.files,
        "leaks": asdict(evaluation.leaks),
        "runs": [_run_as_json(run) for run in evaluation.runs],
        "comparisons": [comparison_as_json(comparison) for comparison in evaluation.comparisons],
        "notes": list(evaluation.notes),
    }


def save(evaluation: Evaluation, path: Path) -> None:
    """Save an evaluation to a file."""
    write_report(path, json.dumps(evaluation_as_json(evaluation), ensure_ascii=False, indent=1) + "\n")


def write_report(path: Path, text: str) -> None:
    """Write a report to a file; its folder is created if necessary."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    except OSError as error:
        raise UsageError(f"{path} cannot be written: {error}") from error


def load(path: Path) -> Evaluation:
    """Load a saved evaluation."""
    try:
        raw = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError) as error:
        raise UsageError(f"{path} cannot be read: {error}") from error
    if not isinstance(raw, dict) or raw.get("kind") != KIND:
        raise UsageError(f"{path} is not a saved evaluation: make one with 'dowse eval --save FILE'")
    if raw.get("schema") != SCHEMA:
        raise UsageError(f"{path} was saved by another version of dowse: run the evaluation again")
    try:
        return _parse_evaluation(raw)
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise UsageError(f"{path} is corrupt ({error!r}): run the evaluation again") from error


def _parse_evaluation(raw: Mapping[str, Any]) -> Evaluation:
    return Evaluation(
        root=raw["root"],
        made=raw["made"],
        version=raw["version"],
        truth=raw["truth"],
        depth=raw["depth"],
        metrics=tuple(raw["metrics"]),
        leaks=Leaks(**raw["leaks"]),
        files=raw["files"],
        runs=tuple(map(_parse_run, raw["runs"])),
        notes=tuple(raw["notes"]),
    )


def _run_as_json(run: Run) -> dict[str, Any]:
    summary = run.summary
    return {
        "name": run.variant.name,
        "settings": dict(run.variant.settings),
        "overall": _estimates_as_json(summary.overall),
        "categories": {name: _estimates_as_json(of) for name, of in summary.categories.items()},
        "latency_ms": {"p50": round(summary.latency_p50, 3), "p95": round(summary.latency_p95, 3)},
        "tokens": {"results": summary.tokens, "whole_files": summary.whole_tokens},
        "queries": [asdict(outcome) for outcome in run.outcomes],
    }


def _estimates_as_json(estimates: Mapping[str, Estimate]) -> dict[str, Any]:
    return {name: estimate._asdict() for name, estimate in estimates.items()}


def comparison_as_json(comparison: Comparison) -> dict[str, Any]:
    """Return a comparison as JSON values, as docs/json.md describes it."""
    return {
        "before": comparison.before,
        "after": comparison.after,
        "queries": comparison.queries,
        "headline": comparison.headline,
        "differences": {
            name: difference._asdict() | {"verdict": difference.verdict}
            for name, difference in comparison.differences.items()
        },
        "improved": [change._asdict() for change in comparison.improved],
        "regressed": [change._asdict() for change in comparison.regressed],
    }


def _parse_run(raw: Mapping[str, Any]) -> Run:
    tokens, latency = raw["tokens"], raw["latency_ms"]
    return Run(
        Variant(raw["name"], raw["settings"]),
        tuple(map(_parse_outcome, raw["queries"])),
        Summary(
            overall=_parse_estimates(raw["overall"]),
            categories={name: _parse_estimates(of) for name, of in raw["categories"].items()},
            latency_p50=latency["p50"],
            latency_p95=latency["p95"],
            tokens=tokens["results"],
            whole_tokens=tokens["whole_files"],
        ),
    )


def _parse_estimates(raw: Mapping[str, Any]) -> dict[str, Estimate]:
    return {name: Estimate(**of) for name, of in raw.items()}


def _parse_outcome(raw: Mapping[str, Any]) -> Outcome:
    listed: dict[str, Any] = {
        key: tuple(value) if isinstance(value, list) else value for key, value in raw.items()
    }
    return Outcome(**listed)
