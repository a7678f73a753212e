"""Top-level error handling of the command line: run a command, and turn every error into a message and an exit code.

Also sets up the standard streams: UTF-8, closed streams, broken pipes.
"""

from __future__ import annotations

import errno
import io
import os
import sys
from collections.abc import Sequence
from itertools import takewhile

import click
from click.exceptions import Exit

from dowse.errors import DowseError, OutputError, UsageError
from dowse.interfaces.cli import cli

INTERNAL_ERROR = 4
INTERRUPTED = 130

COMPLETE_VARIABLE = "_DOWSE_COMPLETE"
"""Environment variable with which a shell asks for completions; it calls without arguments."""

_STREAM_MODES = (("stdin", "r", os.O_WRONLY), ("stdout", "w", os.O_RDONLY), ("stderr", "w", os.O_WRONLY))
"""The standard streams by number: name, mode, and the access to the null device that replaces a closed one."""


def run(args: Sequence[str]) -> int:
    """Run a command line and return its exit code."""
    closed = _open_closed_streams()
    for stream in (sys.stdout, sys.stderr):  # UTF-8 on every system; what cannot be encoded is escaped
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(encoding="utf-8", errors="backslashreplace")
    flags = frozenset(takewhile(lambda arg: arg != "--", args))
    try:
        try:
            code = _complete() if not args else None
            if code is None:
                with cli.make_context("dowse", list(args)) as ctx:
                    code = cli.invoke(ctx) or 0
        except Exit as leave:
            code = leave.exit_code
        sys.stdout.flush()
    except BrokenPipeError:
        _silence_stdout()
        return 0  # the reader has closed the pipe
    except (KeyboardInterrupt, click.Abort):
        click.echo("\ndowse: interrupted; the index keeps what was finished", err=True)
        return INTERRUPTED
    except Exception as error:
        code = _report(
            _translate_stream_error(error, closed), as_json="--json" in flags, trace="--debug" in flags
        )
    return code


def _complete() -> int | None:
    """Answer a shell that asks for completions; None if none does."""
    from dowse import settings

    if not (request := settings.read_variable(COMPLETE_VARIABLE)):
        return None
    from click.shell_completion import shell_complete

    return shell_complete(cli, {}, "dowse", COMPLETE_VARIABLE, request)


def _report(error: Exception, *, as_json: bool, trace: bool) -> int:
    """Print what went wrong, and return the exit code."""
    kind, message, code = _describe(error)
    if trace:
        import traceback

        traceback.print_exception(error)
    click.echo(f"dowse: {message}", err=True)
    try:
        if as_json:
            import json

            click.echo(json.dumps({"schema": 2, "error": {"type": kind, "message": message}}))
        sys.stdout.flush()
    except OSError:
        _silence_stdout()  # standard output is what the error is about
    return code


def _describe(error: Exception) -> tuple[str, str, int]:
    """Return type, message and exit code of an error."""
    kind = type(error).__name__
    if isinstance(error, DowseError):
        return kind, str(error), error.exit_code
    if isinstance(error, click.UsageError):
        command = error.ctx.command_path if error.ctx else "dowse"
        message = error.format_message().rstrip(".").replace("\n", " ")
        return UsageError.__name__, f"{message} (see '{command} --help')", UsageError.exit_code
    if isinstance(error, click.ClickException):
        return kind, error.format_message(), INTERNAL_ERROR
    summary = " ".join(f"{kind}: {error}".split())
    return kind, f"internal error: {summary} (run with --debug for the trace)", INTERNAL_ERROR


def _open_closed_streams() -> set[str]:
    """Open the standard streams that are closed, and return their names.

    Otherwise the next file to be opened would get the number of one: a message would be written into the index.
    Output to standard error is lost; the others fail when they are used, and only then.
    """
    closed = set()
    for number, (name, mode, allowed) in enumerate(_STREAM_MODES):
        if getattr(sys, name) is None:
            nowhere = os.open(os.devnull, allowed)
            os.dup2(nowhere, number)
            if nowhere != number:
                os.close(nowhere)
            setattr(sys, name, os.fdopen(number, mode, encoding="utf-8", closefd=False))
            closed.add(name)
    return closed


def _translate_stream_error(error: Exception, closed: set[str]) -> Exception:
    """Replace the error of a stream that was closed by one that says so; return any other as it is."""
    if not isinstance(error, OSError) or error.errno != errno.EBADF:
        return error
    if "stdin" in closed:
        return UsageError("standard input is closed: send it what is to be read, as in 'dowse ... < FILE'")
    return OutputError.because(error) if "stdout" in closed else error


def _silence_stdout() -> None:
    """Discard what is still buffered: the interpreter would complain about it while it exits."""
    with open(os.devnull, "w", encoding="utf-8") as nowhere:
        os.dup2(nowhere.fileno(), sys.stdout.fileno())
