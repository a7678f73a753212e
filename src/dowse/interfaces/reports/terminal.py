"""Plain-text evaluation report for a terminal."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from dowse.evaluation.eval_types import Comparison, Evaluation, QueryChange
from dowse.interfaces.reports import content
from dowse.interfaces.text_layout import format_table
from dowse.interfaces.theme import Paint, escape_text, plain

MAX_QUERY_LENGTH = 70
"""Characters of a query in a table."""

MAX_CATEGORY_METRICS = 3
"""Metrics that are shown by category: more do not fit on a terminal."""


def render_terminal(evaluation: Evaluation, worst: int = 10, paint: Paint = plain) -> str:
    """Render the whole report as plain lines."""
    blocks = ["\n".join(_head(evaluation, paint)), _overall(evaluation)]
    if evaluation.runs and evaluation.runs[0].summary.categories:
        blocks.append(_categories(evaluation))
    blocks += [render_comparison(comparison, paint) for comparison in evaluation.comparisons]
    if worst and (listed := _worst_queries(evaluation, worst)):
        blocks.append(listed)
    return "\n\n".join(block for block in blocks if block)


def _head(evaluation: Evaluation, paint: Paint) -> Iterator[str]:
    yield paint(escape_text(content.title(evaluation)), "entity")
    yield escape_text(content.introduction(evaluation))
    yield f"leak check: {content.describe_leaks(evaluation.leaks)}"
    for problem in content.list_problems(evaluation):
        yield paint(escape_text(f"note: {problem}"), "warning")


def _overall(evaluation: Evaluation) -> str:
    names = [escape_text(run.variant.name) for run in evaluation.runs]
    rows = [("METRIC", *names), *((row.name, *row.cells) for row in content.overall_rows(evaluation))]
    lines = [format_table(rows)]
    for run in evaluation.runs:
        label = f" ({escape_text(run.variant.name)})" if len(evaluation.runs) > 1 else ""
        lines += [f"{name}{label}: {value}" for name, value in content.cost_rows(run)]
    return "\n".join(lines)


def _categories(evaluation: Evaluation) -> str:
    run = evaluation.runs[0]
    names = [name for name in evaluation.metrics if name in run.summary.overall][:MAX_CATEGORY_METRICS]
    rows = [("CATEGORY", "N", *names)]
    rows += [(escape_text(row.name), *row.cells) for row in content.category_rows(run, names)]
    return format_table(rows)


def render_comparison(comparison: Comparison, paint: Paint = plain) -> str:
    """Render the difference between two runs."""
    role = {"better": "good", "worse": "bad"}.get(
        comparison.differences[comparison.headline].verdict, "faint"
    )
    lines = [
        paint(escape_text(content.comparison_title(comparison)), "entity"),
        paint(content.conclusion(comparison), role),
    ]
    if any(difference.better or difference.worse for difference in comparison.differences.values()):
        head = ("METRIC", "DIFFERENCE", "BETTER", "WORSE", "SAME", "VERDICT")
        lines.append(
            format_table([head, *((row.name, *row.cells) for row in content.difference_rows(comparison))])
        )
    lines += _changes("improved", comparison.improved, comparison.headline)
    lines += _changes("regressed", comparison.regressed, comparison.headline)
    return "\n".join(lines)


def _changes(name: str, changes: Sequence[QueryChange], headline: str, limit: int = 20) -> list[str]:
    if not changes:
        return []
    rows = [
        (f"  {c.before:.3f} -> {c.after:.3f}", escape_text(c.id), _shorten(c.query)) for c in changes[:limit]
    ]
    more = [f"  ... and {len(changes) - limit} more (all with --json)"] if len(changes) > limit else []
    return [f"{name} by {headline}:", format_table(rows), *more]


def _worst_queries(evaluation: Evaluation, limit: int) -> str:
    run, headline = evaluation.runs[0], evaluation.metrics[0]
    rows = [("RANK", "QUERY", "ANSWER", "FIRST RESULT")]
    for outcome in content.worst_outcomes(run, headline, limit):
        answer = escape_text(outcome.relevant[0]) + (
            f" +{len(outcome.relevant) - 1}" if outcome.relevant[1:] else ""
        )
        first = escape_text(outcome.found[0]) if outcome.found else "-"
        rows.append((content.format_rank(outcome), _shorten(outcome.query), answer, first))
    return f"answered worst, by {headline}:\n{format_table(rows)}" if len(rows) > 1 else ""


def _shorten(query: str) -> str:
    line = escape_text(" ".join(query.split()))
    return line if len(line) <= MAX_QUERY_LENGTH else f"{line[: MAX_QUERY_LENGTH - 3]}..."
