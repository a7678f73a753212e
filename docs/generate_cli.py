"""Writes docs/cli.md from the help texts of the commands; with --check only says whether it is up to date."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import click

from dowse.interfaces.cli import COMMANDS, cli

PAGE = Path(__file__).with_name("cli.md")

WIDTH = 100
"""Columns of a help text, whatever the terminal it is generated on."""

INTRODUCTION = """\
# The command line

This page is written by `docs/generate_cli.py` from what `--help` says.

A query needs no command: `dowse where is the token refreshed` is a search. If the first word of a query
is the name of a command, write `dowse search` before it; `dowse search -- -x` searches for `-x`.

| exit code | meaning |
|---|---|
| 0 | found; done |
| 1 | nothing found, nothing to index, a file that is skipped (`status --why`), a prompt answered with no |
| 2 | bad usage: an unknown option, setting, language or folder, a regular expression that takes too long |
| 3 | the index cannot be used as it is: missing, locked, corrupt, written by a newer dowse, not writable |
| 4 | any other error; `dowse index` when some files failed |
| 130 | interrupted by Ctrl-C |

Answers go to standard output, everything else to standard error. On a terminal, a hit is a numbered line (place,
name, kind, and how likely it is right: strong, likely or weak), then its signature and the few lines that match
best, cut to the width of the terminal (`--full` shows all of them). What is longer than the terminal is shown in
a pager, the first hit first. `dowse open 2` opens the second hit in your editor, and `--offset 10` shows the next
page. In a pipe, a hit is `path:first-last: name (kind) strength`, followed by its lines, indented and numbered;
hits are separated by an empty line. Numbers (relevance, scores) are in `--explain` and `--json`.
The path of a hit is relative to the working directory, so that you can open it. Ids of the code graph, and
the paths in `list`, `status` and `affected`, are relative to the root, as for `--path`.
Control characters in names and code are escaped (`\\x1b`), and very long lines are cut;
`--json` has everything unchanged, see [json.md](json.md).
"""


def page() -> str:
    """Make the page as it should be."""
    return "\n".join([INTRODUCTION, *(section(*item) for item in commands())])


def commands() -> Iterator[tuple[str, click.Command]]:
    """Every command by the words that call it, groups before their commands."""
    yield "dowse", cli
    with click.Context(cli, info_name="dowse") as ctx:
        for name in COMMANDS:
            command = cli.get_command(ctx, name)
            assert command is not None
            yield f"dowse {name}", command
            if isinstance(command, click.Group):
                yield from ((f"dowse {name} {below}", c) for below, c in command.commands.items())


def section(words: str, command: click.Command) -> str:
    """Make a heading and the help text."""
    names = cli.context_settings["help_option_names"]
    with click.Context(
        command, info_name=words, help_option_names=names, terminal_width=WIDTH, max_content_width=WIDTH
    ) as ctx:
        return f"## {words}\n\n```text\n{ctx.get_help()}\n```\n"


if __name__ == "__main__":
    from generated_page import write_or_check

    sys.exit(write_or_check(PAGE, page()))
