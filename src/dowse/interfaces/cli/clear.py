"""``dowse clear``: remove the index."""

from __future__ import annotations

import sys
from typing import Any

import click

from dowse.interfaces.cli import options

NOT_REMOVED = 1


@click.command()
@options.root
@click.option("--yes", is_flag=True, help="Do not ask.")
@options.index_dir
@options.any_root
@options.debug
def clear(root: str | None, yes: bool, **given: Any) -> int:
    """Remove the index.

    The next search makes it anew. Linked git work trees share one index: all of it goes.
    """
    from dowse.errors import UsageError
    from dowse.interfaces.cli import output
    from dowse.interfaces.paint import visible

    with options.open_engine(root, **given) as engine:
        folder = engine.index_folder
        if not folder.exists():
            output.remark(f"there is no index at {visible(str(folder))}")
            return 0
        if not yes:
            if not sys.stdin.isatty():
                raise UsageError("nobody to ask: say --yes to remove the index")
            if not click.confirm(f"remove the index at {visible(str(folder))}?"):
                return NOT_REMOVED
        engine.clear()
    output.write(f"removed the index at {visible(str(folder))}")
    return 0
