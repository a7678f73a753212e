"""Write benchmark results: one JSON file each, one page with tables of all of them, and the table of the README."""

from __future__ import annotations

import json
import os
import platform
import re
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from benchmarks.bench_types import Figure, Outcome

RESULTS = Path(__file__).with_name("results")
RUNS = RESULTS / "runs"
"""Rows by query: large and rewritten by every run, so not under version control."""

PAGE = RESULTS / "README.md"

README = RESULTS.parent.parent / "README.md"
TABLE = re.compile(r"(?<=<!-- figures -->\n).*?(?=\n<!-- end of figures -->)", re.DOTALL)
"""The part of the README that is written from results."""

README_ROWS: Mapping[str, Sequence[tuple[str, str] | str]] = {
    "NDCG@10 on 31 repositories": (
        ("quality-repositories", "NDCG@10"),
        ("peers-repositories", "semble: NDCG@10"),
        ("peers-repositories", "bm25: NDCG@10"),
    ),
    "queries that avoid identifiers: right file among the first 5": (
        ("quality-swe-qa", "hit@5"),
        ("peers-swe-qa", "semble: hit@5"),
        ("peers-swe-qa", "bm25: hit@5"),
    ),
    "the same queries: right lines among the first 10": (
        ("quality-swe-qa", "hunk@10"),
        ("peers-swe-qa", "semble: hunk@10"),
        ("peers-swe-qa", "bm25: hunk@10"),
    ),
    "CPU to index the 31 repositories": (("speed", "indexing CPU, ratio of sums"), "1 x", ""),
    "CPU of a warm command line, start to exit": (
        ("speed", "warm command line CPU, ratio of sums"),
        "1 x",
        "",
    ),
}
"""The rows of the README's table: of dowse, semble and BM25, each a figure of a result, or a text."""

Result = Mapping[str, Any]
"""An outcome, as read from its file."""


def write(outcome: Outcome) -> None:
    """Write an outcome to its file, and update the page."""
    commit, dirty = _read_commit()
    kept = {
        "name": outcome.name,
        "title": outcome.title,
        "commit": commit,
        "dirty": dirty,
        "machine": describe_machine(),
        "figures": [_to_dict(figure) for figure in outcome.figures],
        "notes": list(outcome.notes),
        "details": outcome.details,
    }
    RESULTS.mkdir(exist_ok=True)
    text = json.dumps(kept, indent=1, ensure_ascii=False) + "\n"
    (RESULTS / f"{outcome.name}.json").write_text(text, encoding="utf-8")
    write_page()


def write_page() -> None:
    """Write the page and the table of the README from the JSON files."""
    kept = read_all()
    PAGE.write_text(render(kept), encoding="utf-8")
    README.write_text(
        TABLE.sub(lambda _: render_readme_table(kept), README.read_text("utf-8")), encoding="utf-8"
    )


def read_all() -> list[Result]:
    """Read every result, by name."""
    return [json.loads(path.read_text(encoding="utf-8")) for path in sorted(RESULTS.glob("*.json"))]


def describe_machine() -> dict[str, Any]:
    """Describe the machine: what the figures depend on, and nothing that identifies it."""
    return {
        "cores": os.cpu_count(),
        "cpu": _read_cpu_model(),
        "system": platform.system(),
        "python": platform.python_version(),
    }


def _read_cpu_model() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        return platform.processor()
    return next((line.partition(":")[2].strip() for line in lines if line.startswith("model name")), "")


def _read_commit() -> tuple[str, bool]:
    """Read the current commit, and whether anything but what results are written to differs from it."""
    commit = _git("rev-parse", "HEAD")
    changed = _git("status", "--porcelain", "--", ".", ":!benchmarks/results", ":!README.md")
    return commit or "none", bool(changed) or not commit


def _git(*arguments: str) -> str:
    try:
        ran = subprocess.run(
            ["git", *arguments],
            cwd=RESULTS.parent.parent,
            capture_output=True,
            encoding="utf-8",
            check=False,
        )
    except FileNotFoundError:
        return ""
    return ran.stdout.strip() if ran.returncode == 0 else ""


def _to_dict(figure: Figure) -> dict[str, Any]:
    plain = asdict(figure)
    plain["value"] = round(figure.value, 4)
    plain["target"] = str(figure.target) if figure.target else None
    plain["met"] = figure.target.is_met_by(figure.value) if figure.target else None
    return plain


# --- the table ---

PAGE_HEAD = """# Results

Made by `python -m benchmarks`; do not edit. What each figure means is in [the README](../README.md).
"""


def render(results: Sequence[Result]) -> str:
    """Render all results as one page."""
    return "\n".join([PAGE_HEAD, *map(_render_section, results)])


def _render_section(result: Result) -> str:
    computer = result["machine"]
    state = f"commit `{result['commit'][:12]}`" + (" with uncommitted changes" if result["dirty"] else "")
    on = f"{computer['cores']} cores, {computer['cpu']}, {computer['system']}, Python {computer['python']}"
    notes = "".join(f"- {note}\n" for note in result["notes"])
    return f"## {result['title']}\n\n`{result['name']}`: {state}; {on}\n\n{notes}\n{render_table(result['figures'])}\n"


def render_table(figures: Sequence[Mapping[str, Any]]) -> str:
    """Render figures as a Markdown table, without empty columns."""
    columns = {
        "figure": [figure["name"] for figure in figures],
        "value": [format_value(figure["value"], figure["unit"]) for figure in figures],
        "target": [_format_target(figure) for figure in figures],
        "beside": [figure["beside"] for figure in figures],
    }
    used = [name for name, cells in columns.items() if any(cells)]
    rule = ["---:" if name == "value" else "---" for name in used]
    rows = [used, rule, *zip(*(columns[name] for name in used), strict=True)]
    return "\n".join("| " + " | ".join(row) + " |" for row in rows)


def render_readme_table(results: Sequence[Result]) -> str:
    """Render the table of the README: dowse beside semble and BM25."""
    figures = {(one["name"], figure["name"]): figure for one in results for figure in one["figures"]}

    def show(cell: tuple[str, str] | str) -> str:
        if isinstance(cell, str):
            return cell
        return format_value(figures[cell]["value"], figures[cell]["unit"]) if cell in figures else "?"

    rows = [f"| {label} | {' | '.join(map(show, cells))} |" for label, cells in README_ROWS.items()]
    return "\n".join(["| | dowse | semble 0.7 | BM25 |", "|---|---:|---:|---:|", *rows])


def format_value(value: float, unit: str) -> str:
    """Format a value with its unit and a sensible number of digits."""
    digits = 3 if not unit or unit == "x" else 0 if abs(value) >= 1000 else 1 if abs(value) >= 10 else 2
    return f"{value:,.{digits}f}" + (f" {unit}" if unit else "")


def figures_to_dicts(outcome: Outcome) -> list[dict[str, Any]]:
    """Convert the figures of an outcome to their JSON form."""
    return [_to_dict(figure) for figure in outcome.figures]


def _format_target(figure: Mapping[str, Any]) -> str:
    if not figure["target"]:
        return ""
    return f"{figure['target']} {'met' if figure['met'] else '**missed**'}"
