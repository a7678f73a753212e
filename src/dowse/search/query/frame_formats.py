"""Stack frame parsers by language: how runtimes, compilers and test runners write a file and a line.

Python, JavaScript, the JVM, .NET, Rust, Go, PHP, Ruby, Perl, Swift, Elixir, C and others. Every pattern is matched at a
known position or begins with a literal, so that a line takes time in proportion to its length.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import NamedTuple

from dowse.lazy_regex import compile_lazily
from dowse.types.queries import Frame

RANK_TRACE, RANK_FAILED_TEST, RANK_MENTION = range(3)
"""How much a frame says about what went wrong, best first."""

INNERMOST_FIRST, INNERMOST_LAST, NO_TRACE = range(3)
"""At which end of its trace the innermost frame is; a frame without a trace stands for itself."""

_FRAME_HINT = compile_lazily(
    r'[^\W\d]:\d|\.\w*\d:\d|File "|\(\d|line \d|::|:\(\.|^\s*(?:FAIL|ERROR|\d+:\d+ +(?:error|warning) )'
)  # not a time of day
_PATH_LINE = compile_lazily(r"((?:[A-Za-z]:(?=[\\/]))?[^:]{1,300}):(\d{1,7})(?::\d{1,6})?(?!\w)")
_URL_PREFIX = compile_lazily(
    r"(?:https?://[^/\s]*|file://(?:localhost)?|webpack(?:-internal)?://[^/\s]*/)(?=/|\.)"
)
_PATH_WITH_EXTENSION = compile_lazily(r".*[\w)\]-]\.[A-Za-z][\w+-]{0,9}", re.DOTALL)
_PLAIN_FILE = compile_lazily(
    r".*/[\w.-]*[A-Za-z][\w-]*|(?:Make|Docker|Rake|Gem|Jenkins|Vagrant)file", re.DOTALL
)
_HOST_NAME = compile_lazily(r"[^/\\]*\.(?:com|org|net|io|dev|local|internal|localdomain)")
_SEPARATORS = str.maketrans(dict.fromkeys("\"'`()[]{}<>,;|", " "))

PYTHON_FRAME = compile_lazily(r'File "([^"]{1,300})", line (\d{1,7})(?:,? in (.{1,200}))?')
_PARENTHESIZED_PATH_LINE = compile_lazily(r"\(([^()]{1,300}:\d{1,7})\)")
_PHP_FRAME = compile_lazily(
    r"#\d{1,4} (?:([^()]{1,300})\((\d{1,7})\)|\[internal function\]): ([\w\\:>{}-]{1,200})"
)
_MICROSOFT_LINE = compile_lazily(r"(?:\d{1,3}>)?([^()]{1,300})\((\d{1,7})(?:,\d{1,7}){0,3}\)\s?: ?(.{0,40})")
_LINE_PHRASE = compile_lazily(r"\b(?:file|in|at) ([^\s,\"]{1,300}),? (?:on )?line (\d{1,7})\b")
_SHELL_LINE = compile_lazily(r"([^\s:]{1,300}): line (\d{1,7}): \S")
_VITEST_FRAME = compile_lazily(r"❯ (?:([\w.$<>]{1,200}) )?(\S{1,300})$")
_UNDER_PATH = compile_lazily(r"(\d{1,7}):\d{1,6} +(error|warning) ")
_LINKER_PLACE = compile_lazily(r"(?:\S{0,99}/ld: )?([^\s:]{1,300}):\(\.[\w.$]{1,200}\+0x[0-9a-f]{1,16}\): ")
_LINKER_FUNCTION = compile_lazily(r": in function [`'\"]([^`'\"]{1,200})[`'\"]:?$")
_BARE_CALL = compile_lazily(r"[^\W\d][\w.$<> ]{0,200} \(([^()]{1,300}:\d{1,7}:\d{1,7})\)")
_BEAM_LIBRARY = compile_lazily(r"\((?:elixir|stdlib|kernel|erts|logger|ex_unit|mix|iex) ")
_FAILED_TEST_LINE = compile_lazily(
    r"(?:FAILED|ERROR)\s+([^\s:]{1,300}\.\w{1,5})((?:::\w{1,200}){0,9})(?![:\w.])|FAIL\s+([^\s:]{1,300}\.\w{1,5})(?![:\w./])"
)
_TEST_FAILED_LINE = compile_lazily(
    r"([^\s:]{1,300}\.\w{1,5})((?:::\w{1,200}){1,9})(?:\[.{0,200}\])? (?:FAILED|ERROR)\b"
)
_RUST_FUNCTION = compile_lazily(r"\s*\d{1,4}:\s+(?:0x[0-9a-f]+ - )?(\S.{0,300})")
_NATIVE_FUNCTION = compile_lazily(
    r"(?:#\d{1,4}|==\d+==)\s+(?:(?:at|by|in) )?(?:0x[0-9A-Fa-f]+:? )?(?:in )?([\w:~<>$]{1,200})"
)
_FUNCTION_AFTER_PATH = compile_lazily(
    r":?(?P<gap>,?\s?)in (?:function |method )?[`'\"]?(?:block in )?(?P<name>[\w.$:#?!/<>]{1,200})"
    r"|: (?:anonymous fn/\d{1,3} in )?(?P<elixir>[\w.?!]{1,200})(?:\.\"[^\"]{1,200}\")?/\d"
)
_ERROR_AFTER_PATH = compile_lazily(
    r"(?::| -)\s?(?:fatal |syntax )?error\b|: [\w.]*(?:Error|Exception|Failure)\b", re.IGNORECASE
)
_PYTEST_FRAME_END = compile_lazily(r": ?(?:[\w.]{0,100})$")
_ERROR_BEFORE_PATH = compile_lazily(r"(?:\[?error\]?:? |e: |panic|thread '|fatal)", re.IGNORECASE)
_WARNING_AFTER_PATH = compile_lazily(r"(?::| -)\s?(?:warning|note|info|hint)\b", re.IGNORECASE)

_LIBRARY_PATH = compile_lazily(
    r"""
      (?:^|/)(?:site-packages|dist-packages|node_modules|bower_components|vendor|gems|\.cargo|\.rustup|rustc|pkg/mod
        |libsanitizer|\.m2|\.gradle|\.nuget|usr/(?:local/)?(?:lib|lib64|include|share|go)|lib/python\d[\d.]*|_/src/libraries)/
    | (?i:/python[\d.]*/lib/) | ^Swift/
    | ^(?:\.\./)*(?:(?:sysdeps|csu|nptl)/|(?:stdlib/abort|malloc/malloc|assert/assert)\.c$)  # of the C library
    | Python\.framework/ | /library/(?:core|std|alloc)/src/ | ^deps/
    | /go/(?:[\d.]+/\w+/)?src/(?![^/]*\.)      # the standard library, not ~/go/src/github.com/...
    """,
    re.VERBOSE,
)
_JVM_LIBRARY_PATH = compile_lazily(
    r"(?:java|javax|jakarta|jdk|sun|com/sun|kotlin|kotlinx|scala|android|androidx|dalvik|groovy|clojure|junit"
    r"|org/(?:junit|gradle|codehaus/groovy|apache/maven))/"
)
_JVM_FILE = compile_lazily(r"[^/\\]+\.(?:java|kt|kts|scala|groovy|clj)")


class ParsedFrame(NamedTuple):
    """A frame as a line names it, and what the format says about its trace."""

    frame: Frame
    innermost: int = NO_TRACE
    rank: int = RANK_TRACE
    library: bool = False
    calls: str = ""  # the function that is called there, which is where the frame before this one is


class OutputLine(NamedTuple):
    """A line under consideration and the one before it."""

    text: str
    stripped: str
    previous: str


def parse_line(line: OutputLine) -> Sequence[ParsedFrame]:
    """Parse the frames that a line names: one, or several if it only mentions them."""
    if not _FRAME_HINT.search(line.text):
        return ()
    for parse in _PARSERS:
        if parsed := parse(line):
            return [parsed]
    return _parse_mentions(line)


def _make_frame(
    path: str, line: str, function: str, innermost: int, rank: int = RANK_TRACE, library: bool = False
) -> ParsedFrame | None:
    """Make a frame of what a pattern matched; none for ``<stdin>`` and the like."""
    path = path.strip().replace("\\", "/")
    while path.startswith("./"):
        path = path[2:]
    if not path or path.startswith("<"):
        return None
    frame = Frame(path, int(line), "" if function.startswith("<") else function)
    return ParsedFrame(frame, innermost, rank, library or _LIBRARY_PATH.search(path) is not None)


class _PathLine(NamedTuple):
    """``path:line`` at the beginning of a text, and where it ends."""

    path: str
    line: str
    end: int


def _match_path_line(text: str) -> _PathLine | None:
    """Match ``path:line``, without the scheme, the host and the query of a URL."""
    skipped = url.end() if (url := _URL_PREFIX.match(text)) else 0
    if skipped and re.match(r"/[A-Za-z]:/", text[skipped:]):  # file:///C:/x
        skipped += 1
    match = _PATH_LINE.match(text, skipped)
    if not match:
        return None
    path = match.group(1).partition("?")[0] if skipped else match.group(1)
    return _PathLine(path, match.group(2), match.end()) if _is_path(path) else None


def _parse_python(line: OutputLine) -> ParsedFrame | None:
    match = PYTHON_FRAME.match(line.text, max(line.text.find('File "'), 0))
    return (
        _make_frame(match.group(1), match.group(2), (match.group(3) or "").strip(), INNERMOST_LAST)
        if match
        else None
    )


def _parse_at(line: OutputLine) -> ParsedFrame | None:
    """Parse ``at function (path:line)`` of JavaScript, the JVM and .NET; ``at path:line`` of JavaScript and Rust.

    In the reports of Node's test runner, ``at`` is missing.
    """
    if not line.stripped.startswith("at ") and not _BARE_CALL.fullmatch(line.stripped):
        return None
    rest = line.stripped.removeprefix("at ")
    if (end := rest.rfind(":line ")) > 0 and (start := rest.rfind(" in ", 0, end)) >= 0:
        number = re.match(r"\d{1,7}", rest[end + 6 :])
        return (
            _make_frame(
                rest[start + 4 : end], number.group(), _clean_dotnet_name(rest[:start]), INNERMOST_FIRST
            )
            if number
            else None
        )
    inner = _PARENTHESIZED_PATH_LINE.search(rest)
    found = _match_path_line(inner.group(1) if inner else rest.removeprefix("async "))
    if not found:
        return None
    if not inner:
        return _make_frame(found.path, found.line, _find_rust_function(line.previous), INNERMOST_FIRST)
    name = rest[: rest.find("(")].strip()
    if _JVM_FILE.fullmatch(found.path):
        path, function = _split_jvm_name(name, found.path)
        return _make_frame(
            path, found.line, function, INNERMOST_FIRST, library=_JVM_LIBRARY_PATH.match(path) is not None
        )
    is_internal = found.path.startswith("internal/")  # Node's own
    return _make_frame(
        found.path, found.line, _clean_javascript_name(name), INNERMOST_FIRST, library=is_internal
    )


def _split_jvm_name(name: str, file: str) -> tuple[str, str]:
    """Split ``app//a.b.C$D.lambda$m$0``, ``C.java`` into ``a/b/C.java``, ``C.D.m``."""
    parts = name.rpartition("/")[2].split(".")
    split = next((i for i, part in enumerate(parts[:-1]) if part[:1].isupper()), max(0, len(parts) - 2))
    types = [piece for part in parts[split:-1] for piece in part.split("$") if piece and not piece.isdigit()]
    method = parts[-1]
    if method.startswith("lambda$"):
        method = method.split("$")[1]
    function = ".".join([*types, *([method] if not method.startswith("<") else [])])
    return "/".join([*parts[:split], file]), function


