"""``dowse locate``: find the code that a stack trace, compiler error or test failure on standard input is about."""

from __future__ import annotations

from typing import Any

import click

from dowse.interfaces.cli.search import search, search_options


@click.command()
@search_options
@click.pass_context
def locate(ctx: click.Context, /, **flags: Any) -> int:
    """Find the places that an error message is about.

    Reads the output of a program from standard input (a stack trace, compiler errors, a test run), finds the
    places it names in the index, and searches for what it says went wrong:

        pytest 2>&1 | dowse locate

    Takes the options of search.
    """
    exit_code: int = ctx.invoke(search, words=("-",), **flags)
    return exit_code
