"""Tree-sitter parsing: load grammars, parse source text to a syntax tree within limits of time and memory, run queries.

Grammars and compiled queries are cached for the life of the process. The settings of a tree may name a grammar, and a
tree may be anybody's: only installed packages that are called like a grammar are imported.
"""

from __future__ import annotations

import os
import re
import sys
import time
import warnings
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, cast

import tree_sitter

from dowse.code import yaml_depth_guard
from dowse.code.languages.spec import GRAMMAR, GRAMMAR_FORM, Language
from dowse.errors import SettingsError
from dowse.types.source import ParseHealth

if TYPE_CHECKING:
    from collections.abc import Callable

    Buffer = bytes | memoryview
    ReadBytes = Callable[[int, tree_sitter.Point], bytes | None]

Match = tuple[int, dict[str, list[tree_sitter.Node]]]
"""The index of a pattern in its query, and the nodes it captured by name."""

TIMED_BYTES = 4_000
"""Smaller files are parsed without a look at the clock: the worst junk of that size takes some tenths of a second."""

MAX_SECONDS = 1.0
MAX_SECONDS_PER_MB = 2.0
"""CPU time that parsing a file may take, many times what code takes. Junk may take time by its size squared: half
a megabyte of a log that is named ``.jl`` takes more than a minute."""

MAX_MEMORY_KB = 130_000
"""Memory that parsing a file may take: many times what code takes. Junk takes a hundred megabytes a second."""

READ_BYTES = 1_024
"""Source read between two looks at the clock: junk spends seconds on eight times as much."""

MAX_MATCH_DEPTH = 400
"""Levels of a tree on which a match may begin. Code by hand has some fifty; every level of a chain of calls or of
nested brackets may leave a pattern waiting, and all that wait are compared at every node."""

MAX_ERROR_SIGNS = 2_000
"""Signs in a row that make an error junk: at each, a query looks for a name among all that follow."""

_TEXT_BYTES = 64
"""Source read at a time for the text that a query compares: nearly always a name."""

_INSTALL_FOLDERS = ("site-packages", "dist-packages")
"""What the folders are called that packages are installed in."""

_CAPTURE = re.compile(r"@([\w.-]+)")
_IN_LINE = re.compile(rb"[^\n]")


class ParseLimits(NamedTuple):
    """The limits of one parse: CPU seconds, more seconds for each megabyte of source, and memory in kilobytes."""

    seconds: float
    seconds_per_mb: float
    memory_kb: int


QUICK_LIMITS = ParseLimits(0.25, 1.0, 45_000)
"""For a process that has other things to do: ten times what code takes."""


class QuickLimitExceeded(Exception):
    """A parser was not done within limits that were given."""


class QueryMatches(NamedTuple):
    """The matches of the tree-sitter queries of a language in one file: definitions and references."""

    definitions: list[Match]
    references: list[Match]


@cache
def load_grammar(spec: str) -> tree_sitter.Language:
    """Load the tree-sitter grammar that ``package:function`` names."""
    named = GRAMMAR.fullmatch(spec)
    if named is None:
        raise SettingsError(f"grammar '{spec}' is not loaded: it must be {GRAMMAR_FORM}")
    package, function = named["package"], named["function"] or "language"
    try:
        _refuse_uninstalled(package, spec)
        capsule = getattr(import_module(package), function)()
    except (ImportError, AttributeError, ValueError) as error:
        raise SettingsError(
            f"grammar '{spec}' cannot be loaded ({error}): is its package installed?"
        ) from error
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # older grammar wheels hand out a plain pointer
        return tree_sitter.Language(capsule)


def _refuse_uninstalled(package: str, spec: str) -> None:
    """Raise an error for a package that is not installed; none of its code is run for that."""
    found = find_spec(package)
    if found is None:
        raise ModuleNotFoundError(f"No module named '{package}'")
    origin = Path(found.origin or package)
    folder = origin.parent.parent if found.submodule_search_locations is not None else origin.parent
    beside_tree_sitter = Path(tree_sitter.__file__).parent.parent
    is_installed = folder.name in _INSTALL_FOLDERS and not folder.samefile(os.curdir)
    if folder != beside_tree_sitter and not is_installed:
        raise SettingsError(
            f"grammar '{spec}' is not loaded: {folder} is not a folder of installed packages; "
            "install the package with pip"
        )


@cache
def compile_query(spec: str, text: str) -> tree_sitter.Query:
    """Compile a query; a wrong one is an error that says where."""
    try:
        return tree_sitter.Query(load_grammar(spec), text)
    except tree_sitter.QueryError as error:
        raise SettingsError(f"query for grammar '{spec}' does not compile: {error}") from error


@cache
def _compile_both(spec: str, definitions: str, references: str) -> tuple[tree_sitter.Query, int]:
    """Compile both queries as one; return also the index of the first pattern of the second."""
    both = compile_query(spec, f"{definitions}\n{references}")
    end = len(definitions.encode())
    return both, sum(both.start_byte_for_pattern(n) < end for n in range(both.pattern_count))


@cache
def list_captures(spec: str, definitions: str, references: str) -> list[list[str]]:
    """List the names that each pattern of both queries may capture."""
    both, _ = _compile_both(spec, definitions, references)
    text = f"{definitions}\n{references}".encode()
    places = [
        (both.start_byte_for_pattern(n), both.end_byte_for_pattern(n)) for n in range(both.pattern_count)
    ]
    return [list(dict.fromkeys(_CAPTURE.findall(text[start:end].decode()))) for start, end in places]


