"""Shared command-line options (``--root``, ``--store``, ``--json``, ...), and opening the engine from them."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from dowse import server_client

if TYPE_CHECKING:
    from dowse.engine import Engine
    from dowse.types.stored import Filter

F = TypeVar("F", bound=Callable[..., Any])


class QueryCommand(click.Command):
    """A command with a query in ``words``. Exclusions in the query (``-path:tests``) are not options."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Parse arguments, with the exclusions moved behind the other words of the query."""
        end = args.index("--") if "--" in args else len(args)
        excluded = [arg for arg in args[:end] if arg.startswith("-") and ":" in arg and _is_exclusion(arg)]
        kept = [arg for arg in args[:end] if arg not in excluded]
        rest = super().parse_args(ctx, [*kept, *args[end:]])
        ctx.params["words"] = (*ctx.params["words"], *excluded)
        return rest


def _is_exclusion(arg: str) -> bool:
    from dowse.search.query.field_names import EXCLUDABLE_FIELDS, FIELD_ALIASES

    name = arg[1:].partition(":")[0]
    return FIELD_ALIASES.get(name, name) in EXCLUDABLE_FIELDS


def root(command: F) -> F:
    """Add ``--root``: which tree."""
    return click.option(
        "-p",
        "--root",
        metavar="DIR",
        help="Folder to search (default: the project around the working directory).",
    )(command)


def allow_home(command: F) -> F:
    """Add ``--allow-home``: accept a folder that is hardly a source tree."""
    return click.option("--allow-home", is_flag=True, help="Allow / and the home folder.")(command)


def index_dir(command: F) -> F:
    """Add ``--index-dir``: where the index is."""
    return click.option(
        "--index-dir",
        metavar="DIR",
        callback=_make_absolute,
        help="Folder of the index (default: .dowse in the root).",
    )(command)


def _make_absolute(ctx: click.Context, parameter: click.Parameter, folder: str | None) -> str | None:
    """Make a folder on the command line absolute: it is meant from the working directory, as every path there."""
    return os.path.abspath(os.path.expanduser(folder)) if folder else folder


def store(command: F) -> F:
    """Add ``--store``: what kind of index."""
    return click.option(
        "--store",
        metavar="STORE",
        help="Where the index is kept: embedded, memory, postgresql://HOST/DATABASE, or opensearch+https://HOST:9200/PREFIX.",
    )(command)


def embedder(command: F) -> F:
    """Add ``--embedder``: what makes vectors."""
    return click.option(
        "--embedder", metavar="NAME", help="The embedder (model) of the dense channel; 'none' for no vectors."
    )(command)


def tree(command: F) -> F:
    """Add what every command that opens the index of a tree takes: which tree, which index, which embedder.

    All of it is for ``open_engine``: a command hands it on in ``**given``.
    """
    for option in (allow_home, embedder, store, index_dir, root):
        command = option(command)
    return command


def pick_given(flags: Mapping[str, Any], *settings: str) -> dict[str, Any]:
    """Pick what ``open_engine`` takes out of all flags of a command: what ``tree`` added, and some settings."""
    return {name: flags[name] for name in ("index_dir", "store", "embedder", "allow_home", *settings)}


def listen(port: int, condition: str = "") -> Callable[[F], F]:
    """Add ``--host`` and ``--port``: where a server listens; ``condition`` ends their help."""

    def add(command: F) -> F:
        command = click.option(
            "--port",
            type=click.IntRange(0, 65535),
            default=port,
            show_default=True,
            help=f"Port{condition}; 0: any free one.",
        )(command)
        return click.option(
            "--host", default="127.0.0.1", show_default=True, help=f"Address to listen on{condition}."
        )(command)

    return add


def read_only(command: F) -> F:
    """Add ``--read-only``: a server that never writes."""
    return click.option("--read-only", is_flag=True, help="Search the index as it is; never write it.")(
        command
    )


def profile(command: F) -> F:
    """Add ``--profile``: how hits are ranked."""
    return click.option(
        "--profile",
        type=click.Choice(["dowse", "locagent"]),
        help="Ranking, and the tools of a server: dowse's own (default), or LocAgent's.",
    )(command)


def no_refresh(command: F) -> F:
    """Add ``--no-refresh``: the setting ``refresh``, of every command that reads a fresh index."""
    return click.option(
        "--no-refresh",
        "refresh",
        is_flag=True,
        flag_value=False,
        default=None,
        help="Do not check for changed files before the search.",
    )(command)


def limit(what: str = "Hits to show (default: 10)", default: int | None = None) -> Callable[[F], F]:
    """Add ``--limit``: how much to show; without a default, as the settings say."""
    return click.option(
        "-n",
        "--limit",
        type=click.IntRange(min=1),
        default=default,
        show_default=default is not None,
        metavar="N",
        help=f"{what}.",
    )


