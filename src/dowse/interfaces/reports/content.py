"""What every report says of an evaluation, in words and rows; the other modules give it a look."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from dowse.evaluation.eval_types import Comparison, Difference, Estimate, Evaluation, Leaks, Outcome, Run
from dowse.interfaces.render import count

RANKS = (("1", 1, 1), ("2", 2, 2), ("3", 3, 3), ("4-5", 4, 5), ("6-10", 6, 10), ("11+", 11, 10**9))
"""Bins for the rank of the first right result."""

NOT_FOUND = "not found"


class Said(NamedTuple):
    """A row of a table: its name and its cells."""

    name: str
    cells: tuple[str, ...]


def title(evaluation: Evaluation) -> str:
    """What this is about."""
    return f"Search quality of {evaluation.root}"


def introduction(evaluation: Evaluation) -> str:
    """What was measured on what."""
    asked = len(evaluation.runs[0].outcomes) if evaluation.runs else 0
    made = evaluation.made[:16].replace("T", " ")
    return (
        f"{count(asked, 'question')} from {evaluation.truth} against {count(evaluation.files, 'indexed file')}; "
        f"up to {evaluation.depth} results each; dowse {evaluation.version}, {made} UTC"
    )


def leak_check(leaks: Leaks) -> str:
    """Whether the questions give the answers away."""
    total = leaks.questions or 1
    return (
        f"{leaks.named} of {leaks.questions} questions ({leaks.named / total:.0%}) name a file that answers them, "
        f"{leaks.hinted} ({leaks.hinted / total:.0%}) share a word with its name"
    )


def figure(estimate: Estimate) -> str:
    """``0.812 [0.771, 0.850]``."""
    return f"{estimate.mean:.3f} [{estimate.low:.3f}, {estimate.high:.3f}]"


def change(difference: Difference) -> str:
    """``+0.012 [-0.003, +0.030]``."""
    return f"{difference.mean:+.3f} [{difference.low:+.3f}, {difference.high:+.3f}]"


def overall(evaluation: Evaluation) -> list[Said]:
    """Each metric, one column per run."""
    found = []
    for name in evaluation.metrics:
        if any(name in run.summary.overall for run in evaluation.runs):
            cells = (_cell(run, name) for run in evaluation.runs)
            found.append(Said(name, tuple(cells)))
    return found


def _cell(run: Run, name: str) -> str:
    estimate = run.summary.overall.get(name)
    return figure(estimate) if estimate else "-"


def costs(run: Run) -> list[tuple[str, str]]:
    """What answers cost in time and tokens."""
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


def categories(run: Run, names: Sequence[str]) -> list[Said]:
    """Each category, one column per metric."""
    found = []
    for category, estimates in run.summary.categories.items():
        questions = max((estimate.questions for estimate in estimates.values()), default=0)
        cells = (figure(estimates[name]) if name in estimates else "-" for name in names)
        found.append(Said(category, (str(questions), *cells)))
    return found


def first_rank(outcome: Outcome) -> int:
    """The rank of the first right result; 0 if there is none."""
    return min((rank for rank in outcome.ranks if rank), default=0)


def rank_histogram(run: Run) -> list[tuple[str, int]]:
    """How many questions have their first right result at which rank."""
    ranks = [first_rank(outcome) for outcome in run.outcomes]
    bins = [(name, sum(low <= rank <= high for rank in ranks)) for name, low, high in RANKS]
    return [*bins, (NOT_FOUND, ranks.count(0))]


def rank_words(outcome: Outcome) -> str:
    """``3``, or that nothing was found."""
    rank = first_rank(outcome)
    return str(rank) if rank else NOT_FOUND


def worst(run: Run, headline: str, limit: int) -> list[Outcome]:
    """The questions that were answered worst."""
    scored = [outcome for outcome in run.outcomes if outcome.values.get(headline, 0.0) < 1.0 - 1e-9]
    return sorted(scored, key=lambda o: (o.values.get(headline, 0.0), o.id))[:limit]


def problems(evaluation: Evaluation) -> Iterator[str]:
    """What makes the figures less than they seem."""
    yield from evaluation.notes
    for run in evaluation.runs[:1]:
        missing = [outcome for outcome in run.outcomes if outcome.missing]
        if missing:
            example = missing[0].missing[0]
            yield (
                f"{len(missing)} of {len(run.outcomes)} questions have answers that are not in the index "
                f"(such as {example}): they count as not found"
            )
        silent = sum(not outcome.found and not outcome.error for outcome in run.outcomes)
        if silent:
            yield f"{silent} of {len(run.outcomes)} questions got no result at all: nothing found was good enough"
        failed = [outcome for outcome in run.outcomes if outcome.error]
        if failed:
            example = f"{failed[0].id}: {failed[0].error}"
            yield f"{len(failed)} of {len(run.outcomes)} questions could not be asked (such as {example})"


def comparison_title(comparison: Comparison) -> str:
    """Which runs are compared."""
    return f"{comparison.after} against {comparison.before}"


def conclusion(comparison: Comparison) -> str:
    """What can be said of the headline metric."""
    found = comparison.differences[comparison.headline]
    return (
        f"{comparison.headline} {change(found)}: {found.verdict}; {len(comparison.improved)} questions improved, "
        f"{len(comparison.regressed)} regressed, {found.same} unchanged"
    )


def differences(comparison: Comparison) -> list[Said]:
    """Each metric with its difference, who gained and lost, and the verdict."""
    return [
        Said(name, (change(found), str(found.better), str(found.worse), str(found.same), found.verdict))
        for name, found in comparison.differences.items()
    ]