def _clean_dotnet_name(name: str) -> str:
    """Shorten ``Ns.Type.<RunAsync>d__3.MoveNext()`` to ``Type.RunAsync``."""
    name = name.partition("(")[0].replace("+", ".")
    if hidden := re.search(r"<(\w+)>", name):
        name = f"{name[: hidden.start()].rstrip('.')}.{hidden.group(1)}"
    return ".".join(part for part in name.split(".")[-2:] if part)


def _clean_javascript_name(name: str) -> str:
    name = name.partition(" [as ")[0].strip().removeprefix("async ").removeprefix("new ")
    owner, _, last = name.rpartition(".")
    if "<anonymous>" in last or last == "eval":
        return ""
    return last if owner in ("", "Object", "Module", "process", "global", "Function", "exports") else name


def _find_rust_function(previous: str) -> str:
    """Find the function in ``  4: <a::B as c::D>::m::{{closure}}::h0123456789abcdef``: ``m``."""
    match = _RUST_FUNCTION.match(previous)
    if not match:
        return ""
    name = match.group(1).rpartition(">::")[2]
    parts = [
        part
        for part in name.split("::")
        if part and part[0] != "{" and not re.fullmatch(r"h[0-9a-f]{16}", part)
    ]
    return "::".join(parts[-2:] if len(parts) > 1 and parts[-2][:1].isupper() else parts[-1:])


