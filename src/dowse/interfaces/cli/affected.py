"""``dowse affected``: impact analysis of a change (git diff): affected code, and tests to run (test selection)."""

from __future__ import annotations

import sys
from typing import Any

import click

from dowse.errors import UsageError
from dowse.interfaces import render_graph
from dowse.interfaces.cli import options, output
from dowse.interfaces.cli.graph import depth_option
from dowse.types.graph_values import DEFAULT_DEPTHS, Walk

NOTHING_FOUND = 1

MAX_DIFF_BYTES = 50_000_000
"""Bytes of a diff that are read."""


@click.command()
@click.option("--since", metavar="REV", help="Changes since this commit, branch or tag (default: HEAD).")
@click.option("--diff", metavar="FILE", help="The change as a unified diff; '-' reads standard input.")
@depth_option(DEFAULT_DEPTHS["affected"])
@click.option("--tests", "tests_only", is_flag=True, help="Only the tests to run, by their paths.")
@options.no_refresh
@options.tree
@options.as_json
@options.color
@options.debug
def affected(
    root: str | None,
    since: str | None,
    diff: str | None,
    depth: int | None,
    tests_only: bool,
    as_json: bool,
    color: str,
    **given: Any,
) -> int:
    """Show what a change affects, and which tests to run.

    Without options the change is what differs from the last commit. Files that usually change together with the
    changed ones are taken from git's history.
    """
    if since and diff:
        raise UsageError("--since and --diff exclude each other: give one of them")
    text = _read_diff(diff) if diff else None
    with options.open_engine(root, **given) as engine:
        found = engine.graph.find_affected(since or "HEAD", text, Walk(depth=depth))
    if as_json:
        output.write_json(render_graph.affected_values(found))
    elif tests_only:
        output.write("\n".join(path for path, _ in found.tests))
    elif shown := render_graph.affected_text(found, output.make_view(color).paint):
        output.write(shown)
    for note in found.notes:
        output.remark(note)
    return 0 if found.changed or found.removed else NOTHING_FOUND


def _read_diff(diff: str) -> str:
    if diff == "-":
        return sys.stdin.buffer.read(MAX_DIFF_BYTES).decode("utf-8", "replace")
    try:
        with open(diff, "rb") as file:
            return file.read(MAX_DIFF_BYTES).decode("utf-8", "replace")
    except OSError as error:
        raise UsageError(
            f"{diff} cannot be read ({error.strerror}): give a diff, or '-' for standard input"
        ) from error
