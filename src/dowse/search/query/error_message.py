"""Error message extraction: the one line of a stack trace, build log or test run that is worth searching for."""

from __future__ import annotations

import re

from dowse.lazy_regex import compile_lazily
from dowse.search.query.frame_formats import PYTHON_FRAME
from dowse.search.query.program_output import clean_lines

MAX_MESSAGE_CHARS = 300
"""Characters of a message that are worth searching for."""

_EXCEPTION_LINE = compile_lazily(
    r"""(?>(?:E\ {2,}|Caused\ by:\ |Exception\ in\ thread\ "[^"]{0,99}"\ |Unhandled\ exception[.:]\ ?
        |\[error\]\ |\[cause\]:\ |-+>\ |\[|Uncaught\ (?:\(in\ promise\)\ )?
        |(?:PHP\ )?Fatal\ error:\ {1,2}(?:Uncaught\ )?){0,3})
        ((?:[\w$]{1,99}(?:\.|::|\\)){0,9}\w{0,99}?(?:Error|Exception|Failure|Fault|Interrupt|Panic)
        (?::\ .{1,400}|$))""",
    re.VERBOSE,
)
_PANIC_LINE = compile_lazily(r"(?:panic|fatal error): (.+)")
_RUST_PANIC_LINE = compile_lazily(r"panicked at (?:'(.{1,400}?)', )?")
_COMPILER_ERROR = compile_lazily(
    r"error(?:\[\w{1,20}\]| [A-Z]{1,6}\d{1,6})?:\s{1,4}(?!\|-?$)(\S.*)", re.IGNORECASE
)
_RUBY_MESSAGE = compile_lazily(r":\d{1,7}:in [`'][^']{0,200}': (\S.*)")
_TEST_SUMMARY = compile_lazily(r"(?:FAILED|ERROR) \S+ - (.+)|\w{1,99}_test\.go:\d{1,7}: (.+)")
_MEMORY_ERROR = compile_lazily(
    r"==\d{1,9}== ((?:Invalid (?:read|write|free)|Conditional jump|Use of uninit|Syscall param|Source and dest).*)"
)
_MAKE_ERROR = compile_lazily(r"\w{0,9}make(?:\[\d{1,3}\])?: \*\*\* (?!\[)(.{1,400})")
_ERROR_WORD = compile_lazily(
    r"\b(?:error|exception|fail(?:ed|ure)|fatal|panic|undefined|cannot|assert\w*)\b", re.IGNORECASE
)


def find_error_message(text: str) -> str:
    """Find what went wrong, in the words of the program.

    The last exception, else the first error, else the first line with an error word, else the first line.
    """
    last_exception, first_error, suspicious, first_line = "", "", "", ""
    in_python, after_panic = False, False
    for line in clean_lines(text):
        stripped = line.strip()
        if not stripped:
            continue
        first_line = first_line or stripped
        if PYTHON_FRAME.match(stripped):
            in_python = True
            continue
        exception = _match_exception(stripped) or (
            stripped if after_panic or (in_python and not line[0].isspace()) else ""
        )
        in_python = in_python and line[0].isspace()
        after_panic = _RUST_PANIC_LINE.search(stripped) is not None and not exception
        last_exception = exception or last_exception
        first_error = first_error or _match_error(stripped)
        suspicious = suspicious or (stripped if _ERROR_WORD.search(stripped) else "")
    return " ".join((last_exception or first_error or suspicious or first_line).split())[:MAX_MESSAGE_CHARS]


def _match_exception(line: str) -> str:
    """Extract the message of an exception or a panic; empty if the line has none."""
    if match := _EXCEPTION_LINE.match(line):
        return match.group(1).removesuffix("]") if line.startswith("[") else match.group(1)
    if match := _PANIC_LINE.match(line) or _RUBY_MESSAGE.search(line):
        return match.group(1)
    if match := _RUST_PANIC_LINE.search(line):
        return match.group(1) or ""
    return ""


def _match_error(line: str) -> str:
    """Extract the message of a compiler, a linker or a test runner; empty if the line has none."""
    if (
        match := _COMPILER_ERROR.search(line)
        or _TEST_SUMMARY.match(line)
        or _MEMORY_ERROR.match(line)
        or _MAKE_ERROR.match(line)
    ):
        return match.group(match.lastindex or 1)
    if line.startswith("E  "):
        return line[1:].strip()
    return line[line.find("undefined reference") :] if "undefined reference" in line else ""
