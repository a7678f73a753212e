"""Searches texts for regular expressions, in a process of its own that ends itself where that takes too long.

Python's ``re`` may take longer than anybody waits for one line (``/^(a+)+$/``), cannot be stopped, and lets no other
thread run meanwhile: a server would never answer again. A library with a time limit reads patterns in other ways than
Python does (``{e}``), and takes all memory for ``/a{400000000}/``; one that needs no limit has no look-around.

This file is also what the process runs. It needs little but the standard library, and so starts in 25 ms; what it is
sent and what it answers goes through pipes. It ends when the process that asks has ended.
"""

from __future__ import annotations

import marshal
import os
import re
import sys
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import subprocess

GROUP_BYTES = 1_000_000
"""Text that is searched at a time: large against the cost of a message, small enough to be done in no time."""

GROUP_SECONDS = 5.0
"""How long that may take; patterns that are in order take some hundredths of a second."""

SECONDS = 60.0
"""How long all texts together may take: a gigabyte and more, and not a thousand groups of almost too long each."""

LEAST_SECONDS = 0.1
"""A shorter time cannot be kept."""

TOO_SLOW = 1
"""How the process leaves when its time is up: ``faulthandler`` has no other way."""

FAILED = 2

Text = tuple[int, bytes]
"""A text and its id."""


class Stopped(Exception):
    """A search that took too long; ``id`` is of the text that it was at."""

    def __init__(self, id: int, seconds: float) -> None:
        super().__init__(f"stopped after {seconds:g} s")
        self.id = id
        self.seconds = seconds


class Failed(Exception):
    """The process could not be started, or ended by itself."""


def search(
    patterns: Sequence[tuple[bytes, int]], texts: Iterable[Text], limit: int
) -> Iterator[tuple[int, list[list[int]]]]:
    """Where each of the patterns (with flags) begins in the texts that have all of them, so many times at the most."""
    process, left = None, SECONDS
    try:
        for group in _grouped(texts):
            process = process or _started(patterns, limit)
            if left <= 0:
                raise Stopped(group[0][0], SECONDS)
            found, spent = _asked(process, group, min(GROUP_SECONDS, max(left, LEAST_SECONDS)))
            left -= spent
            yield from (
                (id, beginnings) for (id, _), beginnings in zip(group, found, strict=True) if beginnings
            )
    finally:
        if process:
            process.kill()
            process.communicate()


def _grouped(texts: Iterable[Text]) -> Iterator[list[Text]]:
    group: list[Text] = []
    size = 0
    for text in texts:
        group.append(text)
        size += len(text[1])
        if size >= GROUP_BYTES:
            yield group
            group, size = [], 0
    if group:
        yield group


def _started(patterns: Sequence[tuple[bytes, int]], limit: int) -> subprocess.Popen[bytes]:
    import subprocess

    try:
        process = subprocess.Popen(
            # isolated and without site-packages: nothing is imported from the working directory, and nothing slow
            [sys.executable, "-I", "-S", __file__, str(os.getpid())],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            # Ctrl-C is for the parent, which ends it
            start_new_session=True,
            creationflags=getattr(subprocess, "CREATE_NEW_PROCESS_GROUP", 0),
        )
    except OSError as error:
        raise Failed(f"no process can be started to search for patterns: {error}") from error
    assert process.stdin
    marshal.dump((list(patterns), limit), process.stdin)
    return process


def _asked(
    process: subprocess.Popen[bytes], group: Sequence[Text], seconds: float
) -> tuple[list[list[list[int]]], float]:
    """What is found in each text, and how long that took."""
    assert process.stdin and process.stdout
    found: list[list[list[int]]] = []
    try:
        marshal.dump((seconds, [text for _, text in group]), process.stdin)
        process.stdin.flush()
        found.extend(marshal.load(process.stdout) for _ in group)
        return found, marshal.load(process.stdout)
    except (EOFError, OSError) as error:
        if process.wait() == TOO_SLOW:
            raise Stopped(group[min(len(found), len(group) - 1)][0], seconds) from error
        raise Failed(f"the process that searches for patterns has left with {process.returncode}") from error


def _serve() -> None:
    """The life of the process: patterns first, then groups of texts until there are no more."""
    import faulthandler  # its clock is a thread that needs nothing of Python, so that nothing can keep it waiting
    import time

    _end_with(int(sys.argv[1]))
    stdin, stdout = sys.stdin.buffer, sys.stdout.buffer
    asked, limit = marshal.load(stdin)
    patterns = [re.compile(pattern, flags) for pattern, flags in asked]
    while True:
        seconds, texts = marshal.load(stdin)
        began = time.perf_counter()
        faulthandler.dump_traceback_later(seconds, exit=True)
        for text in texts:
            marshal.dump(_beginnings(patterns, text, limit), stdout)
            stdout.flush()
        faulthandler.cancel_dump_traceback_later()
        marshal.dump(time.perf_counter() - began, stdout)
        stdout.flush()


def _end_with(parent: int) -> None:
    """Tie the life of this process to that of the one that asks, and to the time that all may take."""
    package = os.path.abspath(__file__)
    while os.path.basename(package) != "dowse":
        package = os.path.dirname(package)
    sys.path.append(os.path.dirname(package))  # last: it may hold all installed packages
    from dowse import lifeline

    lifeline.end_with_parent(parent)
    lifeline.limit_cpu(SECONDS + GROUP_SECONDS)


def _beginnings(patterns: Sequence[re.Pattern[bytes]], text: bytes, limit: int) -> list[list[int]]:
    """Of the matches of each pattern; nothing if one has none."""
    found = []
    for pattern in patterns:
        beginnings = [match.start() for match in islice(pattern.finditer(text), limit)]
        if not beginnings:
            return []
        found.append(beginnings)
    return found


if __name__ == "__main__":
    try:
        _serve()
    except (EOFError, KeyboardInterrupt, BrokenPipeError):
        os._exit(0)  # nobody asks any more
    except BaseException:  # the outermost edge: not to be taken for being too slow
        os._exit(FAILED)