def _parse_php(line: OutputLine) -> ParsedFrame | None:
    match = _PHP_FRAME.match(line.stripped)
    parsed = (
        _make_frame(match.group(1), match.group(2), "", INNERMOST_FIRST) if match and match.group(1) else None
    )
    if not match or not parsed:
        return None
    called = match.group(3).replace("\\", ".").replace("->", ".").replace("::", ".").replace(".{closure}", "")
    return parsed._replace(calls=".".join(called.split(".")[-2:]))


def _parse_microsoft(line: OutputLine) -> ParsedFrame | None:
    """Parse ``file.ts(12,3): error TS2304: ...`` of tsc and the compilers of Microsoft."""
    match = _MICROSOFT_LINE.match(line.stripped) if "):" in line.text or ") :" in line.text else None
    if not match or not _PATH_WITH_EXTENSION.fullmatch(match.group(1)):
        return None
    is_error = re.match(r"(?:fatal )?error\b", match.group(3)) is not None
    return _make_frame(match.group(1), match.group(2), "", NO_TRACE, RANK_TRACE if is_error else RANK_MENTION)


def _parse_failed_test(line: OutputLine) -> ParsedFrame | None:
    """Parse a failed test of pytest or a failed file of Jest; neither has a line number."""
    match = _FAILED_TEST_LINE.match(line.stripped) or _TEST_FAILED_LINE.match(line.stripped)
    if not match:
        return None
    path = match.group(1) or match.group(3)
    return _make_frame(
        path, "0", (match.group(2) or "").strip(":").replace("::", "."), NO_TRACE, RANK_FAILED_TEST
    )


