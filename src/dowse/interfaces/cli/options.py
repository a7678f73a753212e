"""Shared command-line options (``--root``, ``--store``, ``--json``, ...), and opening the engine from them."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

import click

if TYPE_CHECKING:
    from dowse.engine import Engine

F = TypeVar("F", bound=Callable[..., Any])

STORE_KEY = "dowse.store"
"""Key of a context's ``meta`` that has the value of --store."""


class QueryCommand(click.Command):
    """A command with a query in ``words``. Exclusions in the query (``-path:tests``) are not options."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Parse arguments, with the exclusions moved behind the other words of the query."""
        end = args.index("--") if "--" in args else len(args)
        excluded = [arg for arg in args[:end] if _is_exclusion(arg)]
        kept = [arg for arg in args[:end] if arg not in excluded]
        rest = super().parse_args(ctx, [*kept, *args[end:]])
        ctx.params["words"] = (*ctx.params["words"], *excluded)
        return rest


def _is_exclusion(arg: str) -> bool:
    if not arg.startswith("-") or ":" not in arg:
        return False
    from dowse.search.query.parse import EXCLUDABLE_FIELDS, FIELD_ALIASES

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
    """Add ``--index-dir`` and ``--store``: where the index is."""
    command = click.option(
        "--index-dir", metavar="DIR", help="Folder of the index (default: .dowse in the root)."
    )(command)
    return store(command)


def store(command: F) -> F:
    """Add ``--store``: what kind of index. Kept with the context, for ``store_setting``."""
    return click.option(
        "--store",
        metavar="STORE",
        expose_value=False,
        callback=_remember_store,
        help="Where the index is kept: embedded, memory, or postgresql://HOST/DATABASE.",
    )(command)


def _remember_store(ctx: click.Context, parameter: click.Parameter, value: str | None) -> None:
    ctx.meta[STORE_KEY] = value


def store_setting() -> dict[str, Any]:
    """Return the store that the command line names, as a setting; nothing if it names none."""
    ctx = click.get_current_context(silent=True)
    value = ctx.meta.get(STORE_KEY) if ctx else None
    return {"store": value} if value else {}


def embedder(command: F) -> F:
    """Add ``--embedder``: what makes vectors."""
    return click.option(
        "--embedder", metavar="NAME", help="What turns text into vectors; 'none' for nothing."
    )(command)


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


def debug(command: F) -> F:
    """Add ``--debug``: accepted by every command; ``run_command.py`` reads it."""
    return click.option("--debug", is_flag=True, expose_value=False, help="Show the full trace of an error.")(
        command
    )


def open_engine(root: str | None, **given: Any) -> Engine:
    """Open the engine of a tree; values of None are options that were not given."""
    from dowse.engine import Engine

    return Engine.open(root, **store_setting(), **given)
