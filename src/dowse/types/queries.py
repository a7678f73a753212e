"""Query types: the parsed query (filters, phrases, patterns) and the analyzed query (terms, names, files, type)."""

from __future__ import annotations

import re
from datetime import datetime, timedelta
from typing import NamedTuple

from dowse.frozen import frozen
from dowse.types.source import Role
from dowse.types.stored import NO_FILTER, Filter, NameTier


class QueryRegex(NamedTuple):
    """A regular expression in a query (Python's syntax, known to compile)."""

    pattern: str
    ignore_case: bool = False

    @property
    def compilable(self) -> tuple[bytes, int]:
        """Pattern and flags as ``re`` takes them: bytes are searched, ``^`` and ``$`` are at the ends of lines."""
        flags = re.MULTILINE | (re.IGNORECASE if self.ignore_case else 0)
        return self.pattern.encode("utf-8", "surrogatepass"), int(flags)


class AddedTerm(NamedTuple):
    """A term that the term graph added to a query: of which entry, and what in the query asked for it."""

    term: str
    canonical: str
    matched: str


class RewriteTrace(NamedTuple):
    """What became of the text of a query before it was searched for: the trace of rewriting and enriching."""

    original: str = ""
    rewritten: str = ""  # the same as the original if nothing rewrote it
    enriched: str = ""  # the same as the rewritten if no term matched
    added: tuple[AddedTerm, ...] = ()
    rewriter: str = ""  # what rewrote it, or should have
    why_not: str = ""  # why that did not happen


class ParsedQuery(NamedTuple):
    """A query in the query language, taken apart. Values of fields are as written, except ``is:``.

    Several values of one field are alternatives. ``changed`` is a time back from now, or a moment (local time).
    """

    text: str = ""
    languages: tuple[str, ...] = ()
    not_languages: tuple[str, ...] = ()
    paths: tuple[str, ...] = ()
    not_paths: tuple[str, ...] = ()
    kinds: tuple[str, ...] = ()
    not_kinds: tuple[str, ...] = ()
    names: tuple[str, ...] = ()
    roles: tuple[Role, ...] = ()
    not_roles: tuple[Role, ...] = ()
    changed: timedelta | datetime | None = None
    phrases: tuple[str, ...] = ()
    regexes: tuple[QueryRegex, ...] = ()
    unwanted: tuple[str, ...] = ()  # words and phrases that a hit must not have
    repositories: tuple[str, ...] = ()
    branches: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    rewrite: RewriteTrace = RewriteTrace()  # how ``text`` became what it is, and what is to be added to it

    @property
    def is_exact(self) -> bool:
        """Whether a hit must have phrases or patterns."""
        return bool(self.phrases or self.regexes)

    @property
    def has_filters(self) -> bool:
        """Whether it says what a hit must be, beside what it is about."""
        wanted = self.languages or self.paths or self.kinds or self.names or self.roles
        unwanted = self.not_languages or self.not_paths or self.not_kinds or self.not_roles
        return bool(wanted or unwanted) or self.changed is not None


class Term(NamedTuple):
    """A token to look for and how much it counts."""

    text: str
    weight: float


class Frame(NamedTuple):
    """A place that a stack trace, a compiler or a test run names; line 0 and function "" where it names none.

    ``path`` has forward slashes and may be absolute, relative to any folder, or only the end of a path.
    """

    path: str
    line: int
    function: str = ""


class QueryView(NamedTuple):
    """A part of a report, by its name: title, prose, code (with names of code in the text) or message."""

    name: str
    text: str


class LanguageVersion(NamedTuple):
    """A version of a language that a query names."""

    word: str  # for the language, in lower case
    major: int
    minor: int | None  # none if the query has only one number

    def __str__(self) -> str:
        return f"{self.word} {self.major}" + ("" if self.minor is None else f".{self.minor}")


class Spelling(NamedTuple):
    """A name of a query that the index does not have as it is written, and how the index writes it.

    ``tier`` and ``pattern`` are how names are looked up; without a tier, ``found`` are words of texts, not names.
    """

    asked: str
    pattern: str
    tier: NameTier | None
    found: tuple[str, ...]


@frozen
class Query:
    """A query as it is searched for: its terms and names, what a hit must pass, and what type of query it is.

    ``type`` is words, symbol, file, mixed, output (of a program), issue (a report, with or without output) or place.
    """

    text: str
    terms: tuple[Term, ...]
    names: tuple[str, ...]
    files: tuple[str, ...]
    words: tuple[str, ...]
    dropped: tuple[str, ...]
    type: str
    frames: tuple[Frame, ...] = ()
    versions: tuple[LanguageVersion, ...] = ()
    message: str = ""  # what the program said, of an issue that holds its output
    views: tuple[QueryView, ...] = ()  # the parts of a report
    filter: Filter = NO_FILTER
    phrases: tuple[str, ...] = ()
    regexes: tuple[QueryRegex, ...] = ()
    unwanted: tuple[str, ...] = ()
    rewrite: RewriteTrace = RewriteTrace()
    unknown: tuple[str, ...] = ()  # names that nothing has, for which it is read as words
    spellings: tuple[Spelling, ...] = ()  # of names that are patterns, parts, or have typos
    depends_on_time: bool = False  # whether the same query means something else later (``changed:2d``)

    @property
    def is_exact(self) -> bool:
        """Whether a hit must have phrases or patterns."""
        return bool(self.phrases or self.regexes)
