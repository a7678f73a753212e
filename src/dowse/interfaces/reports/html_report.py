"""HTML evaluation report: one self-contained page with inline style and SVG charts, and no script.

``page.html`` is the template of the page; each section is a function here.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from html import escape
from pathlib import Path
from string import Template

from dowse.evaluation.eval_types import Comparison, Evaluation, Outcome, QueryChange, Run
from dowse.evaluation.metrics import TOKEN_BUDGETS
from dowse.interfaces.reports import charts, content
from dowse.interfaces.reports.charts import Bar

MAX_QUERY_ROWS = 2000
"""Queries in the table: more make a browser slow, and --json has them all."""

METRIC_GLOSSARY = (
    ("ndcg@k", "how near to the top the right places are, 1 = all of them first, in the first k results"),
    ("mrr", "1 / rank of the first right result, on average: 0.5 is what second place gives"),
    ("hit@k", "share of queries with a right result among the first k"),
    ("recall@k", "share of the right places that the first k results cover"),
    ("precision@k", "share of the first k results that are right"),
    ("file_recall@k", "as recall, of files: the lines do not matter"),
    ("span_recall@k", "as recall, of answers that are lines or definitions, not whole files"),
    ("token_recall@n", "as recall, of the results from the top that fit into n tokens"),
)
"""What each metric means, for readers who never saw one."""

_BREAK_POINTS = re.compile(r"[/:.](?=\w)")

FOLDER = Path(__file__).parent


def render_html(evaluation: Evaluation) -> str:
    """Render the whole report as one HTML page."""
    page = Template((FOLDER / "page.html").read_text(encoding="utf-8"))
    return page.substitute(
        title=escape(content.title(evaluation)),
        style=(FOLDER / "page.css").read_text(encoding="utf-8"),
        introduction=escape(content.introduction(evaluation)),
        leak_check=escape(content.describe_leaks(evaluation.leaks)),
        sections="\n".join(render_sections(evaluation)),
    )


def render_sections(evaluation: Evaluation) -> Iterator[str]:
    """Render the sections of the page, one after another."""
    yield from (f'<p class="note">{escape(problem)}</p>' for problem in content.list_problems(evaluation))
    if not evaluation.runs:
        return
    yield _tiles(evaluation)
    yield _overall(evaluation)
    yield from map(render_comparison, evaluation.comparisons)
    yield f'<div class="pair">{_ranks(evaluation)}{_tokens(evaluation)}</div>'
    yield _categories(evaluation)
    yield _query_table(evaluation)
    yield _metric_glossary()


def _tiles(evaluation: Evaluation) -> str:
    run = evaluation.runs[0]
    shown = [name for name in evaluation.metrics if name in run.summary.overall][:4]
    tiles = [(f"{run.summary.overall[name].mean:.3f}", name) for name in shown]
    tiles.append(
        (f"{run.summary.latency_p50:.1f} ms", f"median search, 95th {run.summary.latency_p95:.1f} ms")
    )
    if run.summary.whole_tokens:
        share = run.summary.tokens / run.summary.whole_tokens
        tiles.append((f"{share:.0%}", "of the tokens of whole files is what ten results cost"))
    inner = "".join(f'<div class="tile"><b>{escape(a)}</b><span>{escape(b)}</span></div>' for a, b in tiles)
    return f'<div class="tiles">{inner}</div>'


def _overall(evaluation: Evaluation) -> str:
    names = [run.variant.name for run in evaluation.runs]
    groups = []
    for metric in evaluation.metrics:
        found = [run.summary.overall.get(metric) for run in evaluation.runs]
        if any(found):
            groups.append(
                (metric, [Bar(e.mean, e.low, e.high, content.format_estimate(e)) for e in found if e])
            )
    return _card("Metrics, with 95 % intervals", charts.draw_legend(names) + charts.draw_bars(groups))


def _ranks(evaluation: Evaluation) -> str:
    per_run = [content.rank_histogram(run) for run in evaluation.runs]
    bins = [(row[0][0], [number for _, number in row]) for row in zip(*per_run, strict=True)]
    names = [run.variant.name for run in evaluation.runs]
    return _card("Rank of the first right result", charts.draw_legend(names) + charts.draw_columns(bins))


def _tokens(evaluation: Evaluation) -> str:
    lines = [_token_line(run) for run in evaluation.runs]
    names = [f"{budget:,}" for budget in TOKEN_BUDGETS]
    legend = charts.draw_legend([run.variant.name for run in evaluation.runs])
    return (
        _card("Recall within a budget of tokens", legend + charts.draw_curves(names, lines))
        if all(lines)
        else ""
    )


def _token_line(run: Run) -> list[float]:
    known = (run.summary.overall.get(f"token_recall@{budget}") for budget in TOKEN_BUDGETS)
    return [estimate.mean for estimate in known if estimate]


def _categories(evaluation: Evaluation) -> str:
    first = evaluation.runs[0]
    if len(first.summary.categories) < 2:
        return ""
    headline = evaluation.metrics[0]
    groups = []
    for category in first.summary.categories:
        found = [run.summary.categories.get(category, {}).get(headline) for run in evaluation.runs]
        count = max((e.queries for e in found if e), default=0)
        groups.append(
            (
                f"{category} ({count})",
                [Bar(e.mean, e.low, e.high, content.format_estimate(e)) for e in found if e],
            )
        )
    names = [run.variant.name for run in evaluation.runs]
    rows = content.category_rows(
        first, shown := [m for m in evaluation.metrics if m in first.summary.overall][:5]
    )
    head = ["category", "queries", *shown]
    table = _table(head, ((escape(row.name), *map(escape, row.cells)) for row in rows))
    return _card(f"{headline} by category", charts.draw_legend(names) + charts.draw_bars(groups) + table)


def render_comparison(comparison: Comparison) -> str:
    """Render how two runs differ."""
    found = comparison.differences
    look = {"better": "good", "worse": "bad"}.get(found[comparison.headline].verdict, "")
    parts = [f'<p class="{look}"><b>{escape(content.conclusion(comparison))}</b></p>']
    if any(difference.better or difference.worse for difference in found.values()):
        rows = [(name, Bar(d.mean, d.low, d.high, content.format_difference(d))) for name, d in found.items()]
        parts.append(charts.draw_forest(rows))
    for name, changes in (("Improved", comparison.improved), ("Regressed", comparison.regressed)):
        if changes:
            open_ = " open" if name == "Regressed" else ""
            inner = _changes(changes)
            parts.append(f"<details{open_}><summary>{name}: {len(changes)}</summary>{inner}</details>")
    return _card(content.comparison_title(comparison), "".join(parts))


def _changes(changes: Sequence[QueryChange]) -> str:
    """Render the queries that two runs answered differently, with the terms that were added to them."""
    enriched = any(change.added for change in changes)
    head = ["query", "before", "after", *(["added terms"] if enriched else [])]
    rows = (
        (
            escape(change.query),
            f"{change.before:.3f}",
            f"{change.after:.3f}",
            *([escape(", ".join(change.added))] if enriched else []),
        )
        for change in changes
    )
    return _table(head, rows)


def _query_table(evaluation: Evaluation) -> str:
    run = evaluation.runs[0]
    headline = evaluation.metrics[0]
    rows = "".join(_query_row(outcome, headline) for outcome in run.outcomes[:MAX_QUERY_ROWS])
    missed = sum(not content.first_rank(outcome) for outcome in run.outcomes)
    first = sum(content.first_rank(outcome) == 1 for outcome in run.outcomes)
    total = len(run.outcomes)
    choices = (
        ("all", f"all {total}"),
        ("low", f"not first: {total - first}"),
        ("missed", f"not found: {missed}"),
        ("found", f"found: {total - missed}"),
    )
    radios = "".join(
        f'<input type="radio" name="show" id="{id}"{" checked" if id == "all" else ""}> '
        f'<label for="{id}">{escape(label)}</label> '
        for id, label in choices
    )
    more = f'<p class="soft">The first {MAX_QUERY_ROWS} of {total}.</p>' if total > MAX_QUERY_ROWS else ""
    figures = f"<th class=n>rank</th><th class=n>{escape(headline)}</th>"
    head = f"<tr><th>query</th><th>category</th>{figures}<th>answers</th></tr>"
    label = f" ({run.variant.name})" if len(evaluation.runs) > 1 else ""
    return _card(f"Every query{label}", f'<div class="show">{radios}<table>{head}{rows}</table></div>{more}')


def _query_row(outcome: Outcome, headline: str) -> str:
    rank = content.first_rank(outcome)
    kind = " ".join(["found" if rank else "missed", *(["first"] if rank == 1 else [])])
    answers = "<br>".join(map(_place, outcome.relevant))
    items = "".join(
        f"<li{' class=right' if place in outcome.ranks else ''}><code>{escape(found)}</code></li>"
        for place, found in enumerate(outcome.found, 1)
    )
    enriched = f'<p class="soft">searched for: {escape(outcome.enriched)}</p>' if outcome.enriched else ""
    results = f"<details><summary>results</summary>{enriched}<ol>{items}</ol></details>" if items else ""
    tag = f'<span class="tag">{escape(outcome.category)}</span>' if outcome.category else ""
    shown = str(rank) if rank else '<span class="bad">-</span>'
    value = outcome.values.get(headline)
    figure = f"{value:.3f}" if value is not None else "-"
    return (
        f'<tr class="{kind}"><td class=q>{escape(outcome.query)}{results}</td><td>{tag}</td>'
        f"<td class=n>{shown}</td><td class=n>{figure}</td><td class=a>{answers}</td></tr>"
    )


def _place(place: str) -> str:
    """Render a place that a browser may break after its folders, its file and its classes."""
    broken = _BREAK_POINTS.sub(r"\g<0><wbr>", escape(place))
    return f"<code>{broken}</code>"


def _metric_glossary() -> str:
    rows = "".join(f"<dt>{escape(name)}</dt><dd>{escape(what)}</dd>" for name, what in METRIC_GLOSSARY)
    note = (
        '<p class="soft">An interval says where the mean would lie in 95 of 100 cases if other queries of the same '
        "kind had been asked. Two runs differ for sure only if the interval of their difference excludes 0.</p>"
    )
    return _card("What the figures mean", f"<dl>{rows}</dl>{note}")


def _card(title: str, inner: str) -> str:
    return f'<section class="card"><h2>{escape(title)}</h2>{inner}</section>'


def _table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Render a table whose cells are HTML already; the heads are text."""
    top = "".join(f"<th>{escape(cell)}</th>" for cell in head)
    body = "".join("<tr>" + "".join(f"<td>{cell}</td>" for cell in row) + "</tr>" for row in rows)
    return f"<table><tr>{top}</tr>{body}</table>"
