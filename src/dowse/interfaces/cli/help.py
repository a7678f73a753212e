"""``dowse help``: the help of the program or of a command, as ``--help`` shows it."""

from __future__ import annotations

import click

from dowse.errors import UsageError
from dowse.interfaces.cli import COMMANDS, cli, find_command, options


@click.command("help")
@click.argument("words", nargs=-1, metavar="[COMMAND]...")
@options.debug
@click.pass_context
def show_help(ctx: click.Context, words: tuple[str, ...]) -> int:
    """Show this text, or the help of a command."""
    assert ctx.parent is not None
    command: click.Command = cli
    below = ctx.parent
    for word in words:
        found = command.get_command(below, word) if isinstance(command, click.Group) else None
        if found is None:
            known = (
                [*command.commands]
                if isinstance(command, click.Group) and command is not cli
                else [*COMMANDS]
            )
            hint = (
                f"did you mean '{close}'?"
                if (close := find_command(word, known))
                else "'dowse help' lists them"
            )
            raise UsageError(f"there is no command '{word}': {hint}")
        command, below = found, click.Context(found, info_name=word, parent=below)
    click.echo(command.get_help(below))
    return 0
