"""String literals (messages) in source text: their words, and the word n-grams (shingles) by which a message is found.

A running program prints a literal with its placeholders filled in. The n-grams here are those that survive this: three
neighbouring words, the two words of a short piece, and the two words around a placeholder. They are one field of the
inverted index, as hashes. No parser is needed: quotes are enough, and resource files have none.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, groupby, pairwise
from string import ascii_letters
from typing import NamedTuple
from zlib import crc32

from dowse.lazy_regex import compile_lazily

MAX_CHUNK_GRAMS = 400
"""N-grams of one chunk that are indexed: one with more is data."""

MAX_LITERAL_WORDS = 120
"""Words of one literal that are read."""

MAX_FILLED_WORDS = 3
"""Words that a placeholder may have been filled with, for its neighbours to be recognized."""

PROSE_LANGUAGES = frozenset({"asciidoc", "diff", "latex", "markdown", "org", "restructuredtext"})
"""Languages without literals: what they quote, they only speak of."""

UNQUOTED_LANGUAGES = frozenset({"astro", "csv", "html", "ini", "svelte", "template", "xml", "yaml"})
"""Languages of resource files and templates, whose texts stand without quotes after a key or between tags."""

CHARACTER_LANGUAGES = frozenset(
    "c cpp crystal csharp d elm fsharp go haskell java julia kotlin nim objective-c ocaml ocaml-interface rust scala "
    "shader solidity swift verilog vhdl zig".split()
)
"""Languages in which single quotes have characters, lifetimes or primes."""

_TRIPLE = r"""(?<=")""|(?<=')\'\'"""
_DOUBLE = r'(?<=")[^"\\\n]*+(?:\\[\s\S][^"\\\n]*+)*"'
_SINGLE = r"(?:(?<!\w')|(?<=\b[bfruBFRU]'))(?<=')[^'\\\n]*+(?:\\[\s\S][^'\\\n]*+)*'"
_CHARACTER = r"(?<=')(?:[^'\\\n]|\\.)'"
_BACKTICK = r"(?<=`)[^`]{0,2000}`"
_QUOTED, _QUOTED_BESIDE_CHARACTERS = (
    compile_lazily(f"[\"'`](?:{_TRIPLE}|{_DOUBLE}|{single}|{_BACKTICK})") for single in (_SINGLE, _CHARACTER)
)
"""A set of characters comes first, since the engine looks for that faster than for alternatives."""

_UNQUOTED = compile_lazily(
    r"""(?:^[ \t]*(?:-[ ])?[\w.$\[\]"'-]{1,100}[ \t]*[:=][ \t]*|^|(?<=>))([^<>\n]{3,1000})""", re.MULTILINE
)

_MAX_JOIN_CHARS = 200
_JOINED = compile_lazily(r"\s*(?:\+{1,2}|\.{1,2}|&|~|<>|<<|\|\||\\)?\s*[A-Za-z@$]{0,2}")
_JOINT_STARTS = frozenset("+.&~<|\\@$") | frozenset(ascii_letters) | {""}
"""What the first sign between two parts of a literal can be; nearly always it is another."""

_JOINED_BY_VALUE = compile_lazily(
    r"\s*(?:\+{1,2}|\.{1,2}|&|~|<>|<<|\|\|)[^;{}]{1,200}?(?:\+{1,2}|\.{1,2}|&|~|<>|<<|\|\|)\s*"
)
_PLACEHOLDER = compile_lazily(
    r"""
    [%$\#{\\](?:
        (?<=%)(?:\(\w{1,40}\)|\d{1,2}\$)?[-+\#0]*\d*(?:\.[\d*]+)?(?:hh?|ll?|z|j|t|q)?(?:[diouxXeEfFgGcsrapvVTtqwn@]|\{\w{1,40}\}|<\w{1,40}>)
      | (?<=[$\#])\{[^{}\n]{0,80}\} | (?<=\{)\{[^{}\n]{1,80}\}\} | (?<=\{)[^{}\n]{0,60}\} | (?<=[\\$])\([^()\n]{0,60}\)
      | (?<=\$)\w+(?:->\w+|\[\w+\])?
    )\w*
    """,
    re.VERBOSE,
)
"""A placeholder and the rest of its word. A set of characters comes first, so the word before it is cut off later."""

_ESCAPE = compile_lazily(r"\\(?:x[0-9A-Fa-f]{2}|u[0-9A-Fa-f]{4}|\n[ \t]*|.)")
_WORD = compile_lazily(r"[^\W_][\w]*|\0")
_RAW_WORD = compile_lazily(r"\"[^\"\n]{1,200}\"|(?<!\w)'[^'\n]{1,200}'(?!\w)|`[^`\n]{1,200}`|\S+")
_PLAIN_WORD = compile_lazily(r"[^\W_]\w*")


class Literal(NamedTuple):
    """The words of a message, cut into pieces at its placeholders, and where it begins in the text."""

    pieces: tuple[tuple[str, ...], ...]
    start: int

    @property
    def words(self) -> list[str]:
        """All words in order."""
        return [word for piece in self.pieces for word in piece]

    def list_grams(self) -> Iterator[tuple[str, tuple[int, ...]]]:
        """List the n-grams, and which of the words are in each."""
        return zip(map(_hash, _list_gram_texts(self.pieces)), self._list_gram_places(), strict=True)

    def _list_gram_places(self) -> Iterator[tuple[int, ...]]:
        first = 0
        for piece in self.pieces:
            count = len(piece)
            if count == 2:
                yield first, first + 1
            for at in range(first, first + count - 2):
                yield at, at + 1, at + 2
            first += count
        last = -1
        for piece in self.pieces[:-1]:
            last += len(piece)
            yield last, last + 1


def _list_gram_texts(pieces: Iterable[tuple[str, ...]]) -> list[str]:
    """List the words of the n-grams: those in the pieces, then those around the placeholders between them."""
    texts: list[str] = []
    for piece in pieces:
        if len(piece) == 2:
            texts.append(" ".join(piece))
        else:
            texts += map(" ".join, zip(piece, piece[1:], piece[2:], strict=False))
    texts += [f"{piece[-1]}  {following[0]}" for piece, following in pairwise(pieces)]
    return texts


def find_literals(text: str, language: str) -> Iterator[Literal]:
    """Find the literals of two words and more in a text; what is joined over lines or around a value is one."""
    if language in PROSE_LANGUAGES:
        return
    if language in UNQUOTED_LANGUAGES:
        for match in _UNQUOTED.finditer(text):
            if literal := _make_literal([match.group(1)], match.start(1)):
                yield literal
    pattern = _QUOTED_BESIDE_CHARACTERS if language in CHARACTER_LANGUAGES else _QUOTED
    parts: list[str] = []
    start = end = 0
    for found_start, found_end, part in _find_quoted(text, pattern):
        if parts and (joint := _join(text, end, found_start)) is not None:
            parts.append(joint + part)
        else:
            if literal := _make_literal(parts, start):
                yield literal
            parts, start = [part], found_start
        end = found_end
    if literal := _make_literal(parts, start):
        yield literal


def tokenize_literals(text: str, language: str) -> str:
    """Make the tokens of the literals of a text, for the index."""
    if " " not in text:
        return ""
    pieces = (literal.pieces for literal in find_literals(text, language))
    texts = dict.fromkeys(chain.from_iterable(map(_list_gram_texts, pieces)))
    return " ".join(list(dict.fromkeys(map(_hash, texts)))[:MAX_CHUNK_GRAMS])


class MessageWords(NamedTuple):
    """The words of a query as a message, and its n-grams with the indexes of the words that each stands for."""

    words: tuple[str, ...]
    grams: dict[str, tuple[int, ...]]


def read_message(text: str, max_words: int, common: frozenset[str] = frozenset()) -> MessageWords:
    """Read a text as what a program printed: any word may have been filled in, and so may a few in a row.

    Two ``common`` words around a gap say nothing, and are in no n-gram.
    """
    words: list[str] = []
    raw: list[tuple[int, int]] = []  # first and last word of each stretch between blanks, or in quotes
    for match in _RAW_WORD.finditer(text):
        found = [word.lower() for word in _PLAIN_WORD.findall(match.group())]
        if found:
            raw.append((len(words), len(words) + len(found) - 1))
            words += found
        if len(words) >= max_words:
            break
    grams: dict[str, tuple[int, ...]] = {
        _hash(" ".join(words[at : at + 3])): (at, at + 1, at + 2) for at in range(len(words) - 2)
    }
    grams |= {_hash(" ".join(words[at : at + 2])): (at, at + 1) for at in range(len(words) - 1)}
    around: set[tuple[int, int]] = set()
    for skipped in range(1, MAX_FILLED_WORDS + 1):
        around.update((at, at + skipped + 1) for at in range(len(words) - skipped - 1))
        around.update((a[1], b[0]) for a, b in zip(raw, raw[skipped + 1 :], strict=False))
    for before, after in sorted(around):
        if words[before] not in common or words[after] not in common:
            grams.setdefault(_hash(f"{words[before]}  {words[after]}"), (before, after))
    return MessageWords(tuple(words), grams)


def _find_quoted(text: str, pattern: re.Pattern[str]) -> Iterator[tuple[int, int, str]]:
    """Find what stands in quotes: where it begins and ends, and its text; documentation in three quotes is skipped."""
    if '"""' not in text and "'''" not in text:
        for found in pattern.finditer(text):
            start, end = found.span()
            if end - start > 2:
                yield start, end, text[start + 1 : end - 1]
        return
    at = 0
    while match := pattern.search(text, at):
        start, at = match.span()
        quote = match.group()
        if quote not in ('"""', "'''"):
            if at - start > 2:
                yield start, at, quote[1:-1]
            continue
        closed = text.find(quote, at)
        if closed < 0:
            continue
        body, at = text[at:closed], closed + 3
        if text[text.rfind("\n", 0, start) + 1 : start].strip():
            yield start, at, body


def _join(text: str, end: int, start: int) -> str | None:
    """Return what is between two parts of one literal: nothing, or a placeholder; None if they are two literals."""
    if start - end > _MAX_JOIN_CHARS:
        return None
    between = text[end:start]
    if between.lstrip()[:1] not in _JOINT_STARTS:
        return None
    if _JOINED.fullmatch(between):
        return ""
    return "\0" if _JOINED_BY_VALUE.fullmatch(between) else None


def _make_literal(parts: Sequence[str], start: int) -> Literal | None:
    """Make the literal of some parts; None if it has less than two words."""
    text = "".join(parts)
    if " " not in text:
        return None
    if "%" in text or "{" in text or "$" in text or "\\" in text:
        *before, rest = _PLACEHOLDER.split(text)
        text = _ESCAPE.sub(" ", " \0 ".join([*map(_cut_last_word, before), rest]))
    words = _WORD.findall(text.lower())[:MAX_LITERAL_WORDS]
    pieces = _split_at_placeholders(words) if "\0" in text else [tuple(words)]
    return Literal(tuple(pieces), start) if sum(map(len, pieces)) > 1 else None


def _split_at_placeholders(words: Iterable[str]) -> list[tuple[str, ...]]:
    groups = groupby(words, "\0".__ne__)
    return [tuple(piece) for is_text, piece in groups if is_text]


def _cut_last_word(text: str) -> str:
    """Cut the word off that a text ends with: it is joined to a placeholder."""
    end = len(text)
    while end and (text[end - 1].isalnum() or text[end - 1] == "_"):
        end -= 1
    return text[:end]


def _hash(gram: str) -> str:
    """Hash an n-gram to six characters: shorter in the index than its words, and equal ones are checked in the text."""
    return f"{crc32(gram.encode('utf-8', 'replace')) & 0xFFFFFF:06x}"
