"""``dowse list``: the files in the index."""

from __future__ import annotations

from typing import Any

import click

from dowse.interfaces.cli import options

NOTHING_FOUND = 1


@click.command("list")
@click.argument("glob", required=False, metavar="[GLOB]")
@options.root
@options.index_dir
@options.embedder
@options.any_root
@options.as_json
@options.debug
def list_files(glob: str | None, root: str | None, as_json: bool, **given: Any) -> int:
    """List the files in the index.

    Each with its language and the numbers of its chunks (the pieces that are found) and definitions, as the
    index has it. GLOB is a pattern for the path from the root, as for search --path.
    """
    from dowse.interfaces import render
    from dowse.interfaces.cli import output
    from dowse.interfaces.paint import visible

    with options.open_engine(root, **given) as engine:
        files = list(engine.files(*([glob] if glob else [])))
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
        output.write_json({"schema": render.SCHEMA, "root": str(engine.root), "files": rows})
    elif files:
        cells = [
            (f.parsed.language, str(len(f.parsed.chunks)), str(len(f.parsed.entities)), visible(f.path))
            for f in files
        ]
        output.write(render.table([("LANGUAGE", "CHUNKS", "DEFINITIONS", "PATH"), *cells]))
    else:
        output.remark(f"no file in the index matches '{glob}'" if glob else "the index is empty")
    return 0 if files else NOTHING_FOUND
