"""Reads what programs print when they fail: stack traces, compiler errors, test runs.

``frames`` gives the places named in it, most relevant first: of each trace the innermost frame in the user's own
code, then the next; failed tests and other mentions after that; frames in libraries last. ``message`` gives the
line worth searching for. Both read line by line and look at each character a bounded number of times: a log of any
length and any content takes time in proportion to its length.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import zip_longest
from typing import NamedTuple

from dowse.types import Frame

MAX_LINE = 2000
"""Characters of a line that are read: what is longer is data, and frames stand at its beginning."""

MAX_FRAMES = 100
"""Frames that are returned; nobody resolves more."""

MAX_MESSAGE = 300
"""Characters of a message that are worth searching for."""

MENTIONS = 3
"""Lines that name a place make a text a program's output from this number on, even if none says "error"."""

_TRACE, _FAILED_TEST, _MENTION = range(3)  # how much a place says about what went wrong, best first
_FIRST, _LAST, _ALONE = range(
    3
)  # where the innermost frame of a trace is; alone: each place is its own trace

# --- what lines look like; every pattern is matched at a known position or begins with a literal ---

_ANSI = re.compile(r"\x1b\[[0-9;:?]*+[ -/]*+[@-~]")
_GROUP_PREFIX = re.compile(r"\s*[|+] ")  # in front of every line of a Python exception group
_MAY_NAME_A_PLACE = re.compile(
    r'[^\W\d]:\d|\.\w*\d:\d|File "|\(\d|line \d|::|^\s*(?:FAIL|ERROR)'
)  # not a time of day
_PLACE = re.compile(r"((?:[A-Za-z]:(?=[\\/]))?[^:]{1,300}):(\d{1,7})(?::\d{1,6})?(?!\w)")
_URL = re.compile(r"(?:https?://[^/\s]*|file://(?:localhost)?|webpack(?:-internal)?://[^/\s]*/)(?=/|\.)")
_EXTENSION = re.compile(r".*[\w)\]-]\.[A-Za-z][\w+-]{0,9}", re.DOTALL)
_PLAIN_FILE = re.compile(r".*/[\w.-]*[A-Za-z][\w-]*|(?:Make|Docker|Rake|Gem|Jenkins|Vagrant)file", re.DOTALL)
_HOST = re.compile(r"[^/\\]*\.(?:com|org|net|io|dev|local|internal|localdomain)")
_SEPARATORS = str.maketrans(dict.fromkeys("\"'`()[]{}<>,;|", " "))

_PYTHON = re.compile(r'File "([^"]{1,300})", line (\d{1,7})(?:,? in (.{1,200}))?')
_IN_PARENTHESES = re.compile(r"\(([^()]{1,300}:\d{1,7})\)")
_PHP = re.compile(r"#\d{1,4} (?:([^()]{1,300})\((\d{1,7})\)|\[internal function\]): ([\w\\:>{}-]{1,200})")
_LINE_IN_PARENTHESES = re.compile(r"(?:\d{1,3}>)?([^()]{1,300})\((\d{1,7})(?:,\d{1,7}){0,3}\)\s?: ?(.{0,40})")
_WORDED = re.compile(r"\b(?:file|in|at) ([^\s,\"]{1,300}),? (?:on )?line (\d{1,7})\b")
_FAILED = re.compile(
    r"(?:FAILED|ERROR)\s+([^\s:]{1,300}\.\w{1,5})((?:::\w{1,200}){0,9})(?![:\w.])|FAIL\s+([^\s:]{1,300}\.\w{1,5})(?![:\w./])"
)
_FAILED_AFTER = re.compile(
    r"([^\s:]{1,300}\.\w{1,5})((?:::\w{1,200}){1,9})(?:\[.{0,200}\])? (?:FAILED|ERROR)\b"
)
_RUST_FUNCTION = re.compile(r"\s*\d{1,4}:\s+(?:0x[0-9a-f]+ - )?(\S.{0,300})")
_NATIVE_FUNCTION = re.compile(
    r"(?:#\d{1,4}|==\d+==)\s+(?:(?:at|by|in) )?(?:0x[0-9A-Fa-f]+:? )?(?:in )?([\w:~<>$]{1,200})"
)
_FUNCTION_AFTER = re.compile(
    r":?(?P<gap>,?\s?)in (?:function |method )?[`'\"]?(?:block in )?(?P<name>[\w.$:#?!/<>]{1,200})"
    r"|: (?P<elixir>[\w.?!]{1,200})/\d"
)
_ERROR_AFTER = re.compile(
    r"(?::| -)\s?(?:fatal |syntax )?error\b|: [\w.]*(?:Error|Exception|Failure)\b", re.IGNORECASE
)
_PYTEST_END = re.compile(r": ?(?:[\w.]{0,100})$")
_ERROR_BEFORE = re.compile(r"(?:\[?error\]?:? |e: |panic|thread '|fatal)", re.IGNORECASE)
_NOT_AN_ERROR = re.compile(r"(?::| -)\s?(?:warning|note|info|hint)\b", re.IGNORECASE)

