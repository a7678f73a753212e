"""Options that several commands share, and what they open."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from dowse.errors import UsageError

if TYPE_CHECKING:
    from dowse.engine import Engine

F = TypeVar("F", bound=Callable[..., Any])

STORE = "dowse.store"
"""Under this key a context has what --store said."""


class Question(click.Command):
    """A command with a question in ``words``. What the question rules out (``-path:tests``) is no option."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Arguments as ever, but for those that rule something out: they stand behind the other words."""
        end = args.index("--") if "--" in args else len(args)
        excluded = [arg for arg in args[:end] if _is_exclusion(arg)]
        kept = [arg for arg in args[:end] if arg not in excluded]
        rest = super().parse_args(ctx, [*kept, *args[end:]])
        ctx.params["words"] = (*ctx.params["words"], *excluded)
        return rest


def _is_exclusion(arg: str) -> bool:
    if not arg.startswith("-") or ":" not in arg:
        return False
    from dowse.search.query.parse import ALIASES, EXCLUDABLE

    name = arg[1:].partition(":")[0]
    return ALIASES.get(name, name) in EXCLUDABLE


def root(command: F) -> F:
    """``--root``: which tree."""
    return click.option(
        "-p",
        "--root",
        metavar="DIR",
        help="Folder to search (default: the project around the working directory).",
    )(command)


def any_root(command: F) -> F:
    """``--any-root``: even if it is hardly a source tree."""
    return click.option("--any-root", is_flag=True, help="Allow / and the home folder.")(command)


def index_dir(command: F) -> F:
    """``--index-dir`` and ``--store``: where its index is."""
    command = click.option(
        "--index-dir", metavar="DIR", help="Folder of the index (default: .dowse in the root)."
    )(command)
    return store(command)


def store(command: F) -> F:
    """``--store``: what kind of index. Kept with the context, for ``given_store``."""
    return click.option(
        "--store",
        metavar="STORE",
        expose_value=False,
        callback=_note_store,
        help="Where the index is kept: embedded, memory, or postgresql://HOST/DATABASE.",
    )(command)


def _note_store(ctx: click.Context, parameter: click.Parameter, value: str | None) -> None:
    ctx.meta[STORE] = value


def given_store() -> dict[str, Any]:
    """The store that the command line names, as a setting; nothing if it names none."""
    ctx = click.get_current_context(silent=True)
    value = ctx.meta.get(STORE) if ctx else None
    return {"store": value} if value else {}


def embedder(command: F) -> F:
    """``--embedder``: what makes vectors."""
    return click.option(
        "--embedder", metavar="NAME", help="What turns text into vectors; 'none' for nothing."
    )(command)


def as_json(command: F) -> F:
    """``--json``: for programs."""
    return click.option("--json", "as_json", is_flag=True, help="Print one JSON object (see docs/json.md).")(
        command
    )


def color(command: F) -> F:
    """``--color``: for people."""
    return click.option(
        "--color",
        type=click.Choice(["auto", "always", "never"]),
        default="auto",
        show_default=True,
        help="Colours; auto: on a terminal, unless NO_COLOR is set.",
    )(command)


def debug(command: F) -> F:
    """``--debug``: accepted everywhere; the outermost edge looks at it."""
    return click.option("--debug", is_flag=True, expose_value=False, help="Show the full trace of an error.")(
        command
    )


def place(written: str, root: Path) -> tuple[str, int]:
    """``PATH[:LINE]`` as a path from the root and a line, 0 if none is given.

    A path is relative to the working directory, or to the root if that leads out of it.
    """
    path, _, line = written.rpartition(":") if written.rpartition(":")[2].isdigit() else (written, "", "0")
    if line == "0" and written.endswith(":0"):
        raise UsageError("lines count from 1, not 0")
    inside = os.path.relpath(Path.cwd() / path, root).replace(os.sep, "/")
    return (path.replace(os.sep, "/") if inside.startswith("../") else inside), int(line)


def open_engine(root: str | None, **given: Any) -> Engine:
    """The engine for a tree; values of None are options that were not given."""
    from dowse.engine import Engine

    return Engine.open(root, **given_store(), **given)
