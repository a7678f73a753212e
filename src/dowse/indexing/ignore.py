"""Gitignore pattern matching: .gitignore syntax compiled to regular expressions, as git does it; the last match
decides.

Written here instead of taken from a library because patterns come from the tree that is indexed: none may raise, warn
or take more than linear time, and a verdict has to name its line. The one intended difference: a wildcard stands for a
character, where for git it stands for a byte.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from functools import cached_property
from typing import NamedTuple

_GLOB_SPECIAL = frozenset("*?[\\")

# What git's wildmatch accepts between "[:" and ":]", for ASCII as there.
_POSIX_CLASSES = {
    "alnum": "a-zA-Z0-9",
    "alpha": "a-zA-Z",
    "blank": r" \t",
    "cntrl": r"\x00-\x1f\x7f",
    "digit": "0-9",
    "graph": r"\x21-\x7e",
    "lower": "a-z",
    "print": r"\x20-\x7e",
    "punct": r"!-/:-@\[-`{-~",
    "space": r" \t\n\r\f\v",
    "upper": "A-Z",
    "xdigit": "0-9a-fA-F",
}


class Pattern(NamedTuple):
    """One line of an ignore file."""

    line: int
    text: str
    negated: bool
    folders_only: bool
    anchored: bool  # matches the path from the ignore file's folder on, not only the name
    segments: tuple[str, ...]
    regex: str

    @property
    def leading(self) -> tuple[str, ...]:
        """What an anchored pattern spells out before its first wildcard; all of it if it has none."""
        if not self.anchored:
            return ()
        wild = next((i for i, part in enumerate(self.segments) if _is_glob(part)), len(self.segments))
        return self.segments[:wild]

    @property
    def is_literal(self) -> bool:
        """Whether the last part of the pattern has no wildcard, so that it names something."""
        return not _is_glob(self.segments[-1])

    @property
    def is_catch_all(self) -> bool:
        """Whether the pattern matches any name: ``*``, ``/*``, ``**``."""
        return all(not part.strip("*") for part in self.segments)


class PatternList:
    """The patterns of one ignore file; ``origin`` is how messages call it."""

    def __init__(self, origin: str, patterns: Iterable[Pattern]) -> None:
        self.origin = origin
        # Last line first: the first alternative that matches is then the one that decides.
        self.patterns = tuple(patterns)[::-1]

    def __bool__(self) -> bool:
        return bool(self.patterns)

    def last_match(self, path: str, name: str, *, is_folder: bool) -> Pattern | None:
        """Find the pattern that decides about an entry, if any; ``path`` starts at the ignore file's folder."""
        by_name, by_path = self._for_folders if is_folder else self._for_files
        found = by_name.find(name) if by_name else None
        other = by_path.find(path) if by_path else None
        if found is None or (other is not None and other.line > found.line):
            return other
        return found

    @cached_property
    def ancestor_dirs(self) -> frozenset[str]:
        """The folders on the way to what the negated patterns name."""
        return ancestor_dirs([pattern for pattern in self.patterns if pattern.negated])

    def describe(self, pattern: Pattern) -> str:
        """Name the line of a pattern for a message: ``src/.gitignore:3 *.log``."""
        return f"{self.origin}:{pattern.line} {pattern.text}"

    @cached_property
    def _for_folders(self) -> tuple[_Alternatives | None, _Alternatives | None]:
        return _compile(self.patterns)

    @cached_property
    def _for_files(self) -> tuple[_Alternatives | None, _Alternatives | None]:
        return _compile([pattern for pattern in self.patterns if not pattern.folders_only])


class _Alternatives:
    """Patterns as one regular expression; an empty group at the end of each alternative tells them apart."""

    def __init__(self, patterns: Sequence[Pattern]) -> None:
        self._patterns = patterns
        self._fullmatch = re.compile("|".join(f"{p.regex}()" for p in patterns), re.DOTALL).fullmatch

    def find(self, subject: str) -> Pattern | None:
        match = self._fullmatch(subject)
        return self._patterns[match.lastindex - 1] if match and match.lastindex else None


def _compile(patterns: Sequence[Pattern]) -> tuple[_Alternatives | None, _Alternatives | None]:
    by_name = [pattern for pattern in patterns if not pattern.anchored]
    by_path = [pattern for pattern in patterns if pattern.anchored]
    return (_Alternatives(by_name) if by_name else None, _Alternatives(by_path) if by_path else None)


def ancestor_dirs(patterns: Iterable[Pattern]) -> frozenset[str]:
    """Collect the folders on the way to what the patterns name."""
    return frozenset(
        "/".join(pattern.leading[:depth])
        for pattern in patterns
        for depth in range(1, len(pattern.segments))
        if depth <= len(pattern.leading)
    )


def parse_file(origin: str, content: bytes) -> PatternList:
    """Parse the bytes of an ignore file."""
    text = content.removeprefix(b"\xef\xbb\xbf").decode("utf-8", "surrogateescape")
    lines = (line.removesuffix("\r") for line in text.split("\n"))
    return parse_lines(origin, lines)


def parse_lines(origin: str, lines: Iterable[str]) -> PatternList:
    """Parse the lines of an ignore file or the values of a setting."""
    parsed = (_parse_line(number, line) for number, line in enumerate(lines, 1))
    return PatternList(origin, [pattern for pattern in parsed if pattern is not None])


def _parse_line(number: int, line: str) -> Pattern | None:
    text = _strip_trailing_spaces(line)
    if not text or text.startswith("#"):
        return None
    glob = text.removeprefix("!")
    folders_only = glob.endswith("/")
    glob = glob.removesuffix("/")
    anchored = "/" in glob
    glob = glob.removeprefix("/")
    regex = _translate(glob) if glob else None
    if regex is None:
        return None
    return Pattern(number, text, text[0] == "!", folders_only, anchored, tuple(glob.split("/")), regex)


def _strip_trailing_spaces(line: str) -> str:
    stripped = line.rstrip(" ")
    backslashes = len(stripped) - len(stripped.rstrip("\\"))
    escaped = backslashes % 2 == 1 and len(stripped) < len(line)
    return stripped + " " if escaped else stripped


def _is_glob(segment: str) -> bool:
    return not _GLOB_SPECIAL.isdisjoint(segment)


class _RegexBuilder:
    """Builds the expression of one glob so that it matches in linear time.

    Where several wildcards follow each other, the leftmost match of what lies between two of them is as good
    as any other, so each is an atomic group: nothing is tried twice.
    """

    def __init__(self) -> None:
        self._parts: list[str] = []  # one per "**/", each the expression of what follows it
        self._part = ""
        self._run = ""
        self._after_star = False

    def add_literal(self, regex: str) -> None:
        self._run += regex

    def add_star(self) -> None:
        self._part += f"(?>[^/]*?{self._run})" if self._after_star else self._run
        self._run, self._after_star = "", True

    def add_slash(self) -> None:
        self._end_segment()
        self._part += "/"

    def add_any_folders(self) -> None:
        self._end_segment()
        if self._part or not self._parts:  # "**/**/" is "**/"
            self._parts.append(self._part)
            self._part = ""

    def add_anything(self, regex: str) -> None:
        self._end_segment()
        self._part += regex

    def build(self) -> str:
        self._end_segment()
        if not self._parts:
            return self._part
        first, *middle = self._parts
        inner = "".join(f"(?>(?:[^/]*/)*?{part})" for part in middle)
        return f"{first}{inner}(?:[^/]*/)*{self._part}"

    def _end_segment(self) -> None:
        self._part += f"[^/]*{self._run}" if self._after_star else self._run
        self._run, self._after_star = "", False


