"""Standard output and standard error of commands: text, JSON and notes, for a terminal or for a pipe."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import click

from dowse import settings
from dowse.errors import OutputError
from dowse.interfaces import theme
from dowse.interfaces.render import View


def make_view(color: str, *, explain: bool = False, whole: bool = False) -> View:
    """Choose how to show an answer on standard output."""
    terminal = sys.stdout.isatty()
    columns, lines = _measure_terminal() if terminal else (0, 0)
    coloured = color == "always" or (color == "auto" and terminal and settings.wants_color())
    try:
        cwd = str(Path.cwd())
    except FileNotFoundError:
        cwd = ""  # removed while somebody was in it: paths are absolute then
    return View(
        cwd=cwd,
        paint=theme.colour if coloured else theme.plain,
        terminal=terminal,
        explain=explain,
        whole=whole or not terminal,
        width=columns,
        height=lines,
    )


def _measure_terminal() -> tuple[int, int]:
    from shutil import get_terminal_size

    return get_terminal_size()


def write(text: str) -> None:
    """Write text to standard output, as it is."""
    try:
        click.echo(text, color=True)
    except BrokenPipeError:
        raise  # the reader has closed the pipe
    except OSError as error:
        raise OutputError.because(error) from error


def write_paged(text: str, pager: str, view: View) -> None:
    """Write text to standard output; through the user's pager, if it is longer than the terminal is high."""
    is_long = text.count("\n") + 2 > view.height  # with the prompt below it
    if pager == "always" or (pager == "auto" and view.terminal and is_long):
        from dowse.interfaces.cli.pager import find_pager, show_in_pager

        if (command := find_pager()) and show_in_pager(command, text):
            return
    write(text)


def write_json(values: dict[str, Any]) -> None:
    r"""Write one object to standard output: on one line for programs, indented for people.

    The stream writes a lone surrogate (of a name that is not UTF-8) as ``\udcff``, as JSON does.
    """
    write(format_json(values, indent=sys.stdout.isatty()))


def format_json(values: dict[str, Any], *, indent: bool) -> str:
    """Format one object as JSON."""
    layout: dict[str, Any] = {"indent": 2} if indent else {"separators": (",", ":")}
    return json.dumps(values, ensure_ascii=False, **layout)


def remark(text: str) -> None:
    """Write a note to standard error, beside the output."""
    click.echo(text, err=True)
