"""``dowse shell``: the interactive shell (REPL) with line history and tab completion (readline)."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any

import click

from dowse import settings
from dowse.errors import DowseError
from dowse.interfaces.cli import options, output
from dowse.interfaces.progress import progress_line
from dowse.interfaces.repl import Conversation, Quit

if TYPE_CHECKING:
    from dowse.interfaces.repl import Conversation

HISTORY_FILE = "history"
MAX_HISTORY_LINES = 1000
"""Lines of history that are kept between sessions."""

PROMPT = "dowse> "


@click.command()
@options.limit()
@options.no_refresh
@options.tree
@options.color
@options.debug
def shell(root: str | None, color: str, **given: Any) -> int:
    """Search interactively.

    The index stays open, so that answers come at once. :help lists the commands: filters that stay set, opening a hit
    in the editor, more hits. There is a history and completion, if the terminal supports it.
    """
    with options.open_engine(root, **given) as engine:
        with progress_line() as progress:
            engine.refresh(progress)
        conversation = Conversation(engine, output.make_view(color))
        if sys.stdin.isatty():
            output.remark(f"{engine.root}; :help lists the commands, Ctrl-D ends")
        with _line_editing(conversation):
            for line in _read_lines():
                try:
                    if text := conversation.answer(line):
                        output.write(text)
                except Quit:
                    break
                except DowseError as error:
                    output.remark(f"dowse: {error}")
    return 0


def _read_lines() -> Iterator[str]:
    """Read lines until the end of input; Ctrl-C drops a line."""
    while True:
        try:
            yield input(PROMPT if sys.stdin.isatty() else "")
        except EOFError:
            return
        except KeyboardInterrupt:
            click.echo()


@contextmanager
def _line_editing(conversation: Conversation) -> Iterator[None]:
    """Switch on history and completion, where there is a terminal and Python has readline."""
    if not sys.stdin.isatty():
        yield
        return
    if sys.platform == "win32":
        yield
        return
    try:
        import readline
    except ImportError:  # Python may be built without it
        yield
        return

    file = settings.user_cache_dir() / HISTORY_FILE

    def complete(text: str, state: int) -> str | None:
        found = conversation.completions(text)
        return found[state] if state < len(found) else None

    readline.set_completer(complete)
    readline.set_completer_delims(" \t")
    readline.parse_and_bind("tab: complete")
    with suppress(OSError):
        readline.read_history_file(file)
    try:
        yield
    finally:
        readline.set_history_length(MAX_HISTORY_LINES)
        with suppress(OSError):
            file.parent.mkdir(parents=True, exist_ok=True)
            readline.write_history_file(file)
