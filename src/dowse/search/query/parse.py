"""The query language: filters, exact phrases and regular expressions within a question.

    retry backoff lang:py path:src/** -path:tests kind:function name:*Handler "exact phrase" /regex/i changed:14d

What is not clearly a field stays text: ``std::vector``, ``http://x``, ``file.py:123``, ``localhost:8080``,
``foo: bar``, ``x:=1``, ``C:\\x``. A word before a colon that looks like a field and is none is an error, since a
filter that is silently taken as text gives a wrong answer. A backslash in front of a phrase, a regex or a field
makes it text. Pasted text (several lines, or long) is never read as a query.
"""

from __future__ import annotations

import re
import threading
import warnings
from collections.abc import Sequence
from datetime import datetime, timedelta
from difflib import get_close_matches
from typing import NoReturn

from dowse.errors import UsageError
from dowse.types import ParsedQuery, QueryRegex, Role

MAX_QUERY = 400
"""Characters of a text that may be a query; what is longer was pasted."""

MAX_ALTERNATIVES = 64
"""Patterns that the braces of one value may stand for."""

FIELDS = ("lang", "path", "kind", "name", "changed", "is")
EXCLUDABLE = ("lang", "path", "kind", "is")
ALIASES = {"language": "lang"}

_ELSEWHERE = {
    "dir": "path", "ext": "path", "file": "path", "filename": "path", "folder": "path", "in": "path",
    "def": "name", "func": "name", "function": "name", "symbol": "name", "sym": "name", "class": "name",
    "after": "changed", "date": "changed", "modified": "changed", "since": "changed",
    "role": "is", "test": "is", "type": "kind",
}  # fmt: skip
"""What other search tools call our fields."""

_SYNTAX = re.compile('["/:]')
"""A phrase, a pattern or a field has one of these; so has what looks like one."""

_FIELD = re.compile(r"(-?)([a-z][a-z_-]*):(?![:=\s]|//|$)")
_UNKNOWN_VALUE = re.compile(r"[^\W\d]|[\"*]")
"""How a value begins that cannot be a port, a place or punctuation."""

_QUOTED = re.compile(r'"((?>(?:[^"\\]|\\.)*))"', re.DOTALL)
_REGEX = re.compile(r"/(?![\s*/])((?>(?:[^/\\]|\\.)*))(?<!\s)/(i?)(?!\S)")
"""Not a comment, not a path, not a division: ends before a space and neither begins nor ends with one."""

_LOOKS_LIKE_REGEX = re.compile(r"[\\^$*+?()\[\]{}|]")
_WORD = re.compile(r"\S+")
_BARE_VALUE = re.compile(r'(?![:=]|//)[^\s",{}]+')
_DURATION = re.compile(r"(\d{1,4})([hdw])")  # at the most two centuries, which every clock can go back
_DATE = re.compile(r"\d{4}-\d{2}-\d{2}")
_HOURS = {"h": 1, "d": 24, "w": 7 * 24}
_compiling = threading.Lock()


def parse(text: str) -> ParsedQuery:
    """A question taken apart; raises UsageError where it can only be a mistake."""
    query = text.strip()
    if not _is_pasted(query):
        if not _SYNTAX.search(query):  # as in most questions
            return ParsedQuery(text=" ".join(query.split()))
        return _Reader(query, len(text) - len(text.lstrip())).read()
    whole = _QUOTED.fullmatch(query)
    phrase = _unescaped(whole.group(1)) if whole else ""
    return ParsedQuery(phrases=(phrase,)) if phrase.strip() else ParsedQuery(text=query)


