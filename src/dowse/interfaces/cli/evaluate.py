"""``dowse eval``: measure search quality on a repository (benchmark, ground truth, metrics), and compare runs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from dowse.errors import UsageError
from dowse.evaluation import dataset, metrics, mining, report, storage, variants
from dowse.evaluation.compare import compare
from dowse.evaluation.run import MAX_HITS, EvalPlan
from dowse.evaluation.run import evaluate as measure
from dowse.interfaces.cli import options, output
from dowse.interfaces.progress import progress_line
from dowse.interfaces.reports import html_report, markdown_report, terminal
from dowse.types.discovered import Skipped

if TYPE_CHECKING:
    from dowse.engine import Engine
    from dowse.evaluation.eval_types import Comparison, Dataset, Evaluation
    from dowse.evaluation.run import EvalPlan

BAR_MISSED = 1
"""Exit code if a metric is below its bar, or worse than before."""

DEFAULT_SUBCOMMAND = "run"
"""The subcommand that runs when the first word is not one."""

_FILE_PATH = click.Path(dir_okay=False, path_type=Path)
_EXISTING_FILE = click.Path(exists=True, dir_okay=False, path_type=Path)


class _GroupWithDefault(click.Group):
    """``dowse eval truth.jsonl`` is ``dowse eval run truth.jsonl``."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        if not args or args[0] not in (*self.commands, "-h", "--help"):
            args = [DEFAULT_SUBCOMMAND, *args]
        return super().parse_args(ctx, args)


@click.group(
    "eval", cls=_GroupWithDefault, options_metavar="", subcommand_metavar="[TRUTH] [OPTIONS] | diff A B"
)
def evaluate() -> None:
    """Measure how well search works on this repository.

    \b
      dowse eval truth.jsonl                     queries and answers from a file
      dowse eval --mine 200                      or from docstrings, names and git history
      dowse eval truth.jsonl --compare dense=off --compare term_graph=k8s.json
      dowse eval truth.jsonl --save a.json       and later: dowse eval diff a.json b.json

    'dowse eval run --help' lists the options; docs/evaluation.md has formats and definitions.
    """


@evaluate.command(DEFAULT_SUBCOMMAND)
@click.argument("truth", required=False, type=_EXISTING_FILE)
@click.option("--queries", type=_EXISTING_FILE, metavar="FILE", help="The queries that belong to TREC qrels.")
@click.option("--repo", default="", metavar="NAME", help="Of a file about several repositories, this one.")
@click.option(
    "--paths",
    type=click.Choice(["exact", "suffix"]),
    help="How paths in TRUTH match: as they are, or also if one is the end of the other.",
)
@click.option("--mine", type=click.IntRange(min=1), metavar="N", help="Make N queries from this repository.")
@click.option("--from", "sources", metavar="LIST", help="What to mine: docs, symbols, git (default: all).")
@click.option(
    "--seed", type=int, default=0, show_default=True, metavar="N", help="Seed of the random choice."
)
@click.option(
    "--out", type=_FILE_PATH, metavar="FILE", help="Where mined queries are kept (default: by its options)."
)
@click.option("--force", is_flag=True, help="Replace the file of mined queries.")
@click.option("--mine-only", is_flag=True, help="Only mine queries; measure nothing.")
@click.option(
    "--metrics", "names", metavar="LIST", help="Metrics to compute; the first is the headline metric."
)
@options.limit("Hits to ask for (default: 20)")
@click.option("--by-file", is_flag=True, help="Rank files: of each, only its best result counts.")
@click.option("--no-near", is_flag=True, help="Ignore the editor positions that queries came from.")
@click.option("--set", "assigned", multiple=True, metavar="SETTING=VALUE", help="Measure with this setting.")
@click.option(
    "--compare",
    "compared",
    multiple=True,
    metavar="SETTINGS",
    help="Also measure these settings, and compare (repeatable).",
)
@click.option("--baseline", type=_EXISTING_FILE, metavar="FILE", help="Compare with a saved evaluation.")
@click.option(
    "--fail-under",
    "bars",
    multiple=True,
    metavar="METRIC=X",
    help="Exit with 1 if the mean is lower (repeatable).",
)
@click.option(
    "--fail-on-regression", is_flag=True, help="Exit with 1 if the headline metric is significantly worse."
)
@click.option("--fail-on-any-regression", is_flag=True, help="Exit with 1 if any query is answered worse.")
@click.option(
    "--save", type=_FILE_PATH, metavar="FILE", help="Save the evaluation (JSON), to compare with it later."
)
@click.option("--html", type=_FILE_PATH, metavar="FILE", help="Write a page with charts.")
@click.option("--markdown", type=_FILE_PATH, metavar="FILE", help="Write the report as Markdown.")
@click.option("--worst", type=click.IntRange(min=0), default=10, show_default=True, help="Queries to list.")
@options.tree
@options.as_json
@options.color
@options.debug
def run(truth: Path | None, root: str | None, **flags: Any) -> int:
    """Run every query and measure the answers.

    TRUTH has one query per line with the places that answer it: JSON lines, CSV, or TREC qrels. Without it,
    --mine makes queries from docstrings (which are then hidden from the index that is measured), names, and
    git history (run on the tree before the commits), and saves them in a file.
    """
    if (truth is None) == (flags["mine"] is None):
        raise UsageError("give a file with queries and answers, or --mine N to make one (not both)")
    with options.open_engine(root, **options.pick_given(flags)) as engine:
        dataset = _mine_truth(engine, flags) if truth is None else _load_truth(truth, flags)
        if truth is not None:
            _warn_if_indexed(engine, truth)
        if flags["mine_only"]:
            return 0
        evaluation = _measure(engine, dataset, flags)
    _write_reports(evaluation, flags)
    return _check_bars(evaluation, flags)


