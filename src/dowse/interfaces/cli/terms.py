"""``dowse terms``: maintain a term graph (synonyms for query expansion): check, try, validate, suggest."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from dowse.errors import UsageError
from dowse.evaluation import dataset
from dowse.evaluation.term_graph_checks.check import check as find_problems
from dowse.evaluation.term_graph_checks.save import save_validation
from dowse.evaluation.term_graph_checks.suggest import suggest as find_pairs
from dowse.evaluation.term_graph_checks.validate import validate as measure
from dowse.interfaces import json_values, render, text_layout
from dowse.interfaces.cli import options, output
from dowse.interfaces.json_values import SCHEMA
from dowse.interfaces.progress import progress_line
from dowse.interfaces.text_layout import format_count
from dowse.interfaces.theme import escape_text

if TYPE_CHECKING:
    from dowse.engine import Engine
    from dowse.evaluation.term_graph_checks.validate import Validation
    from dowse.search.query.term_graph import TermGraph

PROBLEMS_FOUND = 1
"""The exit code of a term graph that is not in order, or not validated."""

_FILE_PATH = click.Path(dir_okay=False, path_type=Path)
_EXISTING_FILE = click.Path(exists=True, dir_okay=False, path_type=Path)


@click.group(no_args_is_help=False)
def terms() -> None:
    """Check and measure a term graph (synonyms for queries).

    The file is given, or named by the setting 'term_graph'; see docs/terms.md.
    """


@terms.command("check")
@click.argument("file", required=False, type=_EXISTING_FILE)
@options.tree
@options.as_json
@options.debug
def check(file: Path | None, root: str | None, as_json: bool, **given: Any) -> int:
    """Find duplicates, dead entries and canonical terms that the index does not have.

    Exits with 1 if there are any.
    """
    with options.open_engine(root, **given) as engine:
        path, graph = _load_graph(engine, file)
        problems = find_problems(graph, engine)
    if as_json:
        found = [problem._asdict() for problem in problems]
        output.write_json(
            {
                "schema": SCHEMA,
                "file": str(path),
                "entries": len(graph.entries),
                "problems": found,
            }
        )
    else:
        synonyms = sum(len(entry.synonyms) for entry in graph.entries)
        amount = (
            f"{format_count(len(graph.entries), 'entry', 'entries')}, {format_count(synonyms, 'synonym')}"
        )
        output.write(f"{escape_text(str(path))}: {amount}, {format_count(len(problems), 'problem')}")
        for problem in problems:
            output.write(escape_text(f"  {problem.entry}: {problem.kind}: {problem.detail}"))
    return PROBLEMS_FOUND if problems else 0


@terms.command("try")
@click.argument("words", nargs=-1, required=True, metavar="QUERY...")
@click.option(
    "--file", type=_EXISTING_FILE, metavar="FILE", help="The term graph (default: the one in the settings)."
)
@options.root
@options.as_json
@options.debug
def try_(words: tuple[str, ...], file: Path | None, root: str | None, as_json: bool) -> int:
    """Show what would be added to a query, and why, without a search.

    Exits with 1 if nothing would be added.
    """
    with options.open_engine(root, allow_home=True) as engine:
        path, _ = _load_graph(engine, file)
        trace = engine.try_terms(" ".join(words), path)
    if as_json:
        output.write_json({"schema": json_values.SCHEMA, "rewrite": json_values.rewrite_values(trace)})
    elif trace.added:
        output.write("\n".join(f"{name:<9}{value}" for name, value in render.rewrite_rows(trace)))
    else:
        output.write("no term matches: the query is not changed")
    return 0 if trace.added else PROBLEMS_FOUND


@terms.command("validate")
@click.argument("file", type=_EXISTING_FILE)
@click.argument("queries", type=_EXISTING_FILE)
@click.option(
    "--save",
    type=click.Path(file_okay=False, path_type=Path),
    metavar="DIR",
    help="Also write baseline, enriched, comparison and enrichment log (JSON) and an analysis (Markdown).",
)
@options.tree
@options.as_json
@options.debug
def validate(
    file: Path, queries: Path, save: Path | None, root: str | None, as_json: bool, **given: Any
) -> int:
    """Measure whether a term graph helps: Hit@5 without and with it, query by query.

    QUERIES is ground truth as for 'dowse eval'. "Validated" means a gain of 10 points or more and no query
    worse; otherwise exits with 1.
    """
    with (
        options.open_engine(root, **given) as engine,
        progress_line() as progress,
    ):
        found = measure(engine, dataset.load(queries), file.resolve(), progress)
    if save:
        save_validation(found, save)
    if as_json:
        output.write_json(_validation_values(found))
    else:
        output.write(_validation_text(found))
    return 0 if found.validated else PROBLEMS_FOUND


@terms.command("suggest")
@options.limit("Pairs to show", default=30)
@click.option("--out", type=_FILE_PATH, metavar="FILE", help="Also write them as entries, to be edited.")
@click.option("--where", is_flag=True, help="Only print the path of the log of your searches.")
@options.tree
@options.as_json
@options.debug
def suggest(root: str | None, limit: int, out: Path | None, where: bool, as_json: bool, **given: Any) -> int:
    """Suggest pairs of words that may mean the same in this repository.

    The pairs come from docstrings, commit subjects and, with DOWSE_SEARCH_LOG=1, from searches that were repeated in
    other words. Nothing is added to a term graph.
    """
    with options.open_engine(root, **given) as engine:
        if where:
            output.write(str(engine.search_log))
            return 0
        found = find_pairs(engine, limit)
    if out:
        _write_entries(out, [(s.canonical, s.synonym) for s in found])
    if as_json:
        rows = [suggestion._asdict() for suggestion in found]
        output.write_json({"schema": json_values.SCHEMA, "suggestions": rows})
    elif found:
        head = ("USERS SAY", "THE CODE SAYS", "FROM", "SEEN", "SCORE", "EXAMPLE")
        cells = [
            (s.synonym, s.canonical, s.source, str(s.support), f"{s.score:.2f}", s.example[:70])
            for s in found
        ]
        output.write(text_layout.format_table([head, *(tuple(map(escape_text, row)) for row in cells)]))
    else:
        output.write("no pair of words goes together often enough")
    return 0 if found else PROBLEMS_FOUND


def _load_graph(engine: Engine, file: Path | None) -> tuple[Path, TermGraph]:
    """Load the term graph of a file, or the one of the settings."""
    graph = engine.term_graph(file.resolve() if file else None)
    path = file.resolve() if file else engine.term_graph_file
    if graph is None or path is None:
        raise UsageError("there is no term graph: give a file, or set 'term_graph' in dowse.toml")
    return path, graph


def _write_entries(path: Path, pairs: list[tuple[str, str]]) -> None:
    """Write pairs as entries, but not over a file that exists."""
    if os.path.lexists(path):  # a link to nothing too: what is written through it, is written elsewhere
        raise UsageError(f"{path} exists: give --out another name")
    entries: dict[str, list[str]] = {}
    for canonical, synonym in pairs:
        entries.setdefault(canonical, []).append(synonym)
    listed = [{"canonical": canonical, "synonyms": synonyms} for canonical, synonyms in entries.items()]
    text = json.dumps({"entries": listed}, indent=2, ensure_ascii=False) + "\n"
    try:
        path.write_text(text, encoding="utf-8")
    except OSError as error:
        raise UsageError(f"{path} cannot be written: {error}") from error


def _validation_values(found: Validation) -> dict[str, Any]:
    return {
        "schema": json_values.SCHEMA,
        "file": found.file,
        "queries": len(found.rows),
        "baseline": found.baseline,
        "enriched": found.enriched,
        "improved": found.improved,
        "regressed": found.regressed,
        "unchanged": len(found.rows) - found.improved - found.regressed,
        "fired": found.fired,
        "validated": found.validated,
        "rows": [row._asdict() for row in found.rows],
    }


def _validation_text(found: Validation) -> str:
    """Render the table of queries, what was added to them, and the conclusion."""
    rows = [("BEFORE", "AFTER", "CHANGE", "QUERY")]
    rows += [(str(r.before or "-"), str(r.after or "-"), r.change, escape_text(r.query)) for r in found.rows]
    enriched = [
        f"  {escape_text(r.query)}\n    + {escape_text(', '.join(r.added))}" for r in found.rows if r.added
    ]
    blocks = [
        f"rank of the first right file, without and with {escape_text(found.file)}:",
        text_layout.format_table(rows),
    ]
    if enriched:
        blocks += ["", "what was added:", *enriched]
    return "\n".join([*blocks, "", *found.describe()])
