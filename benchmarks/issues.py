"""Issue reports: are the files and the functions that mended them found, in the tree before?

Each report is searched as it is, in its repository at the commit before: work tree, index and history know nothing that
came later. A figure ``acc@k`` is the share of the reports of which one of the edited files (functions) is among the
first k; ``all@k``: each of them is. Tests are left out of the answer. Repositories are split in two halves by name:
weights are learned and variants chosen on the one (``decide``), and the other reports.
"""

from __future__ import annotations

import argparse
import json
import shutil
import time
from collections import defaultdict
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from benchmarks import data
from benchmarks.bench_types import Figure, Outcome, at_least
from benchmarks.issue_reports import Report, check_out, load_reports, read_report, run_git
from benchmarks.metrics import mean
from benchmarks.results import RUNS
from dowse import Engine
from dowse.code import file_roles
from dowse.types.answers import SearchOptions, SearchResult
from dowse.types.source import Kind, Role

HITS = 50
"""Hits that are read for files and functions: ten of either hardly ever take more."""

DECIDE = "decide"
CUTS = (1, 5, 10)
FUNCTION_KINDS = frozenset({Kind.FUNCTION, Kind.METHOD})
TARGETS = {
    ("files", 1): at_least(0.65),
    ("files", 5): at_least(0.90),
    ("files", 10): at_least(0.94),
    ("functions", 10): at_least(0.60),
}
HALVES = {DECIDE: "repositories that decide", "report": "repositories that report"}


class Rank(NamedTuple):
    """The best and the worst rank of what a report asks for; 0 where it is not found."""

    best: int
    worst: int


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add which reports are searched, and under which name the rows are kept."""
    group = parser.add_argument_group("issues")
    group.add_argument("--issue-half", choices=list(HALVES), help="only the repositories of one half")
    group.add_argument("--issue-repository", action="append", help="only this repository")
    group.add_argument("--issue-tag", default="", help="keep the ranks of each report in results/runs")


def run(args: argparse.Namespace) -> Iterator[Outcome]:
    """Search for every report, repository by repository."""
    mirrors = data.find_folder("BENCH_MIRRORS")
    reports = [
        report
        for report in load_reports()
        if args.issue_half in (None, report.half)
        and report.repository in (args.issue_repository or [report.repository])
    ]
    rows = list(search_reports(mirrors, reports))
    if args.issue_tag:
        RUNS.mkdir(exist_ok=True)
        kept = "".join(json.dumps(row) + "\n" for row in rows)
        (RUNS / f"issues-{args.issue_tag}.jsonl").write_text(kept, encoding="utf-8")
    for half, title in HALVES.items():
        if chosen := [row for row in rows if row["half"] == half]:
            yield Outcome(
                name=f"issues_{half}",
                title=f"Issue reports, {title}",
                figures=list(make_figures(chosen)),
                official=not (args.issue_repository or args.issue_half),
            )


def search_reports(mirrors: Path, reports: Sequence[Report]) -> Iterator[dict[str, Any]]:
    """Search for reports, each in the tree before it was mended, and rank what was changed."""
    for report, engine, text in open_trees(mirrors, reports):
        engine.search("warm up", SearchOptions(limit=1))
        started = time.process_time()
        options = SearchOptions(limit=HITS, text=False, show_low_confidence=True)
        sources = leave_out_tests(engine.search(text, options).results)
        milliseconds = (time.process_time() - started) * 1e3
        yield {
            "commit": report.commit,
            "repository": report.repository,
            "half": report.half,
            "written": bool(report.text),
            "files": find_rank(list_files(sources), report.files),
            "functions": find_rank(list_functions(sources), report.functions),
            "has_functions": bool(report.functions),
            "milliseconds": milliseconds,
        }


def open_trees(mirrors: Path, reports: Sequence[Report]) -> Iterator[tuple[Report, Engine, str]]:
    """Open the tree of each report with an index of it, by repository, oldest first; and give its text."""
    by_repository: dict[str, list[Report]] = defaultdict(list)
    for report in reports:
        by_repository[report.repository].append(report)
    for repository, asked in by_repository.items():
        mirror = mirrors / repository.replace("/", "+") / "repo"
        if not mirror.is_dir():
            raise data.MissingDataError(f"the mirrors have no snapshot of {repository}")
        folder = data.cache_folder() / "issues" / mirror.parent.name
        tree = folder / "tree"
        if not tree.is_dir():
            run_git(mirror, "clone", "--quiet", "--shared", "--no-checkout", str(mirror), str(tree))
        for report in sorted(
            asked, key=lambda each: int(run_git(mirror, "log", "-1", "--format=%ct", each.base))
        ):
            check_out(tree, report.base)
            message = run_git(mirror, "log", "-1", "--format=%s%x1f%b", report.commit)
            with Engine.open(tree, index_dir=str(folder / "index")) as engine:
                engine.index()
                yield report, engine, report.text or read_report(*message.split("\x1f"))
        shutil.rmtree(folder)
        print(f"{repository}: {len(asked)} reports", flush=True)


def leave_out_tests(found: Sequence[SearchResult]) -> list[SearchResult]:
    """Leave tests out: they are among what a change is about, and are never what is asked for here."""
    return [hit for hit in found if file_roles.classify_role(hit.path) is not Role.TEST]


def list_files(found: Sequence[SearchResult]) -> list[str]:
    """List the files of an answer, best first."""
    return list(dict.fromkeys(hit.path for hit in found))


def list_functions(found: Sequence[SearchResult]) -> list[str]:
    """List the functions that an answer points at, best first."""
    return list(dict.fromkeys(f"{hit.path}:{hit.entity}" for hit in found if hit.kind in FUNCTION_KINDS))


def find_rank(found: Sequence[str], wanted: Sequence[str]) -> Rank:
    """Find the best and the worst rank of what is wanted."""
    ranks = {name: rank for rank, name in enumerate(found, 1)}
    known = [ranks[name] for name in wanted if name in ranks]
    return Rank(min(known, default=0), max(known) if known and len(known) == len(wanted) else 0)


def make_figures(rows: Sequence[dict[str, Any]]) -> Iterator[Figure]:
    """Make the figures of some reports."""
    yield Figure("reports", len(rows), "reports")
    for what in ("files", "functions"):
        asked = [row for row in rows if what == "files" or row["has_functions"]]
        for name, index in (("acc", 0), ("all", 1)):
            for k in CUTS:
                value = mean(1.0 if 1 <= row[what][index] <= k else 0.0 for row in asked)
                target = TARGETS.get((what, k)) if name == "acc" else None
                yield Figure(f"{name}@{k} of {what}", value, "", target)
    yield Figure("MRR of files", mean(1.0 / row["files"][0] if row["files"][0] else 0.0 for row in rows))
    written = [row for row in rows if row["written"]]
    if written:
        yield Figure("reports in our own words", len(written), "reports")
        for k in CUTS:
            yield Figure(
                f"acc@{k} of files, these", mean(1.0 if 1 <= row["files"][0] <= k else 0.0 for row in written)
            )
    yield Figure("CPU of a search, mean", mean(row["milliseconds"] for row in rows), "ms")