@evaluate.command("diff")
@click.argument("before", type=_EXISTING_FILE)
@click.argument("after", type=_EXISTING_FILE)
@click.option(
    "--metrics", "names", metavar="LIST", help="Metrics to compare; the first is the headline metric."
)
@click.option(
    "--fail-on-regression", is_flag=True, help="Exit with 1 if the headline metric is significantly worse."
)
@click.option("--fail-on-any-regression", is_flag=True, help="Exit with 1 if any query is answered worse.")
@options.as_json
@options.color
@options.debug
def diff(before: Path, after: Path, **flags: Any) -> int:
    """Compare two saved evaluations, query by query.

    Compares the first run of each: that of the settings in force, not of those it was compared with.
    """
    first, second = storage.load(before), storage.load(after)
    names = _parse_metrics(flags["names"]) or second.metrics
    labels = _choose_labels(before, after)
    found = compare(first.runs[0], second.runs[0], names, labels)
    if flags["as_json"]:
        output.write_json({"schema": storage.SCHEMA, "comparison": storage.comparison_as_json(found)})
    else:
        output.write(terminal.render_comparison(found, output.make_view(flags["color"]).paint))
    return BAR_MISSED if _has_regressed([found], flags) else 0


def _choose_labels(before: Path, after: Path) -> tuple[str, str]:
    return (before.name, after.name) if before.name != after.name else (str(before), str(after))


def _parse_metrics(given: str | None) -> tuple[str, ...]:
    names = tuple(name.strip().lower() for name in (given or "").split(",") if name.strip())
    for name in names:
        metrics.parse_metric(name)
    return names


def _load_truth(truth: Path, flags: dict[str, Any]) -> Dataset:
    found = dataset.load(truth, queries=flags["queries"], repo=flags["repo"])
    return replace(found, suffix_paths=flags["paths"] == "suffix") if flags["paths"] else found


def _mine_truth(engine: Engine, flags: dict[str, Any]) -> Dataset:
    sources = mining.parse_sources(flags["sources"])
    with progress_line() as progress:
        found = mining.mine(engine, flags["mine"], sources, flags["seed"], progress)
    name = f"dowse-truth-{'-'.join(sources)}-{flags['mine']}-seed{flags['seed']}.jsonl"
    path = flags["out"] or Path(name)
    mining.write_queries(path, dataset.dump(found.queries), force=flags["force"])
    _warn_if_indexed(engine, path)
    output.remark(f"{len(found.queries)} queries are in {path}: edit and keep it, and measure again with it")
    for note in found.notes:
        output.remark(f"note: {note}")
    return found


