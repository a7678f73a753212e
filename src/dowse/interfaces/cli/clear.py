"""``dowse clear``: delete the index."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

import click

from dowse.errors import UsageError
from dowse.interfaces.cli import options, output
from dowse.interfaces.json_values import SCHEMA
from dowse.interfaces.theme import escape_text
from dowse.types.stored import IndexState

if TYPE_CHECKING:
    from dowse.engine import Engine

NOT_REMOVED = 1


@click.command()
@click.option("--yes", is_flag=True, help="Do not ask.")
@options.tree
@options.as_json
@options.debug
def clear(root: str | None, yes: bool, as_json: bool, **given: Any) -> int:
    """Remove the index.

    Lists what is removed: the files that dowse made, by name; anything else in the folder stays. The next search makes
    the index again. Linked git work trees share one index: all of it goes. On a server, the index of
    this checkout goes, and what no other checkout of the repository uses.
    """
    with options.open_engine(root, **given) as engine:
        index, exists = _locate_index(engine)
        place, files = escape_text(index), [str(path) for path in engine.index_files()]
        if exists and not yes and (as_json or not sys.stdin.isatty()):
            raise UsageError("nobody to ask: say --yes to remove the index")
        for path in files if exists and not as_json else ():
            output.write(f"  {escape_text(path)}")
        if exists and not yes and not click.confirm(f"remove the index at {place}?"):
            return NOT_REMOVED
        if exists:
            engine.clear()
    if as_json:
        output.write_json({"schema": SCHEMA, "index": index, "removed": exists, "files": files})
    elif exists:
        output.write(f"removed the index at {place}")
    else:
        output.remark(f"there is no index at {place}")
    return 0


def _locate_index(engine: Engine) -> tuple[str, bool]:
    """Return where the index is, and whether there is anything to remove, complete or not."""
    if not engine.is_on_server:
        return str(engine.index_folder), bool(engine.index_files())
    status = engine.status()
    return status.location, bool(status.generation) or status.state is not IndexState.MISSING
