"""Regular expression timeout (ReDoS protection): match patterns in a worker process that is killed when it takes too
long.

Python's ``re`` can backtrack for ever on one line (``/^(a+)+$/``), cannot be interrupted, and blocks all threads. Other
engines read patterns in other ways, or have no look-around. This file is also the program of the worker: it needs
little but the standard library, starts in 25 ms, talks over pipes, and ends with its parent.
"""

from __future__ import annotations

import faulthandler
import marshal
import os
import re
import sys
import time
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import subprocess

GROUP_BYTES = 1_000_000
"""Text that is searched at a time: large against the cost of a message, small enough to be done in no time."""

GROUP_SECONDS = 5.0
"""How long a group may take; good patterns take some hundredths of a second."""

TOTAL_SECONDS = 60.0
"""How long all texts together may take: a gigabyte and more, and not a thousand groups of almost too long each."""

MIN_SECONDS = 0.1
"""The shortest time limit that can be kept."""

TIMEOUT_EXIT_CODE = 1
"""The exit code when the time is up: ``faulthandler`` has no other."""

FAILURE_EXIT_CODE = 2

Text = tuple[int, bytes]
"""A text and its id."""


class PatternTimeout(Exception):
    """A search took too long; ``id`` is the text that it was at."""

    def __init__(self, id: int, seconds: float) -> None:
        super().__init__(f"stopped after {seconds:g} s")
        self.id = id
        self.seconds = seconds


class WorkerFailed(Exception):
    """The worker could not be started, or ended by itself."""


def search(
    patterns: Sequence[tuple[bytes, int]], texts: Iterable[Text], limit: int
) -> Iterator[tuple[int, list[list[int]]]]:
    """Find the texts that match all patterns (with flags), and where each match begins, up to a limit per pattern."""
    process, left = None, TOTAL_SECONDS
    try:
        for group in _group_texts(texts):
            process = process or _start_worker(patterns, limit)
            if left <= 0:
                raise PatternTimeout(group[0][0], TOTAL_SECONDS)
            found, spent = _search_group(process, group, min(GROUP_SECONDS, max(left, MIN_SECONDS)))
            left -= spent
            yield from ((id, starts) for (id, _), starts in zip(group, found, strict=True) if starts)
    finally:
        if process:
            process.kill()
            process.communicate()


def _group_texts(texts: Iterable[Text]) -> Iterator[list[Text]]:
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


def _start_worker(patterns: Sequence[tuple[bytes, int]], limit: int) -> subprocess.Popen[bytes]:
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
        raise WorkerFailed(f"no process can be started to search for patterns: {error}") from error
    assert process.stdin
    marshal.dump((list(patterns), limit), process.stdin)
    return process


def _search_group(
    process: subprocess.Popen[bytes], group: Sequence[Text], seconds: float
) -> tuple[list[list[list[int]]], float]:
    """Search one group of texts in the worker; return the matches of each text, and how long that took."""
    assert process.stdin and process.stdout
    found: list[list[list[int]]] = []
    try:
        marshal.dump((seconds, [text for _, text in group]), process.stdin)
        process.stdin.flush()
        found.extend(marshal.load(process.stdout) for _ in group)
        return found, marshal.load(process.stdout)
    except (EOFError, OSError) as error:
        if process.wait() == TIMEOUT_EXIT_CODE:
            raise PatternTimeout(group[min(len(found), len(group) - 1)][0], seconds) from error
        raise WorkerFailed(
            f"the process that searches for patterns has left with {process.returncode}"
        ) from error


def _serve() -> None:
    """Run the worker: read the patterns, then groups of texts until there are no more."""
    _tie_to_parent(int(sys.argv[1]))
    stdin, stdout = sys.stdin.buffer, sys.stdout.buffer
    sent, limit = marshal.load(stdin)
    patterns = [re.compile(pattern, flags) for pattern, flags in sent]
    while True:
        seconds, texts = marshal.load(stdin)
        began = time.perf_counter()
        # its clock is a thread that needs nothing of Python, so that nothing can keep it waiting
        faulthandler.dump_traceback_later(seconds, exit=True)
        for text in texts:
            marshal.dump(_find_starts(patterns, text, limit), stdout)
            stdout.flush()
        faulthandler.cancel_dump_traceback_later()
        marshal.dump(time.perf_counter() - began, stdout)
        stdout.flush()


def _tie_to_parent(parent: int) -> None:
    """End this process with its parent, or when the time for all texts is up."""
    package = os.path.abspath(__file__)
    while os.path.basename(package) != "dowse":
        package = os.path.dirname(package)
    sys.path.append(os.path.dirname(package))  # last: it may hold all installed packages
    from dowse import lifeline

    lifeline.end_with_parent(parent)
    lifeline.limit_cpu(TOTAL_SECONDS + GROUP_SECONDS)


def _find_starts(patterns: Sequence[re.Pattern[bytes]], text: bytes, limit: int) -> list[list[int]]:
    """Find where the matches of each pattern begin; nothing if one pattern has no match."""
    found = []
    for pattern in patterns:
        starts = [match.start() for match in islice(pattern.finditer(text), limit)]
        if not starts:
            return []
        found.append(starts)
    return found


if __name__ == "__main__":
    try:
        _serve()
    except (EOFError, KeyboardInterrupt, BrokenPipeError):
        os._exit(0)  # the parent has ended
    except BaseException:  # the outermost edge: not to be taken for being too slow
        os._exit(FAILURE_EXIT_CODE)
