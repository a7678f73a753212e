"""Code graph commands: callers, callees, deps, impact, traverse, hierarchy, path, hubs, cycles."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

import click

from dowse.interfaces import render_graph
from dowse.interfaces.cli import options, output
from dowse.interfaces.text_layout import format_count
from dowse.types.graph_values import (
    ALL_STEPS,
    DEFAULT_DEPTHS,
    Direction,
    GraphAnswer,
    Relation,
    Walk,
    format_depth,
    parse_depth,
)

if TYPE_CHECKING:
    from dowse.engine import Engine
    from dowse.graph.api import CodeGraph

NOTHING_FOUND = 1

MAX_NODES = 1000
"""Nodes that are shown by default."""

F = TypeVar("F", bound=Callable[..., Any])


def _graph_options(command: F) -> F:
    """Add the options of every command of the graph."""
    for option in (options.debug, options.color, options.tree, options.no_refresh):
        command = option(command)
    return command


def _format_options(command: F) -> F:
    """Add ``--format`` and ``--json``: how a part of the graph is shown."""
    command = options.as_json(command)
    return click.option(
        "--format",
        "layout",
        type=click.Choice(["tree", "json", "dot", "mermaid"]),
        default="tree",
        show_default=True,
        help="A tree as text, or a format for programs and drawings.",
    )(command)


def depth_option(default: int | None) -> Callable[[F], F]:
    """Add ``--depth``: how far to follow the edges of the graph."""
    return click.option(
        "-d",
        "--depth",
        type=click.IntRange(min=ALL_STEPS),
        default=format_depth(default),
        callback=lambda _context, _option, steps: parse_depth(steps),
        show_default=True,
        metavar="N",
        help=f"Steps to follow; {ALL_STEPS}: all.",
    )


def _ambiguous_option(command: F) -> F:
    return click.option(
        "--ambiguous",
        is_flag=True,
        help="Also show calls on objects of unknown type, which are known by name only.",
    )(command)


def _external_option(command: F) -> F:
    return click.option("--external", is_flag=True, help="Also show what is outside of the tree.")(command)


@click.command()
@click.argument("symbol")
@_graph_options
@_format_options
@_ambiguous_option
def callers(symbol: str, **flags: Any) -> int:
    """Show who calls a function, a method or a class.

    SYMBOL is an id (path:Class.method), a qualified name or a name. A name that several things have is not
    guessed: they are listed.
    """
    return _print_answer(lambda graph, walk: graph.callers(symbol, walk), **flags)


@click.command()
@click.argument("symbol")
@_graph_options
@_format_options
@_ambiguous_option
@_external_option
def callees(symbol: str, **flags: Any) -> int:
    """Show what something calls."""
    return _print_answer(lambda graph, walk: graph.callees(symbol, walk), **flags)


@click.command()
@click.argument("file")
@_graph_options
@_format_options
@depth_option(DEFAULT_DEPTHS["deps"])
@click.option("--transitive", is_flag=True, help=f"The same as --depth {ALL_STEPS}.")
@options.limit("Most nodes to show", default=MAX_NODES)
def deps(file: str, transitive: bool, **flags: Any) -> int:
    """Show the files that a file depends on."""
    flags["depth"] = None if transitive else flags["depth"]
    return _print_answer(lambda graph, walk: graph.deps(file, walk), **flags)


@click.command()
@click.argument("target", metavar="FILE|SYMBOL")
@_graph_options
@_format_options
@depth_option(DEFAULT_DEPTHS["impact"])
@options.limit("Most nodes to show", default=MAX_NODES)
@_ambiguous_option
def impact(target: str, **flags: Any) -> int:
    """Show what depends on a file or a symbol."""
    return _print_answer(lambda graph, walk: graph.impact(target, walk), **flags)


@click.command()
@click.argument("ids", nargs=-1, required=True, metavar="ID...")
@_graph_options
@_format_options
@click.option(
    "--direction",
    type=click.Choice(["uses", "used-by", "both"]),
    default="uses",
    show_default=True,
    help="In which direction edges are followed.",
)
@depth_option(DEFAULT_DEPTHS["traverse"])
@click.option(
    "--relation",
    "relations",
    multiple=True,
    type=click.Choice([relation.value for relation in Relation]),
    help="Only edges of this kind (repeatable).",
)
@options.kinds
@options.limit("Most nodes to show", default=MAX_NODES)
@_ambiguous_option
@_external_option
def traverse(ids: tuple[str, ...], **flags: Any) -> int:
    """Walk the code graph from some nodes."""
    return _print_answer(lambda graph, walk: graph.traverse(ids, walk), **flags)


@click.command()
@click.argument("symbol", metavar="CLASS")
@_graph_options
@_format_options
@depth_option(DEFAULT_DEPTHS["hierarchy"])
def hierarchy(symbol: str, **flags: Any) -> int:
    """Show the classes above and below a class."""
    return _print_answer(lambda graph, walk: graph.hierarchy(symbol, walk.depth), **flags)


@click.command()
@click.argument("start", metavar="FROM")
@click.argument("end", metavar="TO")
@_graph_options
@_format_options
@_ambiguous_option
def path(start: str, end: str, **flags: Any) -> int:
    """Show how one thing reaches another."""
    return _print_answer(lambda graph, walk: graph.path(start, end, ambiguous=walk.ambiguous), **flags)


@click.command()
@_graph_options
@options.as_json
@options.limit("Rows", default=20)
@options.kinds
def hubs(
    limit: int, kinds: tuple[str, ...], as_json: bool, color: str, root: str | None, **given: Any
) -> int:
    """Show the nodes that most others depend on."""
    with options.open_engine(root, **given) as engine:
        found = engine.graph.hubs(engine.filter(kinds=kinds).kinds, limit)
    if as_json:
        output.write_json(render_graph.hubs_values(found))
    elif found:
        output.write(render_graph.hubs_text(found, output.make_view(color).paint))
    return 0 if found else NOTHING_FOUND


@click.command()
@_graph_options
@options.as_json
def cycles(as_json: bool, color: str, root: str | None, **given: Any) -> int:
    """Show circular imports."""
    with options.open_engine(root, **given) as engine:
        found = engine.graph.cycles()
    if as_json:
        output.write_json(render_graph.cycles_values(found))
    elif found:
        output.write(render_graph.cycles_text(found, output.make_view(color).paint))
    return 0 if found else NOTHING_FOUND


def _build_walk(engine: Engine, flags: dict[str, Any]) -> Walk:
    return Walk(
        direction=Direction(flags.get("direction", "uses")),
        depth=flags.get("depth", 1),
        relations=frozenset(map(Relation, flags.get("relations", ()))),
        kinds=engine.filter(kinds=flags.get("kinds", ())).kinds,
        ambiguous=flags.get("ambiguous", False),
        external=flags.get("external", False),
        limit=flags.get("limit", MAX_NODES),
    )


def _print_answer(
    query: Callable[[CodeGraph, Walk], GraphAnswer],
    *,
    layout: str,
    as_json: bool,
    color: str,
    root: str | None,
    **flags: Any,
) -> int:
    """Query the graph, print the answer, and return the exit code."""
    with options.open_engine(root, **options.pick_given(flags, "refresh")) as engine:
        answer = query(engine.graph, _build_walk(engine, flags))
    if as_json or layout == "json":
        output.write_json(render_graph.answer_values(answer))
    elif layout in ("dot", "mermaid"):
        output.write(render_graph.dot(answer) if layout == "dot" else render_graph.mermaid(answer))
    else:
        output.write(render_graph.tree_text(answer, output.make_view(color).paint))
        output.remark(format_count(len(answer.steps), "node"))
    for note in answer.notes:
        output.remark(note)
    return 0 if answer.steps else NOTHING_FOUND
