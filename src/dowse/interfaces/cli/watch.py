"""``dowse watch``: reindex continuously while files change (file watcher)."""

from __future__ import annotations

import time
from typing import Any

import click

from dowse.interfaces.cli import options, output
from dowse.interfaces.progress import progress_line
from dowse.interfaces.text_layout import format_count
from dowse.interfaces.theme import escape_text


@click.command()
@click.option("-q", "--quiet", is_flag=True, help="Do not report what is indexed.")
@options.tree
@options.debug
def watch(root: str | None, quiet: bool, **given: Any) -> int:
    """Keep the index up to date while files change.

    Runs in the foreground until Ctrl-C. Searches do not need it, because they notice changes by themselves. In very
    large trees, or with a slow embedder, it saves them the wait.
    """
    with options.open_engine(root, **given) as engine:
        changed = engine.watch()
        with progress_line() as progress:
            report = engine.index(progress)
        output.remark(
            f"watching {escape_text(str(engine.root))} ({format_count(report.indexed, 'file')}); Ctrl-C ends it"
        )
        for paths in changed:
            before, started = engine.generation(), time.perf_counter()
            notes = engine.reindex(paths)
            if engine.generation() != before and not quiet:
                named = escape_text(", ".join(paths[:3])) + (
                    f" and {len(paths) - 3} more" if len(paths) > 3 else ""
                )
                output.remark(f"took in {named} in {(time.perf_counter() - started) * 1e3:.0f} ms")
            for note in notes:
                output.remark(f"note: {escape_text(note)}")
    return 0
