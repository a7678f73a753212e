"""Content of evaluation reports: sentences and table rows of metrics, comparisons and problems, without a format."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from dowse.evaluation.eval_types import Comparison, Difference, Estimate, Evaluation, Leaks, Outcome, Run
from dowse.interfaces.text_layout import format_count

RANK_BINS = (("1", 1, 1), ("2", 2, 2), ("3", 3, 3), ("4-5", 4, 5), ("6-10", 6, 10), ("11+", 11, 10**9))
"""Bins of the histogram of first ranks: name, lowest rank, highest rank."""

NOT_FOUND = "not found"


class TableRow(NamedTuple):
    """A row of a table: its name and its cells."""

    name: str
    cells: tuple[str, ...]


def title(evaluation: Evaluation) -> str:
    """Return the title: which tree was measured."""
    return f"Search quality of {evaluation.root}"


def introduction(evaluation: Evaluation) -> str:
    """Say what was measured on what: queries, files, depth, version, time."""
    queries = len(evaluation.runs[0].outcomes) if evaluation.runs else 0
    made = evaluation.made[:16].replace("T", " ")
    return (
        f"{format_count(queries, 'query', 'queries')} from {evaluation.truth} "
        f"against {format_count(evaluation.files, 'indexed file')}; "
        f"up to {evaluation.depth} results each; dowse {evaluation.version}, {made} UTC"
    )


def describe_leaks(leaks: Leaks) -> str:
    """Say how many queries give their answers away."""
    total = leaks.queries or 1
    return (
        f"{leaks.named} of {leaks.queries} queries ({leaks.named / total:.0%}) name a file that answers them, "
        f"{leaks.hinted} ({leaks.hinted / total:.0%}) share a word with its name"
    )


def format_estimate(estimate: Estimate) -> str:
    """Format a mean with its interval: ``0.812 [0.771, 0.850]``."""
    return f"{estimate.mean:.3f} [{estimate.low:.3f}, {estimate.high:.3f}]"


def format_difference(difference: Difference) -> str:
    """Format a difference with its interval: ``+0.012 [-0.003, +0.030]``."""
    return f"{difference.mean:+.3f} [{difference.low:+.3f}, {difference.high:+.3f}]"


def overall_rows(evaluation: Evaluation) -> list[TableRow]:
    """Return a row for each metric, with a column for each run."""
    rows = []
    for name in evaluation.metrics:
        if any(name in run.summary.overall for run in evaluation.runs):
            cells = (_format_cell(run, name) for run in evaluation.runs)
            rows.append(TableRow(name, tuple(cells)))
    return rows


def _format_cell(run: Run, name: str) -> str:
    estimate = run.summary.overall.get(name)
    return format_estimate(estimate) if estimate else "-"


def cost_rows(run: Run) -> list[tuple[str, str]]:
    """Return what answers cost in time and tokens, as names and values."""
    summary = run.summary
    rows = [
        (
            "time of a search",
            f"{summary.latency_p50:.1f} ms median, {summary.latency_p95:.1f} ms 95th percentile",
        )
    ]
    if summary.whole_tokens:
        share = summary.tokens / summary.whole_tokens
        rows.append(
            (
                "tokens of ten results",
                f"{summary.tokens:,.0f} on average; the files they are in have {summary.whole_tokens:,.0f} "
                f"({share:.0%})",
            )
        )
    return rows


def category_rows(run: Run, names: Sequence[str]) -> list[TableRow]:
    """Return a row for each category, with a column for each metric."""
    rows = []
    for category, estimates in run.summary.categories.items():
        queries = max((estimate.queries for estimate in estimates.values()), default=0)
        cells = (format_estimate(estimates[name]) if name in estimates else "-" for name in names)
        rows.append(TableRow(category, (str(queries), *cells)))
    return rows


def first_rank(outcome: Outcome) -> int:
    """Return the rank of the first relevant result; 0 if there is none."""
    return min((rank for rank in outcome.ranks if rank), default=0)


def rank_histogram(run: Run) -> list[tuple[str, int]]:
    """Count the queries by the rank of their first relevant result."""
    ranks = [first_rank(outcome) for outcome in run.outcomes]
    bins = [(name, sum(low <= rank <= high for rank in ranks)) for name, low, high in RANK_BINS]
    return [*bins, (NOT_FOUND, ranks.count(0))]


def format_rank(outcome: Outcome) -> str:
    """Format the first rank: ``3``, or that nothing was found."""
    rank = first_rank(outcome)
    return str(rank) if rank else NOT_FOUND


def worst_outcomes(run: Run, headline: str, limit: int) -> list[Outcome]:
    """Return the queries with the lowest headline metric, those without any flaw excluded."""
    scored = [outcome for outcome in run.outcomes if outcome.values.get(headline, 0.0) < 1.0 - 1e-9]
    return sorted(scored, key=lambda o: (o.values.get(headline, 0.0), o.id))[:limit]


def list_problems(evaluation: Evaluation) -> Iterator[str]:
    """List what makes the figures less reliable than they seem."""
    yield from evaluation.notes
    for run in evaluation.runs[:1]:
        missing = [outcome for outcome in run.outcomes if outcome.missing]
        if missing:
            example = missing[0].missing[0]
            yield (
                f"{len(missing)} of {len(run.outcomes)} queries have answers that are not in the index "
                f"(such as {example}): they count as not found"
            )
        silent = sum(not outcome.found and not outcome.error for outcome in run.outcomes)
        if silent:
            yield f"{silent} of {len(run.outcomes)} queries got no result at all: nothing found was good enough"
        failed = [outcome for outcome in run.outcomes if outcome.error]
        if failed:
            example = f"{failed[0].id}: {failed[0].error}"
            yield f"{len(failed)} of {len(run.outcomes)} queries could not be asked (such as {example})"


def comparison_title(comparison: Comparison) -> str:
    """Return the title of a comparison: which runs are compared."""
    return f"{comparison.after} against {comparison.before}"


def conclusion(comparison: Comparison) -> str:
    """Say how the headline metric changed."""
    headline = comparison.differences[comparison.headline]
    return (
        f"{comparison.headline} {format_difference(headline)}: {headline.verdict}; "
        f"{len(comparison.improved)} queries improved, {len(comparison.regressed)} regressed, "
        f"{headline.same} unchanged"
    )


def difference_rows(comparison: Comparison) -> list[TableRow]:
    """Return a row for each metric: its difference, queries gained and lost, the verdict."""
    return [
        TableRow(
            name,
            (format_difference(found), str(found.better), str(found.worse), str(found.same), found.verdict),
        )
        for name, found in comparison.differences.items()
    ]
