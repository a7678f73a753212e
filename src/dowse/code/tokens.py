"""The one tokenizer: what the index stores and what a query asks for are cut the same way.

A word gives itself and its parts: ``getUserById`` -> ``getuserbyid get user by id``. Parts are reduced to
their English stem, so that "registered" finds ``register``; the whole identifier is kept as written (in
lower case), so that an exact mention always outranks its parts. Scripts without spaces give pairs of
characters. Every distinct word is cut once and remembered, and words are found by ``bytes.translate``, not
by a pattern (twice as fast): this runs over every byte of a tree.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from functools import cache, lru_cache
from itertools import pairwise

import Stemmer

VERSION = 1
"""Goes into the index fingerprint: raise it when the same text gives other tokens."""

MAX_WORD = 80
"""Longer runs of letters are data (hashes, base64), not words."""

_MEMO_LIMIT = 300_000
"""Distinct words remembered at a time: about 60 MB at the most."""

_WORD = re.compile(r"\w+(?:-\w+)*")
_ASCII_PART = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")
_UNICODE_PART = re.compile(r"[^\W\d_]+|\d+")
_PUT_BY_STEMMING = re.compile(r"(?:ie|[eiy]|(?<=b)l)$")
_PATH_SPLIT = re.compile(r"[/\\]+")
_BLANK_PUNCTUATION = bytes(
    byte if byte >= 0x80 or chr(byte).isalnum() or chr(byte) in "_-" else 0x20 for byte in range(256)
)
"""Everything in ASCII that cannot be part of a word becomes a space; other scripts are judged word by word."""

_BLANK_IN_LOWER_CASE = _BLANK_PUNCTUATION.lower()
_BLANK_IN_LINES = _BLANK_PUNCTUATION[:10] + b"\n" + _BLANK_PUNCTUATION[11:]


class _Memo(dict[str, str]):
    """Remembers for each word the tokens it gives, a space after each."""

    def __missing__(self, word: str) -> str:
        if len(self) >= _MEMO_LIMIT:
            self.clear()
        tokens = self[word] = "".join([f"{t} " for w in words(word) for t in word_tokens(w)])
        return tokens


_memo = _Memo()
_stem = Stemmer.Stemmer("english", 0).stemWord


def tokens(text: str | bytes) -> str:
    """The tokens of a text (UTF-8 if bytes) in order, separated by single spaces."""
    return tokens_of(runs(text)) if text else ""


def tokens_of(found: Sequence[str]) -> str:
    """The same of a text that was cut into runs before."""
    return "".join(map(_memo.__getitem__, found))[:-1]


def runs(text: str | bytes) -> list[str]:
    """A text (UTF-8 if bytes) without the punctuation of ASCII: what stands between is one word, rarely more."""
    raw = text.encode("utf-8", "replace") if isinstance(text, str) else text
    return raw.translate(_BLANK_PUNCTUATION).decode("utf-8", "replace").split()


def run_count(text: bytes) -> int:
    """How many runs a text (UTF-8) has."""
    return len(text.translate(_BLANK_PUNCTUATION).split()) if text.isascii() else len(runs(text))


def name_runs(names: Iterable[str]) -> list[str]:
    """The runs of some names; all that there is to cut at in most are the dots of qualified ones."""
    joined = ".".join(names)
    return joined.split(".") if joined.replace(".", "_").isidentifier() else runs(joined)


def runs_by_line(text: str) -> list[list[str]]:
    """The same for each line of a text."""
    raw = text.encode("utf-8", "replace").translate(_BLANK_IN_LINES)
    return [line.split() for line in raw.decode("utf-8", "replace").split("\n")]


def run_tokens(run: str) -> list[list[str]]:
    """The tokens of each word of a run; remembered if the run is one plain word."""
    if run.isascii() and "-" not in run:
        return [_memo[run].split()]
    return [word_tokens(word) for word in words(run)]


def among(text: bytes, wanted: frozenset[str]) -> frozenset[str]:
    """Which of some tokens a text (UTF-8) has: faster than ``tokens``, since only words that may give one are cut."""
    if not text.isascii():
        return wanted.intersection("".join(map(_memo.__getitem__, frozenset(runs(text)))).split())
    lowered = text.translate(_BLANK_IN_LOWER_CASE)
    found = []
    for token, sought in _sought(wanted):
        at = lowered.find(sought)
        while at >= 0:
            end = lowered.find(b" ", at)
            end = len(text) if end < 0 else end
            if token in _given_by(text[lowered.rfind(b" ", 0, at) + 1 : end]):
                found.append(token)
                break
            at = lowered.find(sought, end)
    return frozenset(found)


@lru_cache(maxsize=500)
def _sought(wanted: frozenset[str]) -> list[tuple[str, bytes]]:
    """What every word that gives a token has in it: a stem less what stemming puts there ("use" is of "using" too)."""
    return [(token, (_PUT_BY_STEMMING.sub("", token) or token).encode()) for token in wanted]


@lru_cache(maxsize=20_000)
def _given_by(word: bytes) -> frozenset[str]:
    """The tokens of a word of ASCII."""
    return frozenset(_memo[word.decode("ascii")].split())


def words(text: str) -> list[str]:
    """The words of a text as written: what ``tokens`` takes apart."""
    return _WORD.findall(text)


def word_tokens(word: str) -> list[str]:
    """The tokens of one word: the whole in lower case if it has several parts, then the stem of each part."""
    if len(word) > MAX_WORD:
        return []
    parts = split_identifier(word)
    stems = [_normal(part) for part in parts if len(part) > 1 or len(parts) == 1 or not part.isascii()]
    if len(parts) < 2 or ("-" in word and len(stems) < len(parts)):  # "i-1" is arithmetic, not a name
        return stems
    return [word.strip("_").lower(), *stems]


def split_identifier(word: str) -> list[str]:
    """``HTTPServer2_run`` -> ``["http", "server", "2", "run"]``, in lower case."""
    if word.isascii():
        return [part.lower() for part in _ASCII_PART.findall(word)]
    parts: list[str] = []
    for run in _UNICODE_PART.findall(word):
        for piece in _split_case(run):
            parts.extend(_split_script(piece.lower()))
    return parts


@lru_cache(maxsize=50_000)
def path_words(path: str) -> tuple[str, ...]:
    """The words of a path's folders and file name without its extension, in lower case."""
    parts = [part for part in _PATH_SPLIT.split(path) if part]
    if parts:
        stem = parts[-1].lstrip(".").partition(".")[0] or parts[-1].lstrip(".")
        parts[-1] = stem
    return tuple(word for part in parts for w in _WORD.findall(part) for word in split_identifier(w))


