"""``dowse entities`` and ``dowse show``: symbol search by name, and the code of symbols by id."""

from __future__ import annotations

from typing import Any

import click

from dowse.interfaces import render_graph
from dowse.interfaces.cli import options, output

NOTHING_FOUND = 1


@click.command()
@click.argument("words", nargs=-1, required=True, metavar="QUERY...")
@options.limit("Entities to show (default: 10)")
@options.filters
@click.option(
    "--threshold",
    type=click.IntRange(min=0),
    metavar="N",
    help="Search the contents too if names find fewer than this (default: 5; 0: never).",
)
@options.profile
@options.no_refresh
@options.tree
@options.as_json
@options.color
@options.debug
def entities(
    words: tuple[str, ...],
    root: str | None,
    threshold: int | None,
    as_json: bool,
    color: str,
    **flags: Any,
) -> int:
    """Find entities by id, name, prefix, glob or content.

    Files and folders are entities too.

    QUERY is an id (path:Class.method), a name, a qualified name, a prefix (Auth*), a glob (Ses*ion; path:* for all of a
    file), the name of a file or folder, or words. Each result says which tier found it.
    """
    given = options.pick_given(flags, "limit", "profile", "refresh")
    with options.open_engine(root, entity_threshold=threshold, **given) as engine:
        hits = engine.graph.entities(" ".join(words), options.build_filter(engine, flags))
    if as_json:
        output.write_json(render_graph.entities_values(hits))
    elif hits:
        output.write(render_graph.entities_text(hits, output.make_view(color).paint))
    return 0 if hits else NOTHING_FOUND


@click.command()
@click.argument("ids", nargs=-1, required=True, metavar="ID...")
@click.option(
    "-C", "--context", type=click.IntRange(min=0), default=0, metavar="N", help="Lines around each entity."
)
@options.no_refresh
@options.tree
@options.as_json
@options.color
@options.debug
def show(
    ids: tuple[str, ...], root: str | None, context: int, as_json: bool, color: str, **given: Any
) -> int:
    """Print the whole code of entities.

    ID is a path, or path:Class.method; a name will do if only one thing has it.
    """
    with options.open_engine(root, **given) as engine:
        found = engine.graph.retrieve(ids, context)
    if as_json:
        output.write_json(render_graph.code_values(found))
    else:
        output.write(render_graph.code_text(found, output.make_view(color).paint))
    return 0
