"""Stack trace parsing: files, lines and functions that tracebacks, compiler errors and test runs name, best first.

Of each trace the innermost frame in the user's own code comes first, then the next; failed tests and other mentions
after that; frames in libraries last. Formats are in ``frame_formats.py``. Takes time linear in the length of the log.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import zip_longest

from dowse.lazy_regex import compile_lazily
from dowse.search.query.frame_formats import (
    INNERMOST_FIRST,
    INNERMOST_LAST,
    NO_TRACE,
    RANK_FAILED_TEST,
    RANK_MENTION,
    RANK_TRACE,
    OutputLine,
    ParsedFrame,
    parse_line,
)
from dowse.search.query.program_output import clean_lines, strip_ansi
from dowse.types.queries import Frame

MAX_FRAMES = 100
"""Frames that are returned; nobody resolves more."""

MIN_MENTIONS = 3
"""Lines with a file and a line number that make a text program output, even if none says "error"."""

_TRACE_BREAK = compile_lazily(
    r"Traceback \(|[^(]{0,99}\(most recent call|\[cause\]: |stack backtrace|goroutine \d|thread '|Caused by"
    r"|_{3,} |={5,}|-{5,}|\+?-?\+-{5,}|During handling|The above exception|Exception in thread|Unhandled exception"
    r"|Suppressed:|== |[\w.$:\\]{0,200}(?:Error|Exception)\b"
)
_TRACE_LINK = compile_lazily(r"During handling|The above exception|Caused by|\[cause\]: |\+?-?\+?-{5,} \d")
"""The trace after such a line belongs to the one before: the last of them says most."""

_TRACE_HEADER = compile_lazily(
    r"Traceback \(most recent call|thread '[^']{0,99}'(?: \(\d+\))? panicked at |goroutine \d+ \[|stack backtrace:"
    r"|^E {2,}\w+Error\b",
    re.MULTILINE,
)


def find_frames(text: str) -> list[Frame]:
    """Parse program output into the locations that it names (file, line, function), most relevant first."""
    traces = _split_traces(text)
    found: dict[tuple[str, int], Frame] = {}
    for library in (False, True):
        for rank in (RANK_TRACE, RANK_FAILED_TEST, RANK_MENTION):
            chosen = [[p.frame for p in trace if p.rank == rank and p.library is library] for trace in traces]
            for frame in _interleave(chosen):
                known = found.setdefault((frame.path, frame.line), frame)
                if frame.function and not known.function:
                    found[frame.path, frame.line] = frame
    return list(found.values())[:MAX_FRAMES]


def looks_like_output(text: str) -> bool:
    """Return whether a text is or holds program output, rather than a query that mentions a file and line."""
    if _TRACE_HEADER.search(strip_ansi(text)):
        return True
    found = [parsed for trace in _split_traces(text) for parsed in trace]
    return len(found) >= MIN_MENTIONS or any(parsed.rank != RANK_MENTION for parsed in found)


def _split_traces(text: str) -> list[list[ParsedFrame]]:
    """Split a text into its traces, innermost frame first; of traces that belong together the last comes first."""
    groups: list[list[list[ParsedFrame]]] = []
    linked, broken, announced = False, True, ""
    is_remote = (
        False  # the first trace is that of another process, which says more than where its result was awaited
    )
    previous = ""
    for line in clean_lines(text):
        if not line:
            continue
        stripped = line.lstrip()
        parsed_frames = parse_line(OutputLine(line, stripped, previous))
        for parsed in parsed_frames:
            _add_to_trace(groups, _apply_announced_order(parsed, announced), linked, broken)
            linked = broken = False
        if not parsed_frames and _TRACE_BREAK.match(stripped):
            broken = True
            linked = linked or (not is_remote and _TRACE_LINK.match(stripped) is not None)
            announced = stripped
        is_remote = is_remote or "RemoteTraceback" in line
        previous = line
    return [trace for group in groups for trace in map(_put_innermost_first, reversed(group))]


def _apply_announced_order(parsed: ParsedFrame, announced: str) -> ParsedFrame:
    """Turn the order around where the header says so, as Python's faulthandler and old versions of Ruby do."""
    if parsed.innermost == INNERMOST_LAST and "most recent call first" in announced:
        return parsed._replace(innermost=INNERMOST_FIRST)
    if parsed.frame.path.endswith(".rb") and "most recent call last" in announced:
        return parsed._replace(innermost=INNERMOST_LAST)
    return parsed


def _add_to_trace(
    groups: list[list[list[ParsedFrame]]], parsed: ParsedFrame, linked: bool, broken: bool
) -> None:
    """Append a frame to the last trace, or begin a new one; after a link, in the same group."""
    last = groups[-1][-1] if groups else []
    if last and not broken and last[-1].innermost == parsed.innermost != NO_TRACE:
        inner = last[-1]
        if parsed.calls and not inner.frame.function:
            last[-1] = inner._replace(frame=inner.frame._replace(function=parsed.calls))
        last.append(parsed)
    elif groups and linked:
        groups[-1].append([parsed])
    else:
        groups.append([[parsed]])


def _put_innermost_first(trace: list[ParsedFrame]) -> list[ParsedFrame]:
    return trace[::-1] if trace[0].innermost == INNERMOST_LAST else trace


def _interleave(lists: Iterable[Sequence[Frame]]) -> Iterator[Frame]:
    """Yield the first of each list, then the second of each, and so on."""
    for turn in zip_longest(*filter(None, lists)):
        yield from filter(None, turn)
