"""Command-line interface (click): the table of commands, each lazily imported when it is called.

``dowse --help`` is answered from the table alone, so that it costs no more than importing click. Adding a command is
one file here and one row.
"""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches
from importlib import import_module
from typing import NamedTuple

import click

from dowse import __version__
from dowse.gc_pause import gc_paused

HELP_WIDTH = 100
"""Columns of a help text on a wide terminal; longer lines are hard to read."""


class CommandRow(NamedTuple):
    """A command: where its function is in this package, and what it is for in one line."""

    home: str
    summary: str


COMMAND_GROUPS = {
    "Search": {
        "search": CommandRow("search:search", "Find the places that answer a query."),
        "locate": CommandRow("locate:locate", "Find the places that an error message is about."),
        "open": CommandRow("open_hit:open_hit", "Open a hit of the last answer in the editor."),
        "related": CommandRow("related:related", "Find what belongs to a place."),
        "explain": CommandRow("explain:explain", "Explain why a place is found, or why it is not."),
        "entities": CommandRow("entities:entities", "Find entities by id, name, prefix, glob or content."),
        "show": CommandRow("entities:show", "Print the whole code of entities."),
        "shell": CommandRow("shell:shell", "Search interactively."),
        "serve": CommandRow("serve:serve", "Serve the web page and the HTTP API."),
    },
    "Understand": {
        "callers": CommandRow("graph:callers", "Show who calls a function, a method or a class."),
        "callees": CommandRow("graph:callees", "Show what something calls."),
        "deps": CommandRow("graph:deps", "Show the files that a file depends on."),
        "impact": CommandRow("graph:impact", "Show what depends on a file or a symbol."),
        "traverse": CommandRow("graph:traverse", "Walk the code graph from some nodes."),
        "hierarchy": CommandRow("graph:hierarchy", "Show the classes above and below a class."),
        "path": CommandRow("graph:path", "Show how one thing reaches another."),
        "hubs": CommandRow("graph:hubs", "Show the nodes that most others depend on."),
        "cycles": CommandRow("graph:cycles", "Show circular imports."),
        "affected": CommandRow("affected:affected", "Show what a change affects, and which tests to run."),
        "history": CommandRow("history:history", "Find the commits that answer a question."),
        "blame": CommandRow("history:blame", "Show who wrote a place, and why."),
    },
    "Index": {
        "index": CommandRow("index:index", "Update the index: index new, changed and deleted files."),
        "status": CommandRow("status:status", "Show the state of the index."),
        "list": CommandRow("list_files:list_files", "List the files in the index, or those skipped."),
        "watch": CommandRow("watch:watch", "Keep the index up to date while files change."),
        "hook": CommandRow("hook:hook", "Install git hooks that update the index."),
        "clear": CommandRow("clear:clear", "Remove the index."),
        "trust": CommandRow("trust:trust", "Use an index that was made elsewhere."),
        "languages": CommandRow("languages:languages", "List the supported languages."),
        "config": CommandRow("config:config", "Show the settings and where they come from."),
        "doctor": CommandRow("doctor:doctor", "Check the installation and the index."),
        "completion": CommandRow("completion:completion", "Print the completion script of a shell."),
        "help": CommandRow("help:show_help", "Show this text, or the help of a command."),
    },
    "Agents": {
        "agent": CommandRow("agent:agent", "Set up coding agents to use dowse."),
        "mcp": CommandRow("mcp:mcp", "Serve coding agents over the Model Context Protocol."),
    },
    "Team": {
        "store": CommandRow("store:store", "Manage an index that a team shares."),
        "terms": CommandRow("terms:terms", "Check and measure a term graph (synonyms for queries)."),
    },
    "Quality": {
        "eval": CommandRow("evaluate:evaluate", "Measure how well search works on this repository."),
    },
}
"""The commands as the help lists them: by what they are for."""

COMMANDS = {name: row for group in COMMAND_GROUPS.values() for name, row in group.items()}

DEFAULT_COMMAND = "search"
"""The command that runs when the first word is not a command."""

MIN_SIMILARITY = 0.75
"""How similar to a command a word must be to count as a typing error: "statsu"."""

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
            command: click.Command = getattr(import_module(f"{__name__}.{module}"), function)
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the table into the help text, a section for each group, without loading any command."""
        width = max(map(len, COMMANDS))
        for group, rows in COMMAND_GROUPS.items():
            with formatter.section(group):
                formatter.write_dl([(f"{name:<{width}}", row.summary) for name, row in rows.items()])

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Parse arguments, with ``search`` as the default command."""
        completed = add_default_command(args)
        ctx.meta[IMPLIED_KEY] = completed != args
        return super().parse_args(ctx, completed)


def find_command(word: str, known: Iterable[str]) -> str:
    """Find the command that a word was meant to be; empty if there is none like it."""
    return next(iter(get_close_matches(word, list(known), n=1, cutoff=MIN_SIMILARITY)), "")


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
