"""Open a file at a line in the user's editor."""

from __future__ import annotations

import shlex
from pathlib import Path

from dowse import settings
from dowse.errors import UsageError

EDITOR_LINE_ARGUMENTS = {
    "code": "-g {path}:{line}",
    "codium": "-g {path}:{line}",
    "cursor": "-g {path}:{line}",
    "windsurf": "-g {path}:{line}",
    "zed": "{path}:{line}",
    "subl": "{path}:{line}",
    "hx": "{path}:{line}",
    "idea": "--line {line} {path}",
    "pycharm": "--line {line} {path}",
    "notepad": "{path}",
}
"""Arguments that open a file at a line, by editor; all others understand ``+LINE PATH`` (vi, vim, nano, emacs, kak)."""


def build_editor_command(path: str, line: int) -> list[str]:
    """Return the command that opens a file at a line in the user's editor."""
    editor = settings.read_variable("VISUAL") or settings.read_variable("EDITOR")
    if not editor:
        raise UsageError("set VISUAL or EDITOR to your editor, for example EDITOR=vim")
    words = shlex.split(editor, posix=settings.is_posix())
    template = EDITOR_LINE_ARGUMENTS.get(Path(words[0]).stem.lower(), "+{line} {path}")
    return [*words, *(word.format(path=path, line=line) for word in template.split(" "))]