def to_text(query: ParsedQuery) -> str:
    """A query that reads as this one, as long as it is no longer than a query may be."""
    if _is_pasted(query.text):
        return query.text
    fields = (
        ("lang", query.languages),
        ("-lang", query.not_languages),
        ("path", query.paths),
        ("-path", query.not_paths),
        ("kind", query.kinds),
        ("-kind", query.not_kinds),
        ("name", query.names),
        ("is", query.roles),
        ("-is", query.not_roles),
        ("changed", () if query.changed is None else (_changed_text(query.changed),)),
    )
    parts = [f"{field}:{','.join(map(_value_text, values))}" for field, values in fields if values]
    parts += [_quoted(phrase) for phrase in query.phrases]
    parts += [f"/{_slashes_escaped(r.pattern)}/{'i' if r.ignore_case else ''}" for r in query.regexes]
    return " ".join([*parts, _literal(query.text)]).strip()


def _is_pasted(text: str) -> bool:
    return len(text) > MAX_QUERY or "\n" in text or "\r" in text


class _Reader:
    """Reads a query from left to right; ``offset`` is where it begins in what the user gave."""

    def __init__(self, query: str, offset: int) -> None:
        self.query = query
        self.offset = offset
        self.at = 0
        self.words: list[str] = []
        self.values: dict[str, list[str]] = {}
        self.phrases: list[str] = []
        self.regexes: list[QueryRegex] = []
        self.changed: timedelta | datetime | None = None
        self.notes: list[str] = []

    def read(self) -> ParsedQuery:
        while word := _WORD.search(self.query, self.at):
            self.at = word.start()
            if not (self._phrase() or self._regex() or self._field()):
                self._word()
        return ParsedQuery(
            text=" ".join(self.words),
            languages=self._given("lang"),
            not_languages=self._given("-lang"),
            paths=self._given("path"),
            not_paths=self._given("-path"),
            kinds=self._given("kind"),
            not_kinds=self._given("-kind"),
            names=self._given("name"),
            roles=tuple(map(Role, self._given("is"))),
            not_roles=tuple(map(Role, self._given("-is"))),
            changed=self.changed,
            phrases=tuple(dict.fromkeys(self.phrases)),
            regexes=tuple(dict.fromkeys(self.regexes)),
            notes=tuple(dict.fromkeys(self.notes)),
        )

    def _given(self, field: str) -> tuple[str, ...]:
        return tuple(dict.fromkeys(self.values.get(field, ())))

    def _phrase(self) -> bool:
        if not (match := _QUOTED.match(self.query, self.at)):
            return False
        phrase = _unescaped(match.group(1))
        if phrase.strip():
            self.phrases.append(phrase)
        else:
            self.notes.append("an empty phrase asks for nothing and was left out")
        self.at = match.end()
        return True

    def _regex(self) -> bool:
        if not (match := _REGEX.match(self.query, self.at)):
            return False
        regex = QueryRegex(_slashes_plain(match.group(1)), bool(match.group(2)))
        try:
            _compile(regex)
        except (re.error, OverflowError, RecursionError, FutureWarning) as error:
            self._refuse(
                f"the regular expression {match.group()} is not valid",
                f"{error}; allowed is what Python's re allows in bytes. To search for the text itself, quote it: "
                f"{_quoted(match.group())}",
            )
        self.regexes.append(regex)
        self.at = match.end()
        return True

    def _field(self) -> bool:
        if not (match := _FIELD.match(self.query, self.at)):
            return False
        minus, name = match.groups()
        field = ALIASES.get(name, name)
        if field not in FIELDS:
            if _is_unknown(self.query, match):
                self._refuse_field(name)
            return False
        if minus and field not in EXCLUDABLE:
            can = ", ".join(f"-{name}:" for name in EXCLUDABLE)
            self._refuse(f"'-{name}:' is not possible", f"what can be excluded is {can}")
        values, end = _values(self.query, match.end(), braces=field == "path")
        if end is None:
            return False
        if not values:
            self._refuse(
                f"'{minus}{name}:' has no value", f"write it without a space, as in {_example(field)}"
            )
        self._take(minus + field, values)
        self.at = end
        return True

    def _take(self, field: str, values: Sequence[str]) -> None:
        if field == "changed":
            self._take_changed(values)
            return
        if field.endswith("is"):
            values = [value.lower() for value in values]
            for value in values:
                if value not in set(Role):
                    self._refuse(f"'{field}:{value}' is not possible", _nearest(value, list(Role), "is"))
        if "path" in field and len(values) > MAX_ALTERNATIVES:
            self._refuse(f"'{field}:' has too many alternatives", f"at most {MAX_ALTERNATIVES} are possible")
        self.values.setdefault(field, []).extend(values)

    def _take_changed(self, values: Sequence[str]) -> None:
        for value in values:
            moment = _moment(value)
            if moment is None:
                self._refuse(
                    f"'changed:{value}' is neither a time nor a date",
                    "write hours, days or weeks (changed:3h, changed:14d, changed:2w) or a date (changed:2025-01-31)",
                )
            if self.changed not in (None, moment):
                self._refuse("'changed:' has two values", "give one: the earliest")
            self.changed = moment

    def _word(self) -> None:
        """Text; a backslash in front of what would be syntax is not part of it."""
        start = self.at
        if self.query[start] == "\\" and _is_syntax(self.query, start + 1):
            start += 1
        else:
            self._note_broken(start)
        match = _WORD.match(self.query, start)
        if match:
            self.words.append(match.group())
            self.at = match.end()

    def _note_broken(self, start: int) -> None:
        """Say so where a word looks like a phrase, a regex or a field that was not finished."""
        word = self.query[start:].split(maxsplit=1)[0]
        name = word.removeprefix("-").removesuffix(":")
        if word.startswith('"') or (_FIELD.match(word) and word.count('"') % 2):
            self.notes.append(f"the quote in {word} is never closed: it is searched for as text")
        elif word.startswith("/") and not word.startswith(("//", "/*")) and _LOOKS_LIKE_REGEX.search(word):
            self.notes.append(f"the slash in {word} is never closed: it is searched for as text")
        elif word.endswith(":") and ALIASES.get(name, name) in FIELDS:
            self.notes.append(
                f"{word} has a space after it and is searched for as text: write {_example(name)}"
            )

    def _refuse_field(self, name: str) -> NoReturn:
        word = self.query[self.at :].split(maxsplit=1)[0]
        self._refuse(
            f"unknown field '{name}:'",
            f"{_nearest(name, FIELDS, '')}. To search for the text itself, quote it: {_quoted(word)}",
        )

    def _refuse(self, what: str, hint: str) -> NoReturn:
        raise UsageError(f"{what} (at character {self.offset + self.at + 1}): {hint}")


