"""Query language parser: filters (``lang:``, ``path:``, ``kind:``), exact phrases and regular expressions in a query.

    retry backoff lang:py path:src/** -path:tests kind:function name:*Handler "exact phrase" /regex/i -word changed:14d

What is not clearly a field stays text: ``std::vector``, ``http://x``, ``file.py:123``, ``foo: bar``, ``C:\\x``. What
looks like a field and is none is an error if it is like a known one, else text with a note. A backslash before a
phrase, regex or field makes it text. Pasted text is never read as a query.
"""

from __future__ import annotations

import re
import threading
import warnings
from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import NoReturn

from dowse.errors import UsageError
from dowse.lazy_regex import compile_lazily
from dowse.search.query import quoting
from dowse.search.query.field_names import (
    EXCLUDABLE_FIELDS,
    FIELD_ALIASES,
    FIELDS,
    find_nearest,
    make_example,
    suggest,
)
from dowse.search.query.field_values import MAX_ALTERNATIVES, QUOTED, parse_moment, split_values
from dowse.search.query.query_alternatives import join_alternatives
from dowse.types.queries import ParsedQuery, QueryRegex
from dowse.types.source import Role

MAX_QUERY_CHARS = 400
"""Characters of a text that is read as a query; a longer one was pasted."""

MAX_WORDS_BESIDE_PHRASE = 4
"""Words beside a phrase in a query; with more, and no filter, the quotes are those of a message that was pasted."""

_SYNTAX_CHARACTER = compile_lazily(
    r'["/:]|\bOR\b|(?:^|\s)-\w'
)  # of all phrases, patterns and fields; most queries have none

_FIELD = compile_lazily(r"(-?)([a-z][a-z_-]*):(?![:=\s]|//|$)")
_UNKNOWN_VALUE = compile_lazily(r"[^\W\d]|[\"*]")
"""How a value begins that cannot be a port, a line number or punctuation."""

_REGEX = compile_lazily(r"/(?![\s*/])((?>(?:[^/\\]|\\.)*))(?<!\s)/(i?)(?!\S)")
"""Not a comment, not a path, not a division: ends before a space and neither begins nor ends with one."""

_ESCAPED_LINES = compile_lazily(r"\\n(?: {2,}|\\t|Traceback |Caused by)")
"""Lines of a trace whose ends were escaped, as in a log of JSON; not a path of Windows."""

_UNWANTED = compile_lazily(r'-(?:(?=")|([^\W\d]\w{2,})(?!\S))')
"""A minus before a phrase or a word; an option of one or two letters is none."""

_OR = compile_lazily(r"(OR|or)(?=\s+(\S))")
_LOOKS_LIKE_REGEX = compile_lazily(r"[\\^$*+?()\[\]|]|\{(?![A-Za-z_]\w*\})")  # but for /users/{id}
_WORD = compile_lazily(r"\S+")
_warnings_lock = threading.Lock()


def parse_query(text: str) -> ParsedQuery:
    """Parse a query; raises UsageError where it can only be a mistake."""
    query = text.strip()
    if not is_pasted(query):
        if not _SYNTAX_CHARACTER.search(query):  # as in most queries
            return ParsedQuery(text=" ".join(query.split()))
        return _read_pasted_message(query, _QueryReader(query, len(text) - len(text.lstrip())).read())
    whole = QUOTED.fullmatch(query)
    if whole is None or not whole.group(1).strip() or len(query) > MAX_QUERY_CHARS:
        return parse_pasted(query)
    return ParsedQuery(phrases=(quoting.unescape_phrase(whole.group(1)),))


def parse_pasted(text: str) -> ParsedQuery:
    """Parse what was pasted: all of it is text, without the quotes and escapes that it got on its way."""
    text = text.strip()
    whole = QUOTED.fullmatch(text)
    if whole is not None and whole.group(1).strip():
        return ParsedQuery(text=quoting.unescape_json(whole.group(1)))
    lines = text.split("\n") if "\\n" in text else []
    escaped = [quoting.unescape_json(line) if _ESCAPED_LINES.search(line) else line for line in lines]
    return ParsedQuery(text="\n".join(escaped) if escaped else text)