def _translate(glob: str) -> str | None:
    """Translate a glob, as git's wildmatch reads it, to a regular expression; None for a glob that matches nothing."""
    regex = _RegexBuilder()
    prefix = next((i for i, char in enumerate(glob) if char in _GLOB_SPECIAL), len(glob))
    i = 0
    while i < len(glob):
        char = glob[i]
        if char == "*":
            # git cuts off what comes before the first wildcard, so "**" right after it counts as leading.
            i = _translate_stars(glob, i, i == prefix, regex)
            continue
        i += 1
        if char == "[":
            bracket = _translate_bracket(glob, i)
            if bracket is None:
                return None
            members, i = bracket
            regex.add_literal(members)
        elif char == "\\":
            if i == len(glob):
                return None
            _add_literal(glob[i], regex)
            i += 1
        elif char == "?":
            regex.add_literal("[^/]")
        else:
            _add_literal(char, regex)
    return regex.build()


def _add_literal(char: str, regex: _RegexBuilder) -> None:
    if char == "/":
        regex.add_slash()
    else:
        regex.add_literal(re.escape(char))


def _translate_stars(glob: str, start: int, leads: bool, regex: _RegexBuilder) -> int:
    """Translate the run of stars at ``start``; return where it ends."""
    end = start
    while glob.startswith("*", end):
        end += 1
    rest = glob[end : end + 2]
    crosses = end - start > 1 and (leads or glob[start - 1] == "/")
    if crosses and rest.startswith("/"):
        regex.add_any_folders()
        return end + 1
    if crosses and rest in ("", "\\/"):
        regex.add_anything(".*" if rest or (leads and start) else ".+")
    else:
        regex.add_star()
    return end


def _translate_bracket(glob: str, i: int) -> tuple[str, int] | None:
    """Translate the bracket whose inside starts at ``i``; return also its end, or None if it matches nothing."""
    negated = glob[i : i + 1] in ("!", "^")
    i += negated
    members, previous, first = "", "", True
    while first or not glob.startswith("]", i):
        first = False
        char = glob[i : i + 1]
        end = glob.find("]", i + 2)
        if char == "-" and previous and glob[i + 1 : i + 2] not in ("", "]"):
            i += 2 if glob[i + 1] == "\\" else 1
            high = glob[i : i + 1]
            members += f"{re.escape(previous)}-{re.escape(high)}" if previous <= high else ""
            previous = ""
        elif glob.startswith("[:", i) and end > i + 2 and glob[end - 1] == ":":
            if glob[i + 2 : end - 1] not in _POSIX_CLASSES:
                return None
            members += _POSIX_CLASSES[glob[i + 2 : end - 1]]
            previous, i = "", end
        else:
            i += char == "\\"
            previous = glob[i : i + 1]
            members += re.escape(previous)
        i += 1
        if i > len(glob):
            return None
    return (f"[^/{members}]" if negated else f"(?!/)[{members}]"), i + 1
