"""``dowse trust``: accept an index that was made elsewhere (a foreign index), such as one from a CI cache."""

from __future__ import annotations

from typing import Any

import click

from dowse.interfaces.cli import options, output
from dowse.interfaces.json_values import SCHEMA
from dowse.interfaces.theme import escape_text


@click.command()
@click.option("--fresh", is_flag=True, help="Do not read it: make a new index beside it.")
@options.tree
@options.as_json
@options.debug
def trust(root: str | None, fresh: bool, as_json: bool, **given: Any) -> int:
    """Use an index that was made elsewhere.

    An index that came with a clone, an archive, a container or a CI cache could show text that your files do not
    have. dowse does not read it until this command says that you trust its maker. First, all of it is checked: it
    must have no links and no other tables than those of dowse, and its texts must match their hashes.

    If the folder belongs to another user or is not writable, set DOWSE_TRUST_INDEX=1 instead.
    """
    with options.open_engine(root, **given) as engine:
        index = str(engine.trust_index(fresh=fresh))
    folder = escape_text(index)
    if as_json:
        output.write_json({"schema": SCHEMA, "index": index, "fresh": fresh})
    elif fresh:
        output.write(f"a new index will be made in {folder}")
    else:
        output.write(f"the index at {folder} is used from now on")
    return 0