def run_queries(language: Language, tree: tree_sitter.Tree | None) -> QueryMatches:
    """Find the definitions and references of a file, in one pass over its tree: two take twice the time."""
    if tree is None or not (language.definitions or language.references):
        return QueryMatches([], [])
    both, first = _compile_both(language.grammar, language.definitions, language.references)
    cursor = tree_sitter.QueryCursor(both)
    cursor.set_max_start_depth(MAX_MATCH_DEPTH)
    found = cursor.matches(tree.root_node)
    return QueryMatches(
        [match for match in found if match[0] < first], [match for match in found if match[0] >= first]
    )


def find_problem(language: Language) -> SettingsError | None:
    """Find what keeps the files of a language from being parsed: a wrong grammar or query of the user."""
    try:
        if language.grammar:
            _compile_both(language.grammar, language.definitions, language.references)
    except SettingsError as error:
        return error
    return None


@cache
def _parser(spec: str) -> tree_sitter.Parser:
    return tree_sitter.Parser(load_grammar(spec))


def _blank_unreadable(blanks: tuple[str, ...], content: bytes) -> bytes:
    """Blank out what the grammar cannot read; everything else stays where it is."""
    for pattern in blanks:
        content = _compile_pattern(pattern).sub(_blank_group, content)
    return content


@cache
def _compile_pattern(pattern: str) -> re.Pattern[bytes]:
    return re.compile(pattern.encode())


def _blank_group(found: re.Match[bytes]) -> bytes:
    (first, end), start = found.span(1), found.start()
    return found[0][: first - start] + _IN_LINE.sub(b" ", found[1]) + found[0][end - start :]


class _ReadBuffer:
    """Memory that a parser reads from: the same objects again and again, since it never lets go of what it was given.

    Handing out new ones would leak all source that is parsed.
    """

    def __init__(self) -> None:
        self._bytes = bytearray(READ_BYTES)
        whole = memoryview(self._bytes)
        self._views = [whole[:size] for size in range(READ_BYTES + 1)]

    def fill(self, part: bytes) -> memoryview:
        """Return a view of this part, which is valid until the next one."""
        size = len(part)
        self._bytes[:size] = part
        return self._views[size]


_buffers: list[_ReadBuffer] = []
"""Buffers that no parser reads from at the moment."""


class _Source:
    """A content for a parser to read, which seems to end when the time is up.

    The parser has a callback for progress, but in Python before 3.14 that crashes when it is called.
    """

    def __init__(self, content: bytes, limits: ParseLimits, buffer: _ReadBuffer) -> None:
        self.content = content
        self.buffer = buffer
        self.is_parsed = False
        self.is_cut = False
        self.end = time.thread_time() + limits.seconds + limits.seconds_per_mb * len(content) / 1e6
        self.peak = _peak_kb() + limits.memory_kb

    def __call__(self, start: int, _: object) -> Buffer:
        """Return the next bytes of the content, as many as the parser reads at a time."""
        if self.is_parsed:
            return self.content[start : start + _TEXT_BYTES]
        self.is_cut = self.is_cut or time.thread_time() > self.end or _peak_kb() > self.peak
        return b"" if self.is_cut else self.buffer.fill(self.content[start : start + READ_BYTES])


def _peak_kb() -> int:
    """Return the peak memory of this process, where the system tells."""
    if sys.platform == "win32":
        return 0
    import resource

    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak // 1024 if sys.platform == "darwin" else peak


def _parse_within_limits(
    parser: tree_sitter.Parser, content: bytes, limits: ParseLimits | None = None
) -> tree_sitter.Tree | None:
    """Parse a content; return None if that takes too long."""
    if len(content) < TIMED_BYTES:
        return parser.parse(content)
    buffer = _buffers.pop() if _buffers else _ReadBuffer()
    limits_or_default = limits or ParseLimits(MAX_SECONDS, MAX_SECONDS_PER_MB, MAX_MEMORY_KB)
    source = _Source(content, limits_or_default, buffer)
    tree = parser.parse(cast("ReadBytes", source))
    source.is_parsed = True
    _buffers.append(buffer)
    if source.is_cut and limits:
        raise QuickLimitExceeded
    return None if source.is_cut else tree


def parse(
    language: Language, content: bytes, limits: ParseLimits | None = None
) -> tuple[tree_sitter.Tree | None, ParseHealth]:
    """Parse the content of a file; the tree is None without a grammar, or if the content would crash it."""
    if not language.grammar:
        return None, ParseHealth.NO_GRAMMAR
    if yaml_depth_guard.is_too_deep(language, content):
        return None, ParseHealth.FAILED
    tree = _parse_within_limits(
        _parser(language.grammar), _blank_unreadable(language.blanks, content), limits
    )
    if tree is None:
        return None, ParseHealth.FAILED
    root = tree.root_node
    if not root.has_error:
        return tree, ParseHealth.OK
    if root.is_error and not any(child.is_named and not child.is_error for child in root.children):
        return tree, ParseHealth.FAILED
    return (None, ParseHealth.FAILED) if _has_junk(root) else (tree, ParseHealth.PARTIAL)


def _has_junk(root: tree_sitter.Node) -> bool:
    """Return whether some error is a long row of signs without a name between them."""
    if root.descendant_count < MAX_ERROR_SIGNS:
        return False
    waiting = [root]
    while waiting:
        node = waiting.pop()
        is_wide = node.child_count - node.named_child_count > MAX_ERROR_SIGNS
        if is_wide and node.is_error and _longest_row_of_signs(node) > MAX_ERROR_SIGNS:
            return True
        waiting += [child for child in node.children if child.has_error]
    return False


def _longest_row_of_signs(node: tree_sitter.Node) -> int:
    """Count the most children in a row that are no named nodes."""
    rows = groupby(child.is_named for child in node.children)
    return max((sum(1 for _ in row) for is_named, row in rows if not is_named), default=0)
