"""Show long text in the user's pager (``less -R``), as git does."""

from __future__ import annotations

import shlex
import subprocess
from contextlib import suppress
from shutil import which

from dowse import settings

LESS_FLAGS = "-FRX"
"""Flags of less, where the user has set none: an end where all fits, colours, and the text stays on the screen."""


def find_pager() -> list[str]:
    """Return the command of the pager: the user's, or less; empty if there is none, or ``cat`` is it."""
    given = settings.read_variable("DOWSE_PAGER") or settings.read_variable("PAGER") or "less"
    words = shlex.split(given, posix=settings.is_posix())
    if not words or words[0] == "cat" or not which(words[0]) or settings.read_variable("TERM") == "dumb":
        return []
    return [*words, LESS_FLAGS] if words == ["less"] and not settings.read_variable("LESS") else words


def show_in_pager(command: list[str], text: str) -> bool:
    """Show text in a pager; return whether it could be started."""
    try:
        pager = subprocess.Popen(command, stdin=subprocess.PIPE)
    except OSError:
        return False
    assert pager.stdin is not None
    with suppress(BrokenPipeError), pager.stdin as pipe:  # it was left before the end
        pipe.write(f"{text}\n".encode("utf-8", "backslashreplace"))
    while True:
        try:
            pager.wait()
            return True
        except KeyboardInterrupt:  # is for the pager, which goes on
            continue