_BREAK = re.compile(
    r"Traceback \(|[^(]{0,99}\(most recent call|stack backtrace|goroutine \d|thread '|Caused by"
    r"|_{3,} |={5,}|-{5,}|\+?-?\+-{5,}|During handling|The above exception|Exception in thread|Unhandled exception"
    r"|Suppressed:|== |[\w.$:\\]{0,200}(?:Error|Exception)\b"
)
_LINK = re.compile(r"During handling|The above exception|Caused by|\+?-?\+?-{5,} \d")
"""The trace after such a line belongs to the one before: the last of them says most."""

_LIBRARY = re.compile(
    r"""
      (?:^|/)(?:site-packages|dist-packages|node_modules|bower_components|vendor|gems|\.cargo|\.rustup|rustc|pkg/mod
        |\.m2|\.gradle|\.nuget|usr/(?:local/)?(?:lib|lib64|include|share|go)|lib/python\d[\d.]*|_/src/libraries)/
    | (?i:/python[\d.]*/lib/) | Python\.framework/ | /library/(?:core|std|alloc)/src/ | ^deps/
    | /go/(?:[\d.]+/\w+/)?src/(?![^/]*\.)      # the standard library, not ~/go/src/github.com/...
    """,
    re.VERBOSE,
)
_JVM_LIBRARY = re.compile(
    r"(?:java|javax|jakarta|jdk|sun|com/sun|kotlin|kotlinx|scala|android|androidx|dalvik|groovy|clojure|junit"
    r"|org/(?:junit|gradle|codehaus/groovy|apache/maven))/"
)
_JVM_FILE = re.compile(r"[^/\\]+\.(?:java|kt|kts|scala|groovy|clj)")

_EXCEPTION = re.compile(
    r"""(?>(?:E\ {2,}|Caused\ by:\ |Exception\ in\ thread\ "[^"]{0,99}"\ |Unhandled\ exception[.:]\ ?
        |\[error\]\ |-+>\ |\[|Uncaught\ (?:\(in\ promise\)\ )?|(?:PHP\ )?Fatal\ error:\ {1,2}(?:Uncaught\ )?){0,3})
        ((?:[\w$]{1,99}(?:\.|::|\\)){0,9}\w{0,99}?(?:Error|Exception|Failure|Fault|Interrupt|Panic)
        (?::\ .{1,400}|$))""",
    re.VERBOSE,
)
_PANIC = re.compile(r"(?:panic|fatal error): (.+)")
_RUST_PANIC = re.compile(r"panicked at (?:'(.{1,400}?)', )?")
_COMPILER = re.compile(r"error(?:\[\w{1,20}\]| [A-Z]{1,6}\d{1,6})?:\s{1,4}(\S.*)", re.IGNORECASE)
_RUBY_MESSAGE = re.compile(r":\d{1,7}:in [`'][^']{0,200}': (\S.*)")
_SUMMARY = re.compile(r"(?:FAILED|ERROR) \S+ - (.+)")
_SIGN = re.compile(
    r"\b(?:error|exception|fail(?:ed|ure)|fatal|panic|undefined|cannot|assert\w*)\b", re.IGNORECASE
)
_HEADER = re.compile(
    r"Traceback \(most recent call|thread '[^']{0,99}'(?: \(\d+\))? panicked at |goroutine \d+ \[|stack backtrace:"
    r"|^E {2,}\w+Error\b",
    re.MULTILINE,
)


class _Place(NamedTuple):
    """A place that a line names, and how it is to be understood."""

    frame: Frame
    innermost: int = _ALONE
    rank: int = _TRACE
    library: bool = False
    calls: str = ""  # the function that is called there, which is where the frame before this one is


class _Line(NamedTuple):
    """A line under consideration and the one before it."""

    text: str
    stripped: str
    previous: str


def frames(text: str) -> list[Frame]:
    """The places that a program's output names, most relevant first."""
    traces = _traces(text)
    found: dict[tuple[str, int], Frame] = {}
    for library in (False, True):
        for rank in (_TRACE, _FAILED_TEST, _MENTION):
            chosen = [[p.frame for p in trace if p.rank == rank and p.library is library] for trace in traces]
            for frame in _by_turns(chosen):
                known = found.setdefault((frame.path, frame.line), frame)
                if frame.function and not known.function:
                    found[frame.path, frame.line] = frame
    return list(found.values())[:MAX_FRAMES]


