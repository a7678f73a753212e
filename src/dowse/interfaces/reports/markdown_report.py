"""An evaluation as Markdown: for a pull request or a wiki."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from dowse.evaluation.eval_types import Change, Comparison, Evaluation
from dowse.interfaces.reports import content
from dowse.interfaces.theme import visible

LISTED = 20
"""Questions of a kind that are listed."""

_SPECIAL = str.maketrans({c: f"\\{c}" for c in "\\`*_[]<>|#"})


def text(evaluation: Evaluation) -> str:
    """The whole report."""
    return "\n".join(_lines(evaluation)) + "\n"


def _lines(evaluation: Evaluation) -> Iterator[str]:
    yield f"# {_plain(content.title(evaluation))}"
    yield ""
    yield _plain(content.introduction(evaluation)) + "."
    yield ""
    yield f"Leak check: {content.leak_check(evaluation.leaks)}."
    for problem in content.problems(evaluation):
        yield f"\n> {_plain(problem)}"
    names = [_plain(run.variant.name) for run in evaluation.runs]
    yield ""
    yield from _table(["metric", *names], ((row.name, *row.cells) for row in content.overall(evaluation)))
    yield "\nIn brackets: the 95 % interval by bootstrap over the questions."
    for run in evaluation.runs:
        yield ""
        yield from (f"- {_plain(run.variant.name)}, {name}: {value}" for name, value in content.costs(run))
    yield from _categories(evaluation)
    for comparison in evaluation.comparisons:
        yield from _comparison(comparison)
    yield from _worst(evaluation)


def _categories(evaluation: Evaluation) -> Iterator[str]:
    if not evaluation.runs or not evaluation.runs[0].summary.categories:
        return
    run = evaluation.runs[0]
    names = [name for name in evaluation.metrics if name in run.summary.overall]
    yield "\n## By category\n"
    yield from _table(
        ["category", "questions", *names],
        ((_plain(row.name), *row.cells) for row in content.categories(run, names)),
    )


def _comparison(comparison: Comparison) -> Iterator[str]:
    yield f"\n## {_plain(content.comparison_title(comparison))}\n"
    yield f"{content.conclusion(comparison)}.\n"
    yield from _table(
        ["metric", "difference", "better", "worse", "same", "verdict"],
        ((row.name, *row.cells) for row in content.differences(comparison)),
    )
    for name, changes in (("Improved", comparison.improved), ("Regressed", comparison.regressed)):
        yield from _changes(name, changes)


def _changes(name: str, changes: Sequence[Change]) -> Iterator[str]:
    if changes:
        yield f"\n### {name}\n"
        rows = (
            (f"{c.before:.3f}", f"{c.after:.3f}", _plain(c.query), _plain(", ".join(c.added)))
            for c in changes
        )
        yield from _table(["before", "after", "question", "added terms"], list(rows)[:LISTED])


def _worst(evaluation: Evaluation) -> Iterator[str]:
    if not evaluation.runs:
        return
    found = content.worst(evaluation.runs[0], evaluation.metrics[0], LISTED)
    if found:
        yield "\n## Answered worst\n"
        rows = ((content.rank_words(o), _plain(o.query), _plain(", ".join(o.relevant))) for o in found)
        yield from _table(["rank", "question", "answers"], rows)


def _table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> Iterator[str]:
    yield f"| {' | '.join(head)} |"
    yield f"|{'---|' * len(head)}"
    for row in rows:
        yield f"| {' | '.join(row)} |"


def _plain(text: str) -> str:
    """Text that Markdown leaves alone."""
    return visible(" ".join(text.split())).translate(_SPECIAL)