def _parse_vitest(line: OutputLine) -> ParsedFrame | None:
    """Parse ``❯ function path:line:column``."""
    match = _VITEST_FRAME.match(line.stripped)
    found = _match_path_line(match.group(2)) if match else None
    name = _clean_javascript_name((match and match.group(1)) or "")
    return _make_frame(found.path, found.line, name, INNERMOST_FIRST) if found else None


def _parse_under_path(line: OutputLine) -> ParsedFrame | None:
    """Parse the first ``3:1  error  ...`` below the path of the file, as linters of JavaScript write it."""
    match = _UNDER_PATH.match(line.stripped)
    if not match or not _is_path(line.previous.strip()):
        return None
    rank = RANK_TRACE if match.group(2) == "error" else RANK_MENTION
    return _make_frame(line.previous, match.group(1), "", NO_TRACE, rank)


def _parse_linker(line: OutputLine) -> ParsedFrame | None:
    """Parse ``file.c:(.text+0x1f): undefined reference``, below the function; it has no line."""
    match = _LINKER_PLACE.match(line.stripped)
    if not match:
        return None
    function = _LINKER_FUNCTION.search(line.previous)
    name = function.group(1).partition("(")[0] if function else ""
    return _make_frame(match.group(1), "0", name.replace("::", "."), NO_TRACE, RANK_FAILED_TEST)


def _parse_shell(line: OutputLine) -> ParsedFrame | None:
    """Parse ``script.sh: line 3: name: command not found``."""
    match = _SHELL_LINE.match(line.stripped)
    return (
        _make_frame(match.group(1), match.group(2), "", NO_TRACE)
        if match and _is_path(match.group(1))
        else None
    )


def _parse_line_phrase(line: OutputLine) -> ParsedFrame | None:
    """Parse ``in x.php on line 12`` of PHP, ``at x.pl line 12`` of Perl, ``file X.swift, line 12`` of Swift."""
    match = _LINE_PHRASE.search(line.text)
    if not match or not _is_path(match.group(1)):
        return None
    rank = (
        RANK_TRACE
        if _ERROR_BEFORE_PATH.search(line.text, 0, match.start()) or "thrown" in line.text
        else RANK_MENTION
    )
    return _make_frame(
        match.group(1), match.group(2), "", INNERMOST_FIRST if "thrown" in line.text else NO_TRACE, rank
    )