def _read_pasted_message(query: str, parsed: ParsedQuery) -> ParsedQuery:
    """Read quotes within a message as text: who writes the query language puts few words beside a phrase."""
    is_language = parsed.has_filters or parsed.regexes or parsed.unwanted or not parsed.phrases
    if is_language or len(parsed.text.split()) <= MAX_WORDS_BESIDE_PHRASE:
        return parsed
    note = "the quotes are read as part of a message: a phrase is required where few words are beside it"
    return ParsedQuery(text=" ".join(query.split()), notes=(*parsed.notes, note))


def is_pasted(text: str) -> bool:
    """Return whether a text is too long for a query, or has several lines."""
    return len(text) > MAX_QUERY_CHARS or "\n" in text or "\r" in text


class _QueryReader:
    """Reads a query from left to right; ``offset`` is where it begins in what the user gave."""

    def __init__(self, query: str, offset: int) -> None:
        self.query = query
        self.offset = offset
        self.at = 0
        self.words: list[str] = []
        self.values: dict[str, list[str]] = {}
        self.phrases: list[str] = []
        self.regexes: list[QueryRegex] = []
        self.unwanted: list[str] = []
        self.changed: timedelta | datetime | None = None
        self.notes: list[str] = []
        self.read_last = ""  # what was read last: a phrase, a regex, a field or a word
        self.after_or = ""  # what was read last before an OR that waits for what follows

    def read(self) -> ParsedQuery:
        """Read the whole query."""
        while word := _WORD.search(self.query, self.at):
            self.at = word.start()
            if self._read_or():
                continue
            kind = self._read_part()
            if self.after_or:
                self._join_with_last(kind)
            self.read_last = kind
        self._apply_case()
        return ParsedQuery(
            text=" ".join(self.words),
            languages=self._list_values("lang"),
            not_languages=self._list_values("-lang"),
            paths=self._list_values("path"),
            not_paths=self._list_values("-path"),
            kinds=self._list_values("kind"),
            not_kinds=self._list_values("-kind"),
            names=self._list_values("name"),
            roles=tuple(map(Role, self._list_values("is"))),
            not_roles=tuple(map(Role, self._list_values("-is"))),
            changed=self.changed,
            phrases=tuple(dict.fromkeys(self.phrases)),
            regexes=tuple(dict.fromkeys(self.regexes)),
            unwanted=tuple(dict.fromkeys(self.unwanted)),
            repositories=self._list_values("repo"),
            branches=self._list_values("branch"),
            notes=tuple(dict.fromkeys(self.notes)),
        )

    def _read_part(self) -> str:
        """Read a phrase, a regex, a field or a word, and return which."""
        if self._read_phrase():
            return "phrase"
        if self._read_regex():
            return "regex"
        if self._read_unwanted():
            return "-word"
        start = self.at
        if self._read_field():
            return self.query[start:].partition(":")[0]
        self._read_word()
        return "word"

    def _read_or(self) -> bool:
        """Read an OR between two parts; it is never a word, and in lower case it is one except between phrases."""
        match = _OR.match(self.query, self.at)
        if not match or not self.read_last:
            return False
        is_between = self.read_last in ("phrase", "regex") and match.group(2) in ('"', "/")
        if not (match.group(1) == "OR" or is_between):
            return False
        self.after_or, self.at = self.read_last, match.end(1)
        return True

    def _join_with_last(self, kind: str) -> None:
        """Make what stands on both sides of an OR alternatives; words and values of one field are that already."""
        before, self.after_or = self.after_or, ""
        exact = ("phrase", "regex")
        if kind in exact and before in exact:
            other = self.phrases.pop() if kind == "phrase" else self.regexes.pop()
            one = self.phrases.pop() if before == "phrase" else self.regexes.pop()
            self.regexes.append(join_alternatives(one, other))
        elif kind != before or kind.startswith("-"):
            self._refuse(
                "OR stands between things that are no alternatives",
                'it joins words, values of one field, or phrases and patterns; to search for the word, quote it: "OR"',
            )

    def _list_values(self, field: str) -> tuple[str, ...]:
        return tuple(dict.fromkeys(self.values.get(field, ())))

    def _read_phrase(self) -> bool:
        if not (match := QUOTED.match(self.query, self.at)):
            return False
        phrase = quoting.unescape_phrase(match.group(1))
        if phrase.strip():
            self.phrases.append(phrase)
        else:
            self.notes.append("an empty phrase asks for nothing and was skipped")
        self.at = match.end()
        return True

    def _read_unwanted(self) -> bool:
        """Read a word or a phrase after a minus: no hit has it."""
        if not (match := _UNWANTED.match(self.query, self.at)):
            return False
        quoted = QUOTED.match(self.query, self.at + 1)
        if not (quoted or match.group(1)):
            return False
        unwanted = quoting.unescape_phrase(quoted.group(1)) if quoted else match.group(1)
        if not unwanted.strip():
            return False
        self.unwanted.append(unwanted)
        self.notes.append(
            f'hits with "{unwanted}" are excluded; to search for it, write "-{unwanted}" in quotes'
        )
        self.at = quoted.end() if quoted else match.end()
        return True

    def _apply_case(self) -> None:
        """Make phrases and patterns as sensitive to letter case as ``case:`` says."""
        values = self._list_values("case")
        if not values:
            return
        if len(values) > 1 or values[0] not in ("yes", "no"):
            self._refuse("'case:' is yes or no", "case:yes makes letter case count in phrases and patterns")
        if not (self.phrases or self.regexes):
            self.notes.append("case: counts for phrases and patterns; there are none")
        ignore = values[0] == "no"
        patterns = [quoting.make_pattern(phrase) for phrase in self.phrases]
        patterns += [regex.pattern for regex in self.regexes]
        self.phrases, self.regexes = [], [QueryRegex(pattern, ignore) for pattern in patterns]

    def _read_regex(self) -> bool:
        if not (match := _REGEX.match(self.query, self.at)):
            return False
        regex = QueryRegex(quoting.unescape_slashes(match.group(1)), bool(match.group(2)))
        try:
            _check_regex(regex)
        except (re.error, OverflowError, RecursionError, FutureWarning) as error:
            self._refuse(
                f"the regular expression {match.group()} is not valid",
                f"{error}; allowed is what Python's re allows in bytes. To search for the text itself, quote it: "
                f"{quoting.quote_phrase(match.group())}",
            )
        self.regexes.append(regex)
        self.at = match.end()
        return True

    def _read_field(self) -> bool:
        if not (match := _FIELD.match(self.query, self.at)):
            return False
        minus, name = match.groups()
        field = FIELD_ALIASES.get(name, name)
        if field not in FIELDS:
            if _is_unknown_field(self.query, match):
                self._check_unknown_field(name)
            return False
        if minus and field not in EXCLUDABLE_FIELDS:
            can = ", ".join(f"-{name}:" for name in EXCLUDABLE_FIELDS)
            self._refuse(f"'-{name}:' is not possible", f"what can be excluded is {can}")
        values, end = split_values(self.query, match.end(), braces=field == "path")
        if end is None:
            return False
        if not values:
            self._refuse(
                f"'{minus}{name}:' has no value", f"write it without a space, as in {make_example(field)}"
            )
        self._add_values(minus + field, values)
        self.at = end
        return True

    def _add_values(self, field: str, values: Sequence[str]) -> None:
        if field == "changed":
            self._add_changed(values)
            return
        if field.endswith("is"):
            values = [value.lower() for value in values]
            for value in values:
                if value not in set(Role):
                    self._refuse(f"'{field}:{value}' is not possible", suggest(value, list(Role), "is"))
        if "path" in field and len(values) > MAX_ALTERNATIVES:
            self._refuse(f"'{field}:' has too many alternatives", f"at most {MAX_ALTERNATIVES} are possible")
        self.values.setdefault(field, []).extend(values)

    def _add_changed(self, values: Sequence[str]) -> None:
        for value in values:
            moment = parse_moment(value)
            if moment is None:
                self._refuse(
                    f"'changed:{value}' is neither a time nor a date",
                    "write hours, days or weeks (changed:3h, changed:14d, changed:2w) or a date (changed:2025-01-31)",
                )
            if self.changed not in (None, moment):
                self._refuse("'changed:' has two values", "give one: the earliest")
            self.changed = moment

    def _read_word(self) -> None:
        """Read a word of text; a backslash in front of what would be syntax is not part of it."""
        start = self.at
        if self.query[start] == "\\" and _is_syntax(self.query, start + 1):
            start += 1
        else:
            self._note_unfinished(start)
        match = _WORD.match(self.query, start)
        if match:
            self.words.append(match.group())
            self.at = match.end()

    def _note_unfinished(self, start: int) -> None:
        """Add a note where a word looks like a phrase, a regex or a field that was not finished."""
        word = self.query[start:].split(maxsplit=1)[0]
        name = word.removeprefix("-").removesuffix(":")
        if word.startswith('"') or (_FIELD.match(word) and word.count('"') % 2):
            self.notes.append(f"the quote in {word} is never closed: it is searched for as text")
        elif word.startswith("/") and not word.startswith(("//", "/*")) and _LOOKS_LIKE_REGEX.search(word):
            self.notes.append(f"the slash in {word} is never closed: it is searched for as text")
        elif word.endswith(":") and FIELD_ALIASES.get(name, name) in FIELDS:
            self.notes.append(
                f"{word} has a space after it and is searched for as text: write {make_example(name)}"
            )

    def _check_unknown_field(self, name: str) -> None:
        """Refuse a field that is like a known one, and was meant to be it; note that any other is text."""
        suggestion = suggest(name, FIELDS, "")
        if find_nearest(name, FIELDS, ""):
            word = self.query[self.at :].split(maxsplit=1)[0]
            hint = f"{suggestion}. To search for the text itself, quote it: {quoting.quote_phrase(word)}"
            self._refuse(f"unknown field '{name}:'", hint)
        self.notes.append(f"'{name}:' is no field and is searched for as text: {suggestion}")

    def _refuse(self, what: str, hint: str) -> NoReturn:
        raise UsageError(f"{what} (at character {self.offset + self.at + 1}): {hint}")