def message(text: str) -> str:
    """What went wrong, in the words of the program: the last exception, else the first error, else the first line."""
    last, first, sign, top = "", "", "", ""
    in_python, after_panic = False, False
    for line in _lines(text):
        stripped = line.strip()
        if not stripped:
            continue
        top = top or stripped
        if _PYTHON.match(stripped):
            in_python = True
            continue
        said = _exception(stripped) or (
            stripped if after_panic or (in_python and not line[0].isspace()) else ""
        )
        in_python = in_python and line[0].isspace()
        after_panic = _RUST_PANIC.search(stripped) is not None and not said
        last = said or last
        first = first or _error(stripped)
        sign = sign or (stripped if _SIGN.search(stripped) else "")
    return " ".join((last or first or sign or top).split())[:MAX_MESSAGE]


def looks_like_output(text: str) -> bool:
    """Whether a text is, or holds, what a program printed: not a question that mentions a place."""
    if _HEADER.search(_ANSI.sub("", text)):
        return True
    places = [place for trace in _traces(text) for place in trace]
    return len(places) >= MENTIONS or any(place.rank != _MENTION for place in places)


# --- messages ------------------------------------------------------------------------------------


def _exception(line: str) -> str:
    if match := _EXCEPTION.match(line):
        return match.group(1).removesuffix("]") if line.startswith("[") else match.group(1)
    if match := _PANIC.match(line) or _RUBY_MESSAGE.search(line):
        return match.group(1)
    if match := _RUST_PANIC.search(line):
        return match.group(1) or ""
    return ""


def _error(line: str) -> str:
    if match := _COMPILER.search(line) or _SUMMARY.match(line):
        return match.group(1)
    if line.startswith("E  "):
        return line[1:].strip()
    return line[line.find("undefined reference") :] if "undefined reference" in line else ""


# --- traces --------------------------------------------------------------------------------------


def _lines(text: str) -> Iterator[str]:
    for line in _ANSI.sub("", text).split("\n"):
        short = line[:MAX_LINE].rstrip()
        prefix = _GROUP_PREFIX.match(short)
        yield short[prefix.end() :] if prefix else short


def _traces(text: str) -> list[list[_Place]]:
    """The traces of a text, each innermost frame first; of traces that belong together the last comes first."""
    groups: list[list[list[_Place]]] = []
    linked, broken, announced = False, True, ""
    previous = ""
    for line in _lines(text):
        if not line:
            continue
        stripped = line.lstrip()
        places = _read(_Line(line, stripped, previous)) if _MAY_NAME_A_PLACE.search(line) else ()
        for place in places:
            _add(groups, _in_order(place, announced), linked, broken)
            linked = broken = False
        if not places and _BREAK.match(stripped):
            broken = True
            linked = linked or _LINK.match(stripped) is not None
            announced = stripped
        previous = line
    return [trace for group in groups for trace in map(_innermost_first, reversed(group))]


def _in_order(place: _Place, announced: str) -> _Place:
    """Python's faulthandler and old versions of Ruby say at which end of a trace the innermost frame is."""
    if place.innermost == _LAST and "most recent call first" in announced:
        return place._replace(innermost=_FIRST)
    if place.frame.path.endswith(".rb") and "most recent call last" in announced:
        return place._replace(innermost=_LAST)
    return place


def _add(groups: list[list[list[_Place]]], place: _Place, linked: bool, broken: bool) -> None:
    last = groups[-1][-1] if groups else []
    if last and not broken and last[-1].innermost == place.innermost != _ALONE:
        inner = last[-1]
        if place.calls and not inner.frame.function:
            last[-1] = inner._replace(frame=inner.frame._replace(function=place.calls))
        last.append(place)
    elif groups and linked:
        groups[-1].append([place])
    else:
        groups.append([[place]])


def _innermost_first(trace: list[_Place]) -> list[_Place]:
    return trace[::-1] if trace[0].innermost == _LAST else trace


def _by_turns(lists: Iterable[Sequence[Frame]]) -> Iterator[Frame]:
    """The first of each list, then the second of each, and so on."""
    for turn in zip_longest(*filter(None, lists)):
        yield from filter(None, turn)


# --- single lines --------------------------------------------------------------------------------


def _read(line: _Line) -> Sequence[_Place]:
    """The places that a line names: one, or several if it only mentions them."""
    for reader in _READERS:
        if place := reader(line):
            return [place]
    return _anywhere(line)