def _warn_if_indexed(engine: Engine, truth: Path) -> None:
    """Warn if the file with the answers is itself indexed."""
    if not isinstance(engine.why(str(Path.cwd() / truth)), Skipped):
        output.remark(
            f"note: {truth} is searched too and gives its answers away: "
            "name it in .dowseignore, or begin its name with dowse-truth-"
        )


def _build_plan(flags: dict[str, Any]) -> EvalPlan:
    names = _parse_metrics(flags["names"]) or metrics.DEFAULT_METRICS
    names = tuple(dict.fromkeys([*names, *(name for name, _ in _parse_bars(flags))]))
    depth = flags["limit"] or max(MAX_HITS, metrics.count_required_hits(names))
    return EvalPlan(names, depth, flags["by_file"], use_cursor_file=not flags["no_near"])


def _parse_bars(flags: dict[str, Any]) -> list[tuple[str, float]]:
    bars = []
    for bar in flags["bars"]:
        name, _, value = bar.partition("=")
        try:
            bars.append((_parse_metrics(name)[0], float(value)))
        except (ValueError, IndexError):
            raise UsageError(f"--fail-under {bar}: write it like ndcg@10=0.8") from None
    return bars


def _measure(engine: Engine, dataset: Dataset, flags: dict[str, Any]) -> Evaluation:
    """Measure every variant, and compare them."""
    plan = _build_plan(flags)
    base = variants.parse(" ".join(flags["assigned"]), engine.settings)
    chosen = [variants.rename_variant(base, variants.BASE_NAME)]
    chosen += [
        variants.overlay_variant(base, variants.parse(text, engine.settings)) for text in flags["compared"]
    ]
    if len({variant.name for variant in chosen}) < len(chosen):
        raise UsageError("two --compare are the same: each needs settings of its own")
    earlier = storage.load(flags["baseline"]) if flags["baseline"] else None
    with progress_line() as progress:
        runs = measure(engine, dataset, chosen, plan, progress)
    return report.build_evaluation(engine, dataset, plan, runs, earlier, str(flags["baseline"] or ""))


def _write_reports(evaluation: Evaluation, flags: dict[str, Any]) -> None:
    """Write the reports; files first, so that a long run is not lost to a closed pipe."""
    if flags["save"]:
        storage.save(evaluation, flags["save"])
    if flags["html"]:
        storage.write_report(flags["html"], html_report.render_html(evaluation))
    if flags["markdown"]:
        storage.write_report(flags["markdown"], markdown_report.render_markdown(evaluation))
    if flags["as_json"]:
        output.write_json(storage.evaluation_as_json(evaluation))
    else:
        output.write(
            terminal.render_terminal(evaluation, flags["worst"], output.make_view(flags["color"]).paint)
        )


def _check_bars(evaluation: Evaluation, flags: dict[str, Any]) -> int:
    """Return the exit code: whether every bar was reached."""
    overall = evaluation.runs[0].summary.overall
    failed = _has_regressed(evaluation.comparisons, flags)
    for name, bar in _parse_bars(flags):
        if name not in overall:
            output.remark(f"{name} does not apply to any of these queries")
            failed = True
        elif overall[name].mean < bar:
            output.remark(f"{name} is {overall[name].mean:.4f}, below {bar:g}")
            failed = True
    return BAR_MISSED if failed else 0


def _has_regressed(comparisons: Sequence[Comparison], flags: dict[str, Any]) -> bool:
    failed = False
    for found in comparisons:
        what = f"{found.after} against {found.before}"
        if flags["fail_on_regression"] and found.differences[found.headline].verdict == "worse":
            output.remark(f"{what}: {found.headline} is worse")
            failed = True
        if flags["fail_on_any_regression"] and found.regressed:
            output.remark(f"{what}: {len(found.regressed)} queries are answered worse by {found.headline}")
            failed = True
    return failed
