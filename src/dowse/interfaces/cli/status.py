"""``dowse status``: index statistics and freshness, and why a file is in the index or not."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from dowse.interfaces import json_values, render_index
from dowse.interfaces.cli import options, output
from dowse.interfaces.json_values import SCHEMA
from dowse.interfaces.theme import escape_text
from dowse.types.discovered import Skipped
from dowse.types.stored import IndexState

if TYPE_CHECKING:
    from dowse.engine import Engine

INDEX_MISSING = 3
SKIPPED_EXIT_CODE = 1


@click.command()
@click.option(
    "--why", metavar="PATH", help="Say whether a file belongs in the index or, if not, which rule skips it."
)
@options.tree
@options.as_json
@options.debug
def status(root: str | None, why: str | None, as_json: bool, **given: Any) -> int:
    """Show the state of the index.

    Exits with 3 if there is no index. With --why, exits with 1 if the file is skipped.
    """
    with options.open_engine(root, **given) as engine:
        if why is not None:
            return _print_why(engine, why, as_json=as_json)
        found, pending = engine.status(), engine.count_pending()
        notes = engine.notes
    if as_json:
        output.write_json(
            json_values.status_values(found, str(engine.root), pending) | {"notes": list(notes)}
        )
    else:
        output.write(render_index.status_text(found, str(engine.root), pending))
        for note in notes:
            output.remark(f"note: {note}")
    return INDEX_MISSING if found.state is IndexState.MISSING else 0


def _print_why(engine: Engine, path: str, *, as_json: bool) -> int:
    verdict = engine.why(str(Path.cwd() / path))
    is_skipped = isinstance(verdict, Skipped)
    reason, detail = (verdict.reason, verdict.detail) if isinstance(verdict, Skipped) else ("", "")
    if as_json:
        values = {"path": verdict.path, "indexed": not is_skipped, "reason": reason, "detail": detail}
        output.write_json({"schema": SCHEMA} | values)
    elif is_skipped:
        output.write(escape_text(f"{verdict.path} is skipped: {reason}" + (f" ({detail})" if detail else "")))
    else:
        output.write(escape_text(f"{verdict.path} belongs in the index"))
    return SKIPPED_EXIT_CODE if is_skipped else 0
