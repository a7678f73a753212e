"""Markdown evaluation report, for a pull request or a wiki."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from dowse.evaluation.eval_types import Comparison, Evaluation, QueryChange
from dowse.interfaces.reports import content
from dowse.interfaces.theme import escape_text

MAX_LISTED = 20
"""Queries in each list."""

_ESCAPES = str.maketrans({c: f"\\{c}" for c in "\\`*_[]<>|#"})


def render_markdown(evaluation: Evaluation) -> str:
    """Render the whole report as Markdown."""
    return "\n".join(_lines(evaluation)) + "\n"


def _lines(evaluation: Evaluation) -> Iterator[str]:
    yield f"# {_escape(content.title(evaluation))}"
    yield ""
    yield _escape(content.introduction(evaluation)) + "."
    yield ""
    yield f"Leak check: {content.describe_leaks(evaluation.leaks)}."
    for problem in content.list_problems(evaluation):
        yield f"\n> {_escape(problem)}"
    names = [_escape(run.variant.name) for run in evaluation.runs]
    yield ""
    yield from _table(
        ["metric", *names], ((row.name, *row.cells) for row in content.overall_rows(evaluation))
    )
    yield "\nIn brackets: the 95 % interval by bootstrap over the queries."
    for run in evaluation.runs:
        yield ""
        yield from (
            f"- {_escape(run.variant.name)}, {name}: {value}" for name, value in content.cost_rows(run)
        )
    yield from _categories(evaluation)
    for comparison in evaluation.comparisons:
        yield from _comparison(comparison)
    yield from _worst_queries(evaluation)


def _categories(evaluation: Evaluation) -> Iterator[str]:
    if not evaluation.runs or not evaluation.runs[0].summary.categories:
        return
    run = evaluation.runs[0]
    names = [name for name in evaluation.metrics if name in run.summary.overall]
    yield "\n## By category\n"
    yield from _table(
        ["category", "queries", *names],
        ((_escape(row.name), *row.cells) for row in content.category_rows(run, names)),
    )


def _comparison(comparison: Comparison) -> Iterator[str]:
    yield f"\n## {_escape(content.comparison_title(comparison))}\n"
    yield f"{content.conclusion(comparison)}.\n"
    yield from _table(
        ["metric", "difference", "better", "worse", "same", "verdict"],
        ((row.name, *row.cells) for row in content.difference_rows(comparison)),
    )
    for name, changes in (("Improved", comparison.improved), ("Regressed", comparison.regressed)):
        yield from _changes(name, changes)


def _changes(name: str, changes: Sequence[QueryChange]) -> Iterator[str]:
    if changes:
        yield f"\n### {name}\n"
        rows = (
            (f"{c.before:.3f}", f"{c.after:.3f}", _escape(c.query), _escape(", ".join(c.added)))
            for c in changes
        )
        yield from _table(["before", "after", "query", "added terms"], list(rows)[:MAX_LISTED])


def _worst_queries(evaluation: Evaluation) -> Iterator[str]:
    if not evaluation.runs:
        return
    worst = content.worst_outcomes(evaluation.runs[0], evaluation.metrics[0], MAX_LISTED)
    if worst:
        yield "\n## Answered worst\n"
        rows = ((content.format_rank(o), _escape(o.query), _escape(", ".join(o.relevant))) for o in worst)
        yield from _table(["rank", "query", "answers"], rows)


def _table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> Iterator[str]:
    yield f"| {' | '.join(head)} |"
    yield f"|{'---|' * len(head)}"
    for row in rows:
        yield f"| {' | '.join(row)} |"


def _escape(text: str) -> str:
    """Escape text so that Markdown leaves it alone."""
    return escape_text(" ".join(text.split())).translate(_ESCAPES)