def _is_unknown_field(query: str, match: re.Match[str]) -> bool:
    """Return whether a word before a colon was meant to be a field: not ``localhost:8080``, ``c:x``, ``go:=``."""
    return len(match.group(2)) > 1 and _UNKNOWN_VALUE.match(query, match.end()) is not None


def _is_or(query: str, at: int) -> bool:
    return query.startswith("OR", at) and _OR.match(query, at) is not None


def _is_syntax(query: str, at: int) -> bool:
    """Return whether a phrase, a regex, a field or something unwanted begins here, finished or not."""
    if query.startswith(('"', "/"), at) or _is_or(query, at) or _UNWANTED.match(query, at):
        return True
    return (match := _FIELD.match(query, at)) is not None and _is_field(query, match)


def _is_field(query: str, match: re.Match[str]) -> bool:
    return FIELD_ALIASES.get(match.group(2), match.group(2)) in FIELDS or _is_unknown_field(query, match)


def _check_regex(regex: QueryRegex) -> None:
    """Raise where a regex is wrong, or means something else than it seems to (``[[:alpha:]]``: a FutureWarning)."""
    with _warnings_lock, warnings.catch_warnings():  # which is not safe across threads by itself
        warnings.simplefilter("error", FutureWarning)
        re.compile(*regex.compilable)


def starts_with_syntax(query: str) -> bool:
    """Return whether a text begins with what is read as syntax."""
    if QUOTED.match(query) or _REGEX.match(query) or _is_or(query, 0) or _UNWANTED.match(query):
        return True
    match = _FIELD.match(query)
    if not match or not _is_field(query, match):
        return False
    return split_values(query, match.end(), braces=False)[1] is not None or _is_unknown_field(query, match)