def _parse_mentions(line: OutputLine) -> list[ParsedFrame]:
    """Parse ``path:line`` anywhere, with a function after it (Ruby, pytest, Elixir), before it (C) or above it (Go)."""
    blanked = line.text.translate(_SEPARATORS)
    parsed_frames: list[ParsedFrame] = []
    start = 0
    for token in blanked.split():
        start = blanked.find(token, start)
        bare = token.rpartition("@" if "://" in token else "=")[2]  # Firefox: function@address
        found = _match_path_line(bare) if ":" in bare else None
        if found:
            begin = start + len(token) - len(bare)
            parsed = _interpret(line, found, line.text[:begin], line.text[begin + found.end :])
            parsed_frames += [parsed] if parsed else []
            if parsed and parsed.rank != RANK_MENTION:
                return parsed_frames[-1:]
        start += len(token)
    return parsed_frames


def _interpret(line: OutputLine, found: _PathLine, before: str, after: str) -> ParsedFrame | None:
    """Tell by the text around ``path:line`` which function it is in, whose format it is and whether it is an error."""
    path, number, _ = found
    if line.text.startswith("\t") and path.endswith(".go"):
        return _make_frame(path, number, _find_go_function(line.previous), INNERMOST_FIRST)
    if native := _NATIVE_FUNCTION.match(line.stripped):
        return _make_frame(path, number, native.group(1), INNERMOST_FIRST)
    if match := _FUNCTION_AFTER_PATH.match(after):
        function = (match.group("elixir") or match.group("name")).rstrip(":").replace("#", ".")
        is_library = _BEAM_LIBRARY.match(before.lstrip()) is not None
        is_python = match.group("gap") and path.endswith((".py", ".ipynb"))
        return _make_frame(
            path, number, function, INNERMOST_LAST if is_python else INNERMOST_FIRST, library=is_library
        )
    if path.endswith(".py") and not before and _PYTEST_FRAME_END.match(after):
        return _make_frame(path, number, "", INNERMOST_LAST)
    if path.endswith(".php") and "Uncaught" in before:
        return _make_frame(path, number, "", INNERMOST_FIRST)
    if before.endswith("@"):
        return _make_frame(path, number, before.strip(" @/<"), INNERMOST_FIRST)
    is_error = (
        _ERROR_AFTER_PATH.match(after) or _ERROR_BEFORE_PATH.match(before.lstrip()) or _is_rustc_error(line)
    )
    rank = RANK_TRACE if is_error and not _WARNING_AFTER_PATH.match(after) else RANK_MENTION
    return _make_frame(path, number, "", NO_TRACE, rank)


def _is_rustc_error(line: OutputLine) -> bool:
    return line.stripped.startswith("--> ") and line.previous.startswith("error")


def _find_go_function(previous: str) -> str:
    """Find the function in ``github.com/a/b.(*T).Run.func1(0x1, ...)``: ``T.Run``."""
    name = previous.strip().removeprefix("created by ").partition(" in goroutine")[0]
    cut = name.rfind("(")
    if cut > 0 and not name.startswith("(*", cut):
        name = name[:cut]
    name = name.rpartition("/")[2].partition(".")[2]
    parts = [part.strip("()*") for part in name.replace("[...]", "").split(".")]
    return ".".join(part for part in parts if part and not re.fullmatch(r"(?:func)?\d+", part))


def _is_path(path: str) -> bool:
    """Return whether something before ``:12`` is a file rather than a host, a time or a word."""
    if _HOST_NAME.fullmatch(path):
        return False
    return _PATH_WITH_EXTENSION.fullmatch(path) is not None or _PLAIN_FILE.fullmatch(path) is not None


_PARSERS: tuple[Callable[[OutputLine], ParsedFrame | None], ...] = (
    _parse_python,
    _parse_at,
    _parse_php,
    _parse_microsoft,
    _parse_failed_test,
    _parse_vitest,
    _parse_under_path,
    _parse_linker,
    _parse_shell,
    _parse_line_phrase,
)
"""The formats in the order in which they are tried; the first that matches counts."""