def _place(
    path: str, line: str, function: str, innermost: int, rank: int = _TRACE, library: bool = False
) -> _Place | None:
    path = path.strip().replace("\\", "/")
    while path.startswith("./"):
        path = path[2:]
    if not path or path.startswith("<"):
        return None
    frame = Frame(path, int(line), "" if function.startswith("<") else function)
    return _Place(frame, innermost, rank, library or _LIBRARY.search(path) is not None)


class _Located(NamedTuple):
    """``path:line`` at the beginning of a text, and where it ends."""

    path: str
    line: str
    end: int


def _located(text: str) -> _Located | None:
    """``path:line``, without the scheme, the host and the query of an address."""
    skipped = url.end() if (url := _URL.match(text)) else 0
    if skipped and re.match(r"/[A-Za-z]:/", text[skipped:]):  # file:///C:/x
        skipped += 1
    match = _PLACE.match(text, skipped)
    if not match:
        return None
    path = match.group(1).partition("?")[0] if skipped else match.group(1)
    return _Located(path, match.group(2), match.end()) if _is_path(path) else None


def _python(line: _Line) -> _Place | None:
    match = _PYTHON.match(line.text, max(line.text.find('File "'), 0))
    return _place(match.group(1), match.group(2), (match.group(3) or "").strip(), _LAST) if match else None


def _at(line: _Line) -> _Place | None:
    """``at function (place)`` of JavaScript, the JVM and .NET; ``at place`` of JavaScript and Rust."""
    if not line.stripped.startswith("at "):
        return None
    rest = line.stripped[3:]
    if (end := rest.rfind(":line ")) > 0 and (start := rest.rfind(" in ", 0, end)) >= 0:
        number = re.match(r"\d{1,7}", rest[end + 6 :])
        return (
            _place(rest[start + 4 : end], number.group(), _dotnet_function(rest[:start]), _FIRST)
            if number
            else None
        )
    inner = _IN_PARENTHESES.search(rest)
    found = _located(inner.group(1) if inner else rest.removeprefix("async "))
    if not found:
        return None
    if not inner:
        return _place(found.path, found.line, _rust_function(line.previous), _FIRST)
    name = rest[: rest.find("(")].strip()
    if _JVM_FILE.fullmatch(found.path):
        path, function = _jvm(name, found.path)
        return _place(path, found.line, function, _FIRST, library=_JVM_LIBRARY.match(path) is not None)
    is_internal = found.path.startswith("internal/")  # Node's own
    return _place(found.path, found.line, _script_function(name), _FIRST, library=is_internal)


def _jvm(name: str, file: str) -> tuple[str, str]:
    """``app//a.b.C$D.lambda$m$0``, ``C.java`` -> ``a/b/C.java``, ``C.D.m``."""
    parts = name.rpartition("/")[2].split(".")
    split = next((i for i, part in enumerate(parts[:-1]) if part[:1].isupper()), max(0, len(parts) - 2))
    types = [piece for part in parts[split:-1] for piece in part.split("$") if piece and not piece.isdigit()]
    method = parts[-1]
    if method.startswith("lambda$"):
        method = method.split("$")[1]
    function = ".".join([*types, *([method] if not method.startswith("<") else [])])
    return "/".join([*parts[:split], file]), function


def _dotnet_function(name: str) -> str:
    """``Ns.Type.<RunAsync>d__3.MoveNext()`` -> ``Type.RunAsync``."""
    name = name.partition("(")[0].replace("+", ".")
    if hidden := re.search(r"<(\w+)>", name):
        name = f"{name[: hidden.start()].rstrip('.')}.{hidden.group(1)}"
    return ".".join(part for part in name.split(".")[-2:] if part)


def _script_function(name: str) -> str:
    name = name.partition(" [as ")[0].strip().removeprefix("async ").removeprefix("new ")
    owner, _, last = name.rpartition(".")
    if "<anonymous>" in last or last == "eval":
        return ""
    return last if owner in ("", "Object", "Module", "process", "global", "Function", "exports") else name


def _rust_function(previous: str) -> str:
    """``  4: <a::B as c::D>::m::{{closure}}::h0123456789abcdef`` -> ``m``."""
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


def _php(line: _Line) -> _Place | None:
    match = _PHP.match(line.stripped)
    place = _place(match.group(1), match.group(2), "", _FIRST) if match and match.group(1) else None
    if not match or not place:
        return None
    called = match.group(3).replace("\\", ".").replace("->", ".").replace("::", ".").replace(".{closure}", "")
    return place._replace(calls=".".join(called.split(".")[-2:]))