def _is_unknown(query: str, match: re.Match[str]) -> bool:
    """Whether a word before a colon was meant to be a field: not ``localhost:8080``, ``c:x``, ``go:=``."""
    return len(match.group(2)) > 1 and _UNKNOWN_VALUE.match(query, match.end()) is not None


def _is_syntax(query: str, at: int) -> bool:
    """Whether a phrase, a regex or a field begins here, finished or not."""
    if query.startswith(('"', "/"), at):
        return True
    return (match := _FIELD.match(query, at)) is not None and _is_field(query, match)


def _is_field(query: str, match: re.Match[str]) -> bool:
    return ALIASES.get(match.group(2), match.group(2)) in FIELDS or _is_unknown(query, match)


def _example(field: str) -> str:
    values = {"path": "src/**", "kind": "function", "name": "*Handler", "changed": "14d", "is": "test"}
    return f"{field}:{values.get(field, 'py')}"


def _nearest(word: str, known: Sequence[str], field: str) -> str:
    """A hint at what was meant, and everything that is possible."""
    close = get_close_matches(word, [*known, *(ALIASES if not field else ())], n=1, cutoff=0.5)
    meant = _ELSEWHERE.get(word) if not field else None
    best = meant or (ALIASES.get(close[0], close[0]) if close else "")
    colon = "" if field else ":"
    guess = f"did you mean '{best}{colon}'? " if best else ""
    return f"{guess}known are {', '.join(f'{name}{colon}' for name in known)}"


