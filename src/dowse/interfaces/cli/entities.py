"""``dowse entities`` and ``dowse show``: symbol search by name, and the code of symbols by id."""

from __future__ import annotations

import click

from dowse.interfaces.cli import options

NOTHING_FOUND = 1


@click.command()
@click.argument("words", nargs=-1, required=True, metavar="QUERY...")
@options.root
@click.option(
    "-n", "--limit", type=click.IntRange(min=1), metavar="N", help="Entities to show (default: 10)."
)
@click.option(
    "--kind",
    "kinds",
    multiple=True,
    metavar="KIND",
    help="Only this kind: class, function, ... (repeatable).",
)
@click.option("--path", "paths", multiple=True, metavar="GLOB", help="Only files like this (repeatable).")
@click.option(
    "--threshold",
    type=click.IntRange(min=0),
    metavar="N",
    help="Search the contents too if names find fewer than this (default: 5; 0: never).",
)
@options.index_dir
@options.as_json
@options.color
@options.debug
def entities(
    words: tuple[str, ...],
    root: str | None,
    limit: int | None,
    kinds: tuple[str, ...],
    paths: tuple[str, ...],
    threshold: int | None,
    index_dir: str | None,
    as_json: bool,
    color: str,
) -> int:
    """Find entities by id, name, prefix or content.

    QUERY is an id (path:Class.method), a name, a qualified name, a prefix (Auth*) or words. Each result says which
    tier found it.
    """
    from dowse.interfaces import render_graph
    from dowse.interfaces.cli import output

    with options.open_engine(root, index_dir=index_dir, limit=limit, entity_threshold=threshold) as engine:
        hits = engine.graph.entities(" ".join(words), engine.filter(kinds=kinds, paths=paths))
    if as_json:
        output.write_json(render_graph.entities_values(hits))
    elif hits:
        output.write(render_graph.entities_text(hits, output.make_view(color).paint))
    return 0 if hits else NOTHING_FOUND


@click.command()
@click.argument("ids", nargs=-1, required=True, metavar="ID...")
@options.root
@click.option(
    "-C", "--context", type=click.IntRange(min=0), default=0, metavar="N", help="Lines around each entity."
)
@options.index_dir
@options.as_json
@options.color
@options.debug
def show(
    ids: tuple[str, ...], root: str | None, context: int, index_dir: str | None, as_json: bool, color: str
) -> int:
    """Print the whole code of entities.

    ID is a path, or path:Class.method; a name will do if only one thing has it.
    """
    from dowse.interfaces import render_graph
    from dowse.interfaces.cli import output

    with options.open_engine(root, index_dir=index_dir) as engine:
        found = engine.graph.retrieve(ids, context)
    if as_json:
        output.write_json(render_graph.code_values(found))
    else:
        output.write(render_graph.code_text(found, output.make_view(color).paint))
    return 0
