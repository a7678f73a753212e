"""String literals (messages) in source text: their words, and the word n-grams (shingles) by which a message is found.

A running program prints a literal with its placeholders filled in. The n-grams here are those that survive this: three
neighbouring words, the two words of a short piece, and the two words around a placeholder. They are one field of the
inverted index, as hashes. No parser is needed: quotes are enough, and resource files have none.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise
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
_JOINED_BY_VALUE = compile_lazily(
    r"\s*(?:\+{1,2}|\.{1,2}|&|~|<>|<<|\|\|)[^;{}]{1,200}?(?:\+{1,2}|\.{1,2}|&|~|<>|<<|\|\|)\s*"
)
_PLACEHOLDER = compile_lazily(
    r"""
    [\w]*+(?:
        %(?:\(\w{1,40}\)|\d{1,2}\$)?[-+\#0]*\d*(?:\.[\d*]+)?(?:hh?|ll?|z|j|t|q)?(?:[diouxXeEfFgGcsrapvVTtqwn@]|\{\w{1,40}\}|<\w{1,40}>)
      | [$\#]\{[^{}\n]{0,80}\} | \{\{[^{}\n]{1,80}\}\} | \{[^{}\n]{0,60}\} | \\\([^()\n]{0,60}\)
      | \$\([^()\n]{0,60}\) | \$\w+(?:->\w+|\[\w+\])?
    )\w*
    """,
    re.VERBOSE,
)
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
        first = 0
        for piece in self.pieces:
            count = len(piece)
            if count == 2:
                yield _hash(*piece), (first, first + 1)
            for at in range(count - 2):
                yield _hash(*piece[at : at + 3]), (first + at, first + at + 1, first + at + 2)
            first += count
        last = -1
        for piece, following in pairwise(self.pieces):
            last += len(piece)
            yield _hash(piece[-1], "", following[0]), (last, last + 1)


def find_literals(text: str, language: str) -> Iterator[Literal]:
    """Find the literals of two words and more in a text; what is joined over lines or around a value is one."""
    if language in PROSE_LANGUAGES:
        return
    if language in UNQUOTED_LANGUAGES:
        for match in _UNQUOTED.finditer(text):
            yield from _make_literal([match.group(1)], match.start(1))
    pattern = _QUOTED_BESIDE_CHARACTERS if language in CHARACTER_LANGUAGES else _QUOTED
    parts: list[str] = []
    start = end = 0
    for found_start, found_end, part in _find_quoted(text, pattern):
        if parts and (joint := _join(text, end, found_start)) is not None:
            parts.append(joint + part)
        else:
            yield from _make_literal(parts, start)
            parts, start = [part], found_start
        end = found_end
    yield from _make_literal(parts, start)


def tokenize_literals(text: str, language: str) -> str:
    """Make the tokens of the literals of a text, for the index."""
    if " " not in text:
        return ""
    grams = (gram for literal in find_literals(text, language) for gram, _ in literal.list_grams())
    return " ".join(list(dict.fromkeys(grams))[:MAX_CHUNK_GRAMS])


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
        _hash(*words[at : at + 3]): (at, at + 1, at + 2) for at in range(len(words) - 2)
    }
    grams |= {_hash(*words[at : at + 2]): (at, at + 1) for at in range(len(words) - 1)}
    around: set[tuple[int, int]] = set()
    for skipped in range(1, MAX_FILLED_WORDS + 1):
        around.update((at, at + skipped + 1) for at in range(len(words) - skipped - 1))
        around.update((a[1], b[0]) for a, b in zip(raw, raw[skipped + 1 :], strict=False))
    for before, after in sorted(around):
        if words[before] not in common or words[after] not in common:
            grams.setdefault(_hash(words[before], "", words[after]), (before, after))
    return MessageWords(tuple(words), grams)


def _find_quoted(text: str, pattern: re.Pattern[str]) -> Iterator[tuple[int, int, str]]:
    """Find what stands in quotes: where it begins and ends, and its text; documentation in three quotes is skipped."""
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
    if _JOINED.fullmatch(between):
        return ""
    return "\0" if _JOINED_BY_VALUE.fullmatch(between) else None


def _make_literal(parts: Sequence[str], start: int) -> Iterator[Literal]:
    text = "".join(parts)
    if " " not in text:
        return
    if "%" in text or "{" in text or "$" in text or "\\" in text:
        text = _ESCAPE.sub(" ", _PLACEHOLDER.sub(" \0 ", text))
    pieces: list[tuple[str, ...]] = []
    piece: list[str] = []
    for word in _WORD.findall(text.lower())[:MAX_LITERAL_WORDS]:
        if word != "\0":
            piece.append(word)
        elif piece:
            pieces.append(tuple(piece))
            piece = []
    if piece:
        pieces.append(tuple(piece))
    if sum(map(len, pieces)) > 1:
        yield Literal(tuple(pieces), start)


def _hash(*words: str) -> str:
    """Hash an n-gram to six characters: shorter in the index than its words, and equal ones are checked in the text."""
    return f"{crc32(' '.join(words).encode('utf-8', 'replace')) & 0xFFFFFF:06x}"
