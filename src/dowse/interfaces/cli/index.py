"""``dowse index``: build or update the index (incremental indexing), and report what was indexed and skipped."""

from __future__ import annotations

import json
from typing import Any

import click

from dowse.errors import UsageError
from dowse.interfaces import json_values, render_index
from dowse.interfaces.cli import options, output
from dowse.interfaces.progress import progress_line

NOTHING_INDEXED = 1
SOME_FAILED = 4

_ONE_RUN_SETTINGS = ("include", "exclude", "max_file_size", "chunk_size", "embedder")
"""Settings that change what is in the index: a search without them indexes everything again."""


@click.command()
@click.argument("path", required=False, metavar="[PATH]")
@click.option("--rebuild", is_flag=True, help="Delete the index first and make it again.")
@click.option("--include", multiple=True, metavar="GLOB", help="Index only files like this (repeatable).")
@click.option("--exclude", multiple=True, metavar="GLOB", help="Index no files like this (repeatable).")
@click.option("--max-file-size", type=click.IntRange(min=1), metavar="BYTES", help="Skip larger files.")
@click.option("--chunk-size", type=click.IntRange(min=100), metavar="BYTES", help="Target size of a chunk.")
@click.option(
    "--workers", type=click.IntRange(min=0), metavar="N", help="Processes that parse; 0: one per core."
)
@click.option(
    "--allow-missing-vectors",
    is_flag=True,
    default=None,
    help="If the embedder fails, go on without vectors.",
)
@click.option(
    "--wait/--no-wait",
    default=True,
    show_default=True,
    help="If another process writes the index, wait for it (two minutes at most).",
)
@options.tree
@options.as_json
@options.debug
def index(path: str | None, root: str | None, rebuild: bool, wait: bool, as_json: bool, **flags: Any) -> int:
    """Update the index: index new, changed and deleted files.

    PATH is the folder to index, as --root is (default: the project around the working directory). Only new and
    changed files are read. Every search does this by itself; this command reports what it did.

    Patterns are those of .gitignore. Options count for this run only: to keep them, put them into dowse.toml.
    """
    if path and root:
        raise UsageError("the folder is given twice: as PATH or with --root, not both")
    given = {name: value if value != () else None for name, value in flags.items()}
    with options.open_engine(path or root, **given) as engine:
        with progress_line() as progress:
            report = engine.index(progress, rebuild=rebuild, wait=wait)
        status, folder = engine.status(), str(engine.root)
        notes = [*engine.notes, *_one_run_notes(given)]
    if as_json:
        output.write_json(json_values.report_values(report, status, folder) | {"notes": notes})
    else:
        write = output.write if report.indexed else output.remark
        write(render_index.report_text(report, status, folder))
        for note in notes:
            output.remark(f"note: {note}")
    if not report.indexed:
        return NOTHING_INDEXED
    return SOME_FAILED if report.failures else 0


def _one_run_notes(given: dict[str, Any]) -> list[str]:
    """List notes about flags that the next search does not know of."""
    lines = [f"{name} = {json.dumps(given[name])}" for name in _ONE_RUN_SETTINGS if given[name] is not None]
    if not lines:
        return []
    return [
        "a search without these flags rebuilds the index; "
        f"to keep them, put into dowse.toml: {'; '.join(lines)}"
    ]
