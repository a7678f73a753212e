"""Command-line interface (click): the table of commands, each lazily imported when it is called.

``dowse --help`` is answered from the table alone, so that it costs no more than importing click. Adding a command is
one file here and one row.
"""

from __future__ import annotations

from importlib import import_module
from typing import NamedTuple

import click

from dowse import __version__
from dowse.gc_pause import gc_paused

HELP_WIDTH = 100
"""Columns of a help text on a wide terminal; longer lines are hard to read."""


class CommandRow(NamedTuple):
    """A command: where its function is, and what it is for in one line."""

    home: str
    summary: str


COMMANDS = {
    "search": CommandRow("dowse.interfaces.cli.search:search", "Find the places that answer a query."),
    "locate": CommandRow(
        "dowse.interfaces.cli.locate:locate", "Find the places that an error message is about."
    ),
    "open": CommandRow(
        "dowse.interfaces.cli.open_hit:open_hit", "Open a hit of the last answer in the editor."
    ),
    "explain": CommandRow(
        "dowse.interfaces.cli.explain:explain", "Explain why a place is found, or why it is not."
    ),
    "related": CommandRow("dowse.interfaces.cli.related:related", "Find what belongs to a place."),
    "entities": CommandRow(
        "dowse.interfaces.cli.entities:entities",
        "Find entities by id, name, prefix, glob or content, files and folders too.",
    ),
    "show": CommandRow("dowse.interfaces.cli.entities:show", "Print the whole code of entities."),
    "callers": CommandRow(
        "dowse.interfaces.cli.graph:callers", "Show who calls a function, a method or a class."
    ),
    "callees": CommandRow("dowse.interfaces.cli.graph:callees", "Show what something calls."),
    "deps": CommandRow("dowse.interfaces.cli.graph:deps", "Show the files that a file depends on."),
    "impact": CommandRow("dowse.interfaces.cli.graph:impact", "Show what depends on a file or a symbol."),
    "traverse": CommandRow("dowse.interfaces.cli.graph:traverse", "Walk the code graph from some nodes."),
    "hierarchy": CommandRow(
        "dowse.interfaces.cli.graph:hierarchy", "Show the classes above and below a class."
    ),
    "path": CommandRow("dowse.interfaces.cli.graph:path", "Show how one thing reaches another."),
    "hubs": CommandRow("dowse.interfaces.cli.graph:hubs", "Show the nodes that most others depend on."),
    "cycles": CommandRow("dowse.interfaces.cli.graph:cycles", "Show circular imports."),
    "affected": CommandRow(
        "dowse.interfaces.cli.affected:affected",
        "Show what a change affects, and which tests to run.",
    ),
    "index": CommandRow(
        "dowse.interfaces.cli.index:index", "Update the index: index new, changed and deleted files."
    ),
    "status": CommandRow("dowse.interfaces.cli.status:status", "Show the state of the index."),
    "list": CommandRow(
        "dowse.interfaces.cli.list_files:list_files", "List the files in the index, or those skipped."
    ),
    "languages": CommandRow("dowse.interfaces.cli.languages:languages", "List the supported languages."),
    "eval": CommandRow(
        "dowse.interfaces.cli.evaluate:evaluate", "Measure how well search works on this repository."
    ),
    "terms": CommandRow(
        "dowse.interfaces.cli.terms:terms", "Check and measure a term graph (synonyms for queries)."
    ),
    "store": CommandRow("dowse.interfaces.cli.store:store", "Manage an index that a team shares."),
    "config": CommandRow("dowse.interfaces.cli.config:config", "Show the settings and where they come from."),
    "trust": CommandRow("dowse.interfaces.cli.trust:trust", "Use an index that was made elsewhere."),
    "clear": CommandRow("dowse.interfaces.cli.clear:clear", "Remove the index."),
    "doctor": CommandRow("dowse.interfaces.cli.doctor:doctor", "Check the installation and the index."),
    "shell": CommandRow("dowse.interfaces.cli.shell:shell", "Search interactively."),
    "serve": CommandRow("dowse.interfaces.cli.serve:serve", "Serve the web page and the HTTP API."),
    "mcp": CommandRow("dowse.interfaces.cli.mcp:mcp", "Serve coding agents over the Model Context Protocol."),
    "agent": CommandRow("dowse.interfaces.cli.agent:agent", "Set up coding agents to use dowse."),
    "watch": CommandRow("dowse.interfaces.cli.watch:watch", "Keep the index up to date while files change."),
    "hook": CommandRow("dowse.interfaces.cli.hook:hook", "Install git hooks that update the index."),
    "completion": CommandRow(
        "dowse.interfaces.cli.completion:completion", "Print the completion script of a shell."
    ),
}

DEFAULT_COMMAND = "search"
"""The command that runs when the first word is not a command."""

IMPLIED_KEY = "dowse.implied"
"""Key of a context's ``meta`` that tells whether the default command was added."""

_LEADING_FLAGS = frozenset({"--debug", "--help", "-h", "--version"})
"""Flags that may come before the command."""


class CommandTable(click.Group):
    """A group whose commands are the rows of the table."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """List the names, in the order of the table."""
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Load the command of this name."""
        if cmd_name not in COMMANDS:
            return None
        module, _, function = COMMANDS[cmd_name].home.partition(":")
        with gc_paused():
            command: click.Command = getattr(import_module(module), function)
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the table into the help text, without loading any command."""
        with formatter.section("Commands"):
            formatter.write_dl([(name, row.summary) for name, row in COMMANDS.items()])

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Parse arguments, with ``search`` as the default command."""
        completed = add_default_command(args)
        ctx.meta[IMPLIED_KEY] = completed != args
        return super().parse_args(ctx, completed)


def add_default_command(args: list[str]) -> list[str]:
    """Insert ``search`` in front of a query without a command."""
    first = next((i for i, arg in enumerate(args) if arg not in _LEADING_FLAGS), None)
    if first is None or args[first] in COMMANDS:
        return args
    return [*args[:first], DEFAULT_COMMAND, *args[first:]]


@click.command(
    cls=CommandTable,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": HELP_WIDTH},
    options_metavar="",
    subcommand_metavar="[COMMAND] [OPTIONS] ...",
    invoke_without_command=True,
    epilog="Exit codes: 0 found, 1 nothing good found, 2 bad usage, 3 index problem, 4 other error.",
)
@click.option("--debug", is_flag=True, expose_value=False, help="Show the full trace of an error.")
@click.version_option(__version__, message="dowse %(version)s")
@click.pass_context
def cli(ctx: click.Context) -> int | None:
    """Find code by what it does and by what it is called.

    Without a command, the words are a query:

    \b
      dowse where is the token refreshed
      dowse "parse config" --lang python
    """
    if ctx.invoked_subcommand is None:
        click.echo(ctx.get_help())
        return 2
    return None
