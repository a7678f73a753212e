"""``dowse open``: open a hit of the last answer in the editor."""

from __future__ import annotations

import subprocess

import click

from dowse import roots
from dowse.interfaces.cli import options
from dowse.interfaces.editor import build_editor_command
from dowse.interfaces.last_answer import find_hit


@click.command("open")
@click.argument("number", type=click.IntRange(min=1), metavar="N")
@options.root
@options.debug
def open_hit(number: int, root: str | None) -> int:
    """Open a hit of the last answer in the editor.

    N is the number in front of the hit, in the last answer about this tree on a terminal. The editor is $VISUAL or
    $EDITOR. To search and open at once: dowse QUERY -o N.
    """
    return open_in_editor(*find_hit(roots.resolve_root(root, allow_home=True), number))


def open_in_editor(path: str, line: int) -> int:
    """Open a file at a line; return the exit code of the editor."""
    return subprocess.call(build_editor_command(path, line))
