"""``dowse hook``: install git hooks that reindex after a commit, a checkout, a merge or a rebase."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import click

from dowse import roots
from dowse.interfaces import hooks
from dowse.interfaces.cli import options, output
from dowse.interfaces.theme import escape_text

ABSENT = 1
"""The exit code of ``dowse hook status`` if a hook does not start dowse."""


@click.group(no_args_is_help=False)
def hook() -> None:
    """Install git hooks that update the index.

    The hooks start 'dowse index' in the background, so git does not wait for it. Other commands in a hook stay.
    """


@hook.command("install")
@options.root
@options.debug
def install(root: str | None) -> int:
    """Add dowse to the hooks of the repository."""
    return _print_changes(hooks.install(roots.resolve_root(root)), "the hooks are there already")


@hook.command("status")
@options.root
@options.debug
def status(root: str | None) -> int:
    """Show which hooks start dowse."""
    found = hooks.list_installed(roots.resolve_root(root))
    for path, is_installed in found.items():
        output.write(f"{'installed' if is_installed else 'absent   '}  {escape_text(str(path))}")
    if not all(found.values()):
        output.remark("'dowse hook install' adds what is absent")
    return 0 if all(found.values()) else ABSENT


@hook.command("uninstall")
@options.root
@options.debug
def uninstall(root: str | None) -> int:
    """Take dowse out of the hooks; everything else in them stays."""
    return _print_changes(hooks.uninstall(roots.resolve_root(root)), "there are no hooks of dowse")


def _print_changes(changed: Sequence[Path], otherwise: str) -> int:
    for path in changed:
        output.write(escape_text(str(path)))
    if not changed:
        output.remark(otherwise)
    return 0