def _parenthesised(line: _Line) -> _Place | None:
    """``file.ts(12,3): error TS2304: ...`` of tsc and the compilers of Microsoft."""
    match = _LINE_IN_PARENTHESES.match(line.stripped) if "):" in line.text or ") :" in line.text else None
    if not match or not _EXTENSION.fullmatch(match.group(1)):
        return None
    is_error = re.match(r"(?:fatal )?error\b", match.group(3)) is not None
    return _place(match.group(1), match.group(2), "", _ALONE, _TRACE if is_error else _MENTION)


def _test(line: _Line) -> _Place | None:
    """A failed test of pytest or a failed file of Jest; neither has a line number."""
    match = _FAILED.match(line.stripped) or _FAILED_AFTER.match(line.stripped)
    if not match:
        return None
    path = match.group(1) or match.group(3)
    return _place(path, "0", (match.group(2) or "").strip(":").replace("::", "."), _ALONE, _FAILED_TEST)


def _worded(line: _Line) -> _Place | None:
    """``in x.php on line 12`` of PHP, ``at x.pl line 12`` of Perl, ``file X.swift, line 12`` of Swift."""
    match = _WORDED.search(line.text)
    if not match or not _is_path(match.group(1)):
        return None
    rank = _TRACE if _ERROR_BEFORE.search(line.text, 0, match.start()) or "thrown" in line.text else _MENTION
    return _place(match.group(1), match.group(2), "", _FIRST if "thrown" in line.text else _ALONE, rank)


def _anywhere(line: _Line) -> list[_Place]:
    """``path:line``, with a function after it (Ruby, pytest, Elixir, Lua), before it (C) or in the line before (Go)."""
    blanked = line.text.translate(_SEPARATORS)
    places: list[_Place] = []
    start = 0
    for token in blanked.split():
        start = blanked.find(token, start)
        bare = token.rpartition("@" if "://" in token else "=")[2]  # Firefox: function@address
        found = _located(bare) if ":" in bare else None
        if found:
            begin = start + len(token) - len(bare)
            place = _understood(line, found, line.text[:begin], line.text[begin + found.end :])
            places += [place] if place else []
            if place and place.rank != _MENTION:
                return places[-1:]
        start += len(token)
    return places


def _understood(line: _Line, found: _Located, before: str, after: str) -> _Place | None:
    path, number, _ = found
    if line.text.startswith("\t") and path.endswith(".go"):
        return _place(path, number, _go_function(line.previous), _FIRST)
    if native := _NATIVE_FUNCTION.match(line.stripped):
        return _place(path, number, native.group(1), _FIRST)
    if match := _FUNCTION_AFTER.match(after):
        function = (match.group("elixir") or match.group("name")).rstrip(":").replace("#", ".")
        is_python = match.group("gap") and path.endswith((".py", ".ipynb"))
        return _place(path, number, function, _LAST if is_python else _FIRST)
    if path.endswith(".py") and not before and _PYTEST_END.match(after):
        return _place(path, number, "", _LAST)
    if path.endswith(".php") and "Uncaught" in before:
        return _place(path, number, "", _FIRST)
    if before.endswith("@"):
        return _place(path, number, before.strip(" @/<"), _FIRST)
    is_error = _ERROR_AFTER.match(after) or _ERROR_BEFORE.match(before.lstrip()) or _is_rustc_error(line)
    rank = _TRACE if is_error and not _NOT_AN_ERROR.match(after) else _MENTION
    return _place(path, number, "", _ALONE, rank)


def _is_rustc_error(line: _Line) -> bool:
    return line.stripped.startswith("--> ") and line.previous.startswith("error")


def _go_function(previous: str) -> str:
    """``github.com/a/b.(*T).Run.func1(0x1, ...)`` -> ``T.Run``."""
    name = previous.strip().removeprefix("created by ").partition(" in goroutine")[0]
    cut = name.rfind("(")
    if cut > 0 and not name.startswith("(*", cut):
        name = name[:cut]
    name = name.rpartition("/")[2].partition(".")[2]
    parts = [part.strip("()*") for part in name.replace("[...]", "").split(".")]
    return ".".join(part for part in parts if part and not re.fullmatch(r"(?:func)?\d+", part))


def _is_path(path: str) -> bool:
    """Whether something before ``:12`` is a file rather than a host, a time or a word."""
    if _HOST.fullmatch(path):
        return False
    return _EXTENSION.fullmatch(path) is not None or _PLAIN_FILE.fullmatch(path) is not None


_READERS: tuple[Callable[[_Line], _Place | None], ...] = (
    _python,
    _at,
    _php,
    _parenthesised,
    _test,
    _worded,
)
