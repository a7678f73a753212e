"""``dowse list``: list the files in the index, or those that are skipped and why."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import click

from dowse.interfaces import json_values, text_layout
from dowse.interfaces.cli import options, output
from dowse.interfaces.theme import escape_text

if TYPE_CHECKING:
    from dowse.engine import Engine

NOTHING_FOUND = 1


@click.command("list")
@click.argument("glob", required=False, metavar="[GLOB]")
@click.option("--skipped", is_flag=True, help="List skipped files instead, each with the rule that skips it.")
@options.tree
@options.as_json
@options.debug
def list_files(glob: str | None, skipped: bool, root: str | None, as_json: bool, **given: Any) -> int:
    """List the files in the index, or those skipped.

    Each file with its language and the numbers of its chunks and definitions in the index. GLOB is a pattern for the
    path from the root, as for search --path.

    With --skipped, the files and folders that an indexing run would skip now. Of a folder that is skipped as a
    whole, only the folder is listed.
    """
    with options.open_engine(root, **given) as engine:
        patterns = [options.resolve_pattern(glob, engine)] if glob else []
        if skipped:
            return _list_skipped(engine, patterns, as_json=as_json)
        files = list(engine.files(*patterns))
    if as_json:
        rows = [
            {
                "path": file.path,
                "language": file.parsed.language,
                "role": file.role,
                "health": file.parsed.health,
                "chunks": len(file.parsed.chunks),
                "definitions": len(file.parsed.entities),
            }
            for file in files
        ]
        output.write_json({"schema": json_values.SCHEMA, "root": str(engine.root), "files": rows})
    elif files:
        cells = [
            (f.parsed.language, str(len(f.parsed.chunks)), str(len(f.parsed.entities)), escape_text(f.path))
            for f in files
        ]
        output.write(text_layout.format_table([("LANGUAGE", "CHUNKS", "DEFINITIONS", "PATH"), *cells]))
    else:
        output.remark(f"no file in the index matches '{glob}'" if glob else "the index is empty")
    return 0 if files else NOTHING_FOUND


def _list_skipped(engine: Engine, patterns: Sequence[str], *, as_json: bool) -> int:
    found = list(engine.list_skipped(*patterns))
    if as_json:
        rows = [skipped._asdict() for skipped in found]
        output.write_json({"schema": json_values.SCHEMA, "root": str(engine.root), "skipped": rows})
    elif found:
        cells = [
            (skipped.reason, escape_text(skipped.detail), escape_text(skipped.path)) for skipped in found
        ]
        output.write(text_layout.format_table([("REASON", "RULE", "PATH"), *cells]))
    else:
        output.remark(
            f"nothing that is skipped matches '{patterns[0]}'" if patterns else "nothing is skipped"
        )
    return 0 if found else NOTHING_FOUND
