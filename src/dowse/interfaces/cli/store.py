"""``dowse store``: administer a shared index on a server: create the schema, status, garbage collection, copy."""

from __future__ import annotations

from typing import Any

import click

from dowse.errors import UsageError
from dowse.interfaces import json_values, render_index
from dowse.interfaces.cli import options, output
from dowse.interfaces.json_values import SCHEMA
from dowse.interfaces.progress import progress_line
from dowse.interfaces.text_layout import format_count
from dowse.interfaces.theme import escape_text
from dowse.settings import mask_passwords


@click.group(no_args_is_help=False)
def store() -> None:
    """Manage an index that a team shares.

    The index is on the PostgreSQL server of --store or DOWSE_STORE (postgresql://HOST/DATABASE), or on an OpenSearch
    cluster (opensearch+https://HOST:9200/PREFIX), whose catalogue is in PostgreSQL (DOWSE_STORE_CATALOGUE).

    Put passwords into PGPASSWORD, ~/.pgpass, a service file or DOWSE_STORE_PASSWORD_FILE, because others can see
    command lines. See docs/postgres.md and docs/cluster.md.
    """


@store.command("init")
@options.root
@options.store
@click.option(
    "--grant-read",
    multiple=True,
    metavar="ROLE",
    help="Allow a role to search, and nothing else (repeatable).",
)
@click.option("--rebuild", is_flag=True, help="Delete every index in the schema and start again.")
@click.option("--yes", is_flag=True, help="Do not ask before a rebuild.")
@options.as_json
@options.debug
def init(
    root: str | None,
    store: str | None,
    grant_read: tuple[str, ...],
    rebuild: bool,
    yes: bool,
    as_json: bool,
) -> int:
    """Create the schema on the server, or its missing parts; on a cluster, the indexes too.

    Says which extension is missing and where to get it. It can be run again at any time.
    """
    if rebuild and not yes:
        raise UsageError("a rebuild removes the indexes of everybody: say --yes if you mean it")
    with options.open_engine(root, store=store, allow_home=True) as engine:
        engine.init_server(grant_read, rebuild=rebuild)
        found = engine.server_status()
    if as_json:
        output.write_json(json_values.server_values(found))
        return 0
    output.write(
        f"ready: {escape_text(found.location)}, schema {escape_text(found.schema)}, {found.product} {found.version}"
    )
    for role in grant_read:
        output.write(f"{escape_text(role)} may read it")
    return 0


@store.command("status")
@options.root
@options.store
@options.as_json
@options.debug
def status(root: str | None, store: str | None, as_json: bool) -> int:
    """Show what the server has: sizes, repositories, checkouts, generations, and what could be improved."""
    with options.open_engine(root, store=store, allow_home=True) as engine:
        found = engine.server_status()
    if as_json:
        output.write_json(json_values.server_values(found))
    else:
        output.write(render_index.server_text(found))
    return 0


@store.command("gc")
@options.root
@options.store
@click.option(
    "--forget",
    multiple=True,
    metavar="NAME",
    help="Remove a repository or a checkout, as 'dowse store status' calls it (repeatable).",
)
@click.option(
    "--older-than",
    type=click.FloatRange(min=0),
    metavar="DAYS",
    help="Remove checkouts that nobody has written for so long.",
)
@options.as_json
@options.debug
def gc(
    root: str | None, store: str | None, forget: tuple[str, ...], older_than: float | None, as_json: bool
) -> int:
    """Delete what no checkout uses any more."""
    with options.open_engine(root, store=store, allow_home=True) as engine:
        gone = engine.collect_garbage(forget, older_than)
    if as_json:
        output.write_json({"schema": SCHEMA, "removed": gone._asdict()})
    else:
        output.write(
            f"removed {gone.views} checkouts, {gone.contents} contents, {gone.vectors} vectors, "
            f"{gone.tables} dense indexes"
        )
    return 0


@store.command("copy")
@click.argument("source")
@click.argument("target")
@options.tree
@options.as_json
@options.debug
def copy(source: str, target: str, root: str | None, as_json: bool, **given: Any) -> int:
    """Copy the index of this tree from one store to another.

    SOURCE and TARGET are 'embedded' or addresses such as postgresql://HOST/DATABASE; 'shared' stands for the store in
    the settings.
    Files that the target already has are not copied.
    """
    with options.open_engine(root, **given) as engine, progress_line() as progress:
        shared = engine.settings.store
        one, two = (shared if name == "shared" else name for name in (source, target))
        copied = engine.copy_index(one, two, progress)
    one, two = mask_passwords(one), mask_passwords(two)
    if as_json:
        output.write_json({"schema": SCHEMA, "source": one, "target": two, "files": copied})
    else:
        output.write(f"copied {format_count(copied, 'file')} from {one} to {two}")
    return 0
