"""Issue texts: what a bug report says in its title and prose and shows as code, apart from traces and boilerplate.

A report that holds a trace is more than the trace: both are read. Environment blocks, checklists and comments of a
template are dropped, and so are marks of emphasis.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import islice
from typing import NamedTuple

from dowse.lazy_regex import compile_lazily
from dowse.search.query.error_message import find_error_message
from dowse.search.query.frame_formats import OutputLine, parse_line

MAX_ISSUE_CHARS = 60_000
"""Characters of a text that are read."""

MIN_PROSE_WORDS = 25
"""Words in sentences from which on a text that holds output is a report, and not output alone."""

MIN_LINE_WORDS = 5
"""Words of a line of prose."""

PLAIN_WORD_SHARE = 0.7
"""Share of the words of a line of prose that are nothing but letters."""

FIRST_LINES = 3
"""Lines in which somebody who writes a report without any markup begins to say something."""

MIN_PROSE_LINE_SHARE = 0.15
"""Share of the lines that are prose, where nothing is marked up: a log has a sentence here and there."""

_COMMENT = compile_lazily(r"<!--.{0,1500}?-->", re.DOTALL)
_FENCE = compile_lazily(r"\s{0,3}(?:```|~~~)")
_MARKUP = compile_lazily(r"^\s{0,3}(?:#{1,6}\s|```|~~~|\*\*[^*\n]+\*\*\s*$|[-*] \[[ xX]\])", re.MULTILINE)
_EMPHASIS = compile_lazily(r"(?<![\w*])\*{1,3}(?=[^\s*])([^*\n]{1,200}?)(?<=[^\s*])\*{1,3}(?![\w*])")
_PREFIX = compile_lazily(r"^\s{0,3}(?:#{1,6}\s+|(?:>\s?)+|[-*+]\s+)")
_CHECKBOX = compile_lazily(r"\s*[-*] \[[ xX]\]")
_VERSION_LINE = compile_lazily(
    r"\W{0,20}[\w./ -]{1,40}?(?:\s{0,9}[:=]+\s{0,9}|\s{1,9})\W{0,3}(?:v(?:ersion)?\s?)?"
    r"\d{1,6}(?:\.\w{1,12}){1,4}\S{0,40}(?:\s{1,9}\S{1,40}){0,3}\s{0,9}"
)
_EXCEPTION = compile_lazily(
    r"\s*[\w.$:\\]{0,200}(?:Error|Exception|Failure|Warning|Panic|Interrupt)\b|E {2,}|\s*Caused by"
)
_TRACE_START = compile_lazily(
    r"Traceback \(most recent|Exception in thread|goroutine \d|thread '|stack backtrace:|panic: "
)
_LOG_LINE = compile_lazily(
    r"\s*(?:==\d{1,9}==|npm \w|\[?(?:warn(?:ing)?|err(?:or)?|info|debug|note|hint|fatal|trace)\s?[:!\]])",
    re.IGNORECASE,
)
_PLAIN_WORD = compile_lazily(r"[(\"'`]?[A-Za-z][A-Za-z'-]*[)\"'`]?[.,;:!?]*")


class IssueText(NamedTuple):
    """A report in its parts; ``message`` is what the program said, if it holds output."""

    title: str
    prose: str
    code: str
    message: str

    @property
    def text(self) -> str:
        """What is searched for as text, what says most first."""
        return "\n".join(part for part in (self.title, self.prose, self.code) if part)


def read_issue(text: str) -> IssueText | None:
    """Read a text as a report; None if it is a query, or output alone."""
    text = _COMMENT.sub("", text[:MAX_ISSUE_CHARS])
    prose: list[str] = []
    code: list[str] = []
    has_output, count, words_before = False, 0, 0
    for kind, line in _classify_lines(text):
        count += 1
        if not has_output and kind == "prose" and _is_sentence(line):
            words_before += len(line.split())
        if kind == "prose":
            prose.append(line)
        elif kind == "code":
            code.append(line)
        has_output = has_output or kind == "output"
    sentences = [line for line in prose if _is_sentence(line)]
    is_marked = _MARKUP.search(text) is not None
    if sum(len(line.split()) for line in sentences) < MIN_PROSE_WORDS:
        return None
    is_mixed = words_before >= MIN_PROSE_WORDS or len(sentences) >= MIN_PROSE_LINE_SHARE * count
    if not is_marked and not (has_output and is_mixed and _begins_with_prose(text)):
        return None
    message = find_error_message(text) if has_output else ""
    return IssueText(prose[0], "\n".join(prose[1:]), "\n".join(code), message)


def _classify_lines(text: str) -> Iterator[tuple[str, str]]:
    """Tell prose, code and output from each other, line by line; boilerplate is dropped."""
    fenced: list[str] | None = None
    in_trace, in_checkbox, previous = False, False, ""
    for line in text.splitlines():
        if _FENCE.match(line):
            if fenced is not None:
                yield from _classify_block(fenced)
            fenced = [] if fenced is None else None
        elif fenced is not None:
            fenced.append(line)
        elif line.strip():
            if _is_output(line, previous):
                in_trace = True
                yield "output", line
            elif (in_trace and line[0].isspace()) or (
                in_trace and (_EXCEPTION.match(line) or not _is_sentence(line))
            ):
                yield "output", line
            elif _CHECKBOX.match(line) or (in_checkbox and line[0].isspace()):
                in_checkbox = True
            elif not _VERSION_LINE.fullmatch(line):
                in_checkbox = False
                in_trace = False
                is_code = line.startswith(("    ", "\t")) and not _is_sentence(line)
                yield ("code" if is_code else "prose"), _strip_markup(line)
        previous = line
    yield from _classify_block(fenced or [])


def _classify_block(lines: list[str]) -> Iterator[tuple[str, str]]:
    """Classify a fenced block, which is all code or all output; a list of versions is neither."""
    if any(_is_output(line, "") for line in lines):
        yield from (("output", line) for line in lines)
    else:
        yield from (("code", line) for line in lines if not _VERSION_LINE.fullmatch(line))


def _is_output(line: str, previous: str) -> bool:
    short = line[:1000]
    return _TRACE_START.match(short.lstrip()) is not None or any(
        parsed.frame.line for parsed in parse_line(OutputLine(short, short.lstrip(), previous[:1000]))
    )


def _begins_with_prose(text: str) -> bool:
    """Return whether one of the first lines is written for people; a program begins with its own output."""
    return any(_is_sentence(line) for line in islice(filter(str.strip, text.splitlines()), FIRST_LINES))


def _is_sentence(line: str) -> bool:
    """Return whether a line is written for people."""
    if _LOG_LINE.match(line):
        return False
    words = line.split()
    plain = sum(_PLAIN_WORD.fullmatch(word) is not None for word in words)
    return len(words) >= MIN_LINE_WORDS and plain >= PLAIN_WORD_SHARE * len(words)


def _strip_markup(line: str) -> str:
    return _EMPHASIS.sub(r"\1", _PREFIX.sub("", line))