def kinds(command: F) -> F:
    """Add ``--kind``: only definitions of some kinds."""
    return click.option(
        "--kind",
        "kinds",
        multiple=True,
        metavar="KIND",
        help="Only this kind: class, function, ... (repeatable).",
    )(command)


def filters(command: F) -> F:
    """Add the filters of a search, for ``build_filter``."""
    command = click.option(
        "--tests/--no-tests", default=None, help="Only tests, or no tests (default: both)."
    )(command)
    command = click.option(
        "--name",
        "names",
        multiple=True,
        metavar="GLOB",
        help="Only definitions named like this, which are looked up by name (repeatable).",
    )(command)
    command = kinds(command)
    command = click.option(
        "--not-path", "not_paths", multiple=True, metavar="GLOB", help="No files like this (repeatable)."
    )(command)
    command = click.option(
        "--path", "paths", multiple=True, metavar="GLOB", help="Only files like this (repeatable)."
    )(command)
    return click.option(
        "-l", "--lang", "languages", multiple=True, metavar="NAME", help="Only this language (repeatable)."
    )(command)


def build_filter(engine: Engine, flags: Mapping[str, Any]) -> Filter:
    """Build the filter that the flags of ``filters`` ask for."""
    return engine.filter(
        languages=flags["languages"],
        paths=[resolve_pattern(pattern, engine) for pattern in flags["paths"]],
        not_paths=[resolve_pattern(pattern, engine) for pattern in flags["not_paths"]],
        kinds=flags["kinds"],
        names=flags["names"],
        tests=flags["tests"],
    )


def resolve_pattern(pattern: str, engine: Engine) -> str:
    """Return a pattern relative to the root, also if it is given relative to the working directory."""
    if not pattern.replace("\\", "/").startswith(("./", "../")):
        return pattern
    return os.path.relpath(Path.cwd() / pattern, engine.root).replace("\\", "/")


RANKING_SETTINGS = ("limit", "min_relevance", "show_low_confidence", "hybrid", "refresh")
"""Settings that ``ranking`` adds flags for."""


def ranking(command: F) -> F:
    """Add what changes the ranking of a query and what is shown of it: ``--near``, and ``RANKING_SETTINGS``."""
    command = no_refresh(command)
    command = click.option(
        "--hybrid",
        type=click.Choice(["auto", "on", "off"]),
        help="Whether the dense channel is searched (default: auto, by the query).",
    )(command)
    command = click.option(
        "--near",
        metavar="FILE[:LINE]",
        help="Your position: this file, what it imports and its tests rank higher and always considered.",
    )(command)
    command = click.option(
        "--all",
        "show_low_confidence",
        is_flag=True,
        flag_value=True,
        default=None,
        help="Show all hits even if none is good.",
    )(command)
    command = click.option(
        "--min-relevance",
        type=click.FloatRange(0, 1),
        metavar="P",
        help="Hide hits of less relevance (0 to 1).",
    )(command)
    return limit()(command)


def find_near(engine: Engine, flags: Mapping[str, Any]) -> tuple[tuple[str, float], ...]:
    """Find the files around the position that ``--near`` names, from the working directory."""
    return engine.near(flags["near"], Path.cwd()) if flags["near"] else ()


def as_json(command: F) -> F:
    """Add ``--json``: output for programs."""
    return click.option("--json", "as_json", is_flag=True, help="Print one JSON object (see docs/json.md).")(
        command
    )


def color(command: F) -> F:
    """Add ``--color``: colours for people."""
    return click.option(
        "--color",
        type=click.Choice(["auto", "always", "never"]),
        default="auto",
        show_default=True,
        help="Colours; auto: on a terminal, unless NO_COLOR is set.",
    )(command)


def pager(command: F) -> F:
    """Add ``--pager``: whether a long answer is shown in a pager."""
    return click.option(
        "--pager",
        type=click.Choice(["auto", "always", "never"]),
        default="auto",
        show_default=True,
        help="$DOWSE_PAGER, $PAGER or less; auto: on a terminal, for what is longer than it.",
    )(command)


def no_server(command: F) -> F:
    """Add ``--no-server``: accepted here; ``server_client.py`` reads it."""
    return click.option(
        server_client.NO_SERVER_FLAG,
        is_flag=True,
        expose_value=False,
        help="Answer here, even if a server of this tree runs.",
    )(command)


def debug(command: F) -> F:
    """Add ``--debug``: accepted by every command; ``run_command.py`` reads it."""
    return click.option("--debug", is_flag=True, expose_value=False, help="Show the full trace of an error.")(
        command
    )


def open_engine(root: str | None, **given: Any) -> Engine:
    """Open the engine of a tree; values of None are options that were not given."""
    from dowse.engine import Engine

    return Engine.open(root, **given)