@lru_cache(maxsize=5_000)
def path_tokens(path: str) -> str:
    """The tokens of a path; the file name's own words count twice, since they say more than the folders'."""
    folder, _, filename = path.rpartition("/")
    stem, _, extension = filename.partition(".")
    return " ".join(filter(None, [tokens(folder), tokens(stem), tokens(filename if extension else "")]))


@lru_cache(maxsize=20_000)
def stem(word: str) -> str:
    """The form under which a single lower-case word is indexed."""
    return _normal(word)


def _normal(part: str) -> str:
    return _stem(part) if part.isascii() and len(part) > 3 else part


def _split_case(run: str) -> list[str]:
    """Cut a run of letters of any script where case says a new word begins."""
    cuts = [0]
    for i, (a, b) in enumerate(pairwise(run), 1):
        ends_acronym = a.isupper() and b.isupper() and i + 1 < len(run) and run[i + 1].islower()
        if (a.islower() and b.isupper()) or ends_acronym:
            cuts.append(i)
    return [run[i:j] for i, j in pairwise([*cuts, len(run)])]


@cache
def _cjk() -> re.Pattern[str]:
    """Runs of scripts without spaces; so large a class takes milliseconds to compile, and most text has none."""
    return re.compile("[぀-ヿ㐀-䶿一-鿿가-힯豈-﫿]+")


def _split_script(piece: str) -> list[str]:
    """Pairs of neighbouring characters where a script writes no spaces; other text as it is."""
    if piece.isascii() or not _cjk().search(piece):
        return [piece]
    parts: list[str] = []
    end = 0
    for match in _cjk().finditer(piece):
        parts.append(piece[end : match.start()])
        run = match.group()
        parts.extend([run] if len(run) <= 2 else [a + b for a, b in pairwise(run)])
        end = match.end()
    return [part for part in [*parts, piece[end:]] if part]
