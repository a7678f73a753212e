"""``dowse locate``: find the code that a stack trace, compiler error, test failure or issue report is about."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import click

from dowse.errors import UsageError
from dowse.interfaces.cli.search import read_stdin, search, search_options

MAX_FILE_BYTES = 1_000_000
"""Of a longer log the end is read, where it says what went wrong."""


@click.command()
@click.argument("pasted", nargs=-1, metavar="[FILE|TEXT]...")
@search_options
@click.pass_context
def locate(ctx: click.Context, /, pasted: tuple[str, ...], **flags: Any) -> int:
    """Find the places that an error message is about.

    Reads the output of a program or an issue report (a stack trace, compiler errors, a test run) from standard
    input, from files, or as it is given, finds the places it names in the index, and searches for what it
    says went wrong. Nothing in it is a filter, a phrase or a pattern:

        pytest 2>&1 | dowse locate
        dowse locate build.log
        dowse locate "KeyError: 'total'"

    Takes the options of search.
    """
    exit_code: int = ctx.invoke(search, words=(_read_pasted(pasted),), pasted=True, **flags)
    return exit_code


def _read_pasted(given: tuple[str, ...]) -> str:
    """Read files and standard input; what is neither is text."""
    if given in ((), ("-",)):
        if sys.stdin.isatty():
            click.echo("paste the output of the program, then press Ctrl-D on a line of its own", err=True)
        return read_stdin()
    parts = [read_stdin() if part == "-" else _read_file(part) or part for part in given]
    are_files = len(given) > 1 and all(part != read for part, read in zip(given, parts, strict=True))
    return ("\n" if are_files else " ").join(parts)


def _read_file(name: str) -> str:
    """Read the end of a file; empty if there is no such file."""
    try:
        if not (path := Path(name)).is_file():
            return ""
        with path.open("rb") as file:
            file.seek(max(0, path.stat().st_size - MAX_FILE_BYTES))
            return file.read(MAX_FILE_BYTES).decode("utf-8", "replace")
    except (OSError, ValueError) as error:  # a text with a NUL, or too long for a name, is no file
        if isinstance(error, PermissionError):
            raise UsageError(f"{name} cannot be read: {error.strerror}") from error
        return ""
