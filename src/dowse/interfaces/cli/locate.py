"""``dowse locate``: find the code that a stack trace, compiler error or test failure on standard input is about."""

from __future__ import annotations

import click

from dowse.interfaces.cli import options
from dowse.interfaces.cli.search import search


@click.command()
@options.root
@click.option("-n", "--limit", type=click.IntRange(min=1), metavar="N", help="Hits to show (default: 10).")
@click.option("--explain", is_flag=True, help="Show how the output was read and what each score is made of.")
@options.as_json
@options.color
@options.debug
@click.pass_context
def locate(
    ctx: click.Context, root: str | None, limit: int | None, explain: bool, as_json: bool, color: str
) -> int:
    """Find the places that an error message is about.

    Reads the output of a program from standard input (a stack trace, compiler errors, a test run), finds the
    places it names in the index, and searches for what it says went wrong:

        pytest 2>&1 | dowse locate
    """
    flags = {"root": root, "limit": limit, "explain": explain, "as_json": as_json, "color": color}
    exit_code: int = ctx.invoke(search, words=("-",), **flags)
    return exit_code