def _moment(value: str) -> timedelta | datetime | None:
    if match := _DURATION.fullmatch(value):
        return timedelta(hours=int(match.group(1)) * _HOURS[match.group(2)]) or None
    try:
        return datetime.fromisoformat(value) if _DATE.fullmatch(value) else None
    except ValueError:  # 2025-02-30
        return None


def _compile(regex: QueryRegex) -> None:
    """Raise where a regex is wrong, or means something else than it seems to (``[[:alpha:]]``: a FutureWarning)."""
    with _compiling, warnings.catch_warnings():  # which is not safe across threads by itself
        warnings.simplefilter("error", FutureWarning)
        re.compile(*regex.compilable)


# --- the values of a field -----------------------------------------------------------------------


def _values(query: str, at: int, *, braces: bool) -> tuple[list[str], int | None]:
    """The values that begin here, and where they end; no end if a quote is never closed."""
    values: list[str] = []
    value, was_quoted, depth = "", False, 0
    while at < len(query) and not query[at].isspace():
        c = query[at]
        if c == '"':
            match = _QUOTED.match(query, at)
            if not match:
                return [], None
            value, was_quoted, at = value + _unescaped(match.group(1)), True, match.end()
            continue
        if c == "," and not depth:
            values += _alternatives(value) if braces and not was_quoted else [value]
            value, was_quoted = "", False
        else:
            depth = _depth(depth, c) if braces and "}" in query[at:] else 0
            value += c
        at += 1
    values += _alternatives(value) if braces and not was_quoted else [value]
    return [value for value in values if value], at


def _depth(depth: int, c: str) -> int:
    return depth + 1 if c == "{" else max(0, depth - 1) if c == "}" else depth


def _alternatives(pattern: str) -> list[str]:
    """``*.{ts,tsx}`` -> ``*.ts``, ``*.tsx``. Stops where there are more than anybody would write."""
    done: list[str] = []
    waiting = [pattern]
    while waiting and len(done) <= MAX_ALTERNATIVES:
        current = waiting.pop(0)
        match = re.search(r"\{([^{}]*,[^{}]*)\}", current)
        if match:
            inner = match.group(1).split(",")
            waiting = [current[: match.start()] + one + current[match.end() :] for one in inner] + waiting
        else:
            done.append(current)
    return done


# --- text that stands for itself -------------------------------------------------------------------


def _unescaped(body: str) -> str:
    return re.sub(r'\\(["\\])', r"\1", body)


def _quoted(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'


def _slashes_plain(body: str) -> str:
    return re.sub(r"\\(.)", lambda m: "/" if m.group(1) == "/" else m.group(), body)


def _slashes_escaped(pattern: str) -> str:
    return re.sub(r"\\.|/", lambda m: "\\/" if m.group() == "/" else m.group(), pattern)


def _value_text(value: str) -> str:
    return value if _BARE_VALUE.fullmatch(value) else _quoted(value)


def _changed_text(changed: timedelta | datetime) -> str:
    if isinstance(changed, datetime):
        return changed.date().isoformat()
    hours = round(changed / timedelta(hours=1))
    unit = next(
        unit for unit in ("d", "h", "w") if hours % _HOURS[unit] == 0 and hours // _HOURS[unit] < 10_000
    )
    return f"{hours // _HOURS[unit]}{unit}"


def _literal(text: str) -> str:
    """Words that are to be read as text: a backslash before each that would be read as something else."""
    rendered = ""
    for word in reversed(text.split()):
        rest = f"{word} {rendered}".rstrip()
        rendered = "\\" + rest if _would_open(rest) else rest
    return rendered


def _would_open(query: str) -> bool:
    if _QUOTED.match(query) or _REGEX.match(query):
        return True
    match = _FIELD.match(query)
    if not match or not _is_field(query, match):
        return False
    return _values(query, match.end(), braces=False)[1] is not None or _is_unknown(query, match)
