"""An evaluation as plain lines."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from dowse.evaluation.eval_types import Change, Comparison, Evaluation
from dowse.interfaces.render import table
from dowse.interfaces.reports import content
from dowse.interfaces.theme import Paint, plain, visible

QUERY = 70
"""Characters of a question in a table."""

CATEGORY_METRICS = 3
"""Metrics that are shown by category: more do not fit on a terminal."""


def text(evaluation: Evaluation, worst: int = 10, paint: Paint = plain) -> str:
    """The whole report."""
    blocks = ["\n".join(_head(evaluation, paint)), _overall(evaluation)]
    if evaluation.runs and evaluation.runs[0].summary.categories:
        blocks.append(_categories(evaluation))
    blocks += [comparison(one, paint) for one in evaluation.comparisons]
    if worst and (listed := _worst(evaluation, worst)):
        blocks.append(listed)
    return "\n\n".join(block for block in blocks if block)


def _head(evaluation: Evaluation, paint: Paint) -> Iterator[str]:
    yield paint(visible(content.title(evaluation)), "entity")
    yield visible(content.introduction(evaluation))
    yield f"leak check: {content.leak_check(evaluation.leaks)}"
    for problem in content.problems(evaluation):
        yield paint(visible(f"note: {problem}"), "warning")


def _overall(evaluation: Evaluation) -> str:
    names = [visible(run.variant.name) for run in evaluation.runs]
    rows = [("METRIC", *names), *((row.name, *row.cells) for row in content.overall(evaluation))]
    lines = [table(rows)]
    for run in evaluation.runs:
        label = f" ({visible(run.variant.name)})" if len(evaluation.runs) > 1 else ""
        lines += [f"{name}{label}: {value}" for name, value in content.costs(run)]
    return "\n".join(lines)


def _categories(evaluation: Evaluation) -> str:
    run = evaluation.runs[0]
    names = [name for name in evaluation.metrics if name in run.summary.overall][:CATEGORY_METRICS]
    rows = [("CATEGORY", "N", *names)]
    rows += [(visible(row.name), *row.cells) for row in content.categories(run, names)]
    return table(rows)


def comparison(one: Comparison, paint: Paint = plain) -> str:
    """Two runs beside each other."""
    role = {"better": "good", "worse": "bad"}.get(one.differences[one.headline].verdict, "faint")
    lines = [paint(visible(content.comparison_title(one)), "entity"), paint(content.conclusion(one), role)]
    if any(difference.better or difference.worse for difference in one.differences.values()):
        head = ("METRIC", "DIFFERENCE", "BETTER", "WORSE", "SAME", "VERDICT")
        lines.append(table([head, *((row.name, *row.cells) for row in content.differences(one))]))
    lines += _changes("improved", one.improved, one.headline)
    lines += _changes("regressed", one.regressed, one.headline)
    return "\n".join(lines)


def _changes(name: str, changes: Sequence[Change], headline: str, limit: int = 20) -> list[str]:
    if not changes:
        return []
    rows = [(f"  {c.before:.3f} -> {c.after:.3f}", visible(c.id), _short(c.query)) for c in changes[:limit]]
    more = [f"  ... and {len(changes) - limit} more (all with --json)"] if len(changes) > limit else []
    return [f"{name} by {headline}:", table(rows), *more]


def _worst(evaluation: Evaluation, limit: int) -> str:
    run, headline = evaluation.runs[0], evaluation.metrics[0]
    rows = [("RANK", "QUESTION", "ANSWER", "FIRST RESULT")]
    for outcome in content.worst(run, headline, limit):
        answer = visible(outcome.relevant[0]) + (
            f" +{len(outcome.relevant) - 1}" if outcome.relevant[1:] else ""
        )
        first = visible(outcome.found[0]) if outcome.found else "-"
        rows.append((content.rank_words(outcome), _short(outcome.query), answer, first))
    return f"answered worst, by {headline}:\n{table(rows)}" if len(rows) > 1 else ""


def _short(query: str) -> str:
    line = visible(" ".join(query.split()))
    return line if len(line) <= QUERY else f"{line[: QUERY - 3]}..."
