"""Tokenizer of the search index and of queries: split identifiers (camelCase, snake_case), lower case, stemming.

A word gives itself and its parts, ``getUserById`` -> ``getuserbyid get user by id``. Parts are reduced by the English
Snowball stemmer; the whole identifier stays unstemmed, so that an exact mention outranks its parts. CJK and other
scripts without spaces give character bigrams. Nothing is dropped: stop words belong to query analysis. Tokens of each
distinct word are cached, since this runs over every byte of a tree. A *run* is the text between two characters of ASCII
punctuation or blanks: one word, rarely more.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from functools import cache, lru_cache
from itertools import chain, pairwise

import Stemmer

from dowse.lazy_regex import compile_lazily

VERSION = 1
"""Goes into the index fingerprint: raise it when the same text gives other tokens."""

MAX_WORD_CHARS = 80
"""Longer runs of letters are data (hashes, base64), not words."""

_MAX_CACHED_WORDS = 300_000
"""Distinct words in the cache: about 60 MB at the most."""

_MAX_CACHED_STEMS = 50_000
"""Distinct parts of words in the cache: about 5 MB at the most."""

_WORD = compile_lazily(r"\w+(?:-\w+)*")
_ASCII_PART = compile_lazily(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")
_UNICODE_PART = compile_lazily(r"[^\W\d_]+|\d+")
_STEM_ENDING = compile_lazily(r"(?:ie|[eiy]|(?<=b)l)$")
_PATH_SPLIT = compile_lazily(r"[/\\]+")
_BLANK_PUNCTUATION = bytes(
    byte if byte >= 0x80 or chr(byte).isalnum() or chr(byte) in "_-" else 0x20 for byte in range(256)
)
"""Everything in ASCII that cannot be part of a word becomes a space; other scripts are split later, by pattern."""

_BLANK_IN_LOWER_CASE = _BLANK_PUNCTUATION.lower()
_BLANK_IN_LINES = _BLANK_PUNCTUATION[:10] + b"\n" + _BLANK_PUNCTUATION[11:]


class _TokenCache(dict[str, str]):
    """The tokens of each run, a space after each."""

    def __missing__(self, run: str) -> str:
        if len(self) >= _MAX_CACHED_WORDS:
            self.clear()
        found = tokenize_word(run) if is_one_word(run) else chain.from_iterable(tokenize_run(run))
        tokens = self[run] = " ".join([*found, ""])
        return tokens


class _StemCache(dict[str, str]):
    """The stem of each part of a word, in lower case: identifiers are made of the same parts again and again."""

    def __missing__(self, part: str) -> str:
        if len(self) >= _MAX_CACHED_STEMS:
            self.clear()
        stem = self[part] = _stem(part) if part.isascii() and len(part) > 3 else part
        return stem


_token_cache = _TokenCache()
_stem_cache = _StemCache()
_stem = Stemmer.Stemmer("english", 0).stemWord


def tokenize(text: str | bytes) -> str:
    """Tokenize a text (UTF-8 if bytes); return its tokens in order, separated by single spaces."""
    return tokenize_runs(split_runs(text)) if text else ""


def tokenize_runs(found: Sequence[str]) -> str:
    """Tokenize a text that was split into runs before."""
    return "".join(map(_token_cache.__getitem__, found))[:-1]


def split_runs(text: str | bytes) -> list[str]:
    """Split a text (UTF-8 if bytes) into runs, at blanks and ASCII punctuation."""
    raw = text.encode("utf-8", "replace") if isinstance(text, str) else text
    return raw.translate(_BLANK_PUNCTUATION).decode("utf-8", "replace").split()


def count_runs(text: bytes) -> int:
    """Count the runs of a text (UTF-8)."""
    return len(text.translate(_BLANK_PUNCTUATION).split()) if text.isascii() else len(split_runs(text))


def split_name_runs(names: Iterable[str]) -> list[str]:
    """Split names into runs; most of them only need to be split at the dots of qualified names."""
    joined = ".".join(names)
    return joined.split(".") if joined.replace(".", "_").isidentifier() else split_runs(joined)


def split_runs_by_line(text: str) -> list[list[str]]:
    """Split each line of a text into runs."""
    raw = text.encode("utf-8", "replace").translate(_BLANK_IN_LINES)
    return [line.split() for line in raw.decode("utf-8", "replace").split("\n")]


def is_one_word(run: str) -> bool:
    """Return whether a run is one word for certain."""
    return run.isalpha() or (run.isascii() and "-" not in run)


def tokenize_run(run: str) -> list[list[str]]:
    """Tokenize each word of a run; from the cache if the run is one plain word."""
    if is_one_word(run):
        return [_token_cache[run].split()]
    return [tokenize_word(word) for word in split_words(run)]


def find_tokens(text: bytes, wanted: frozenset[str]) -> frozenset[str]:
    """Find which of some tokens a text (UTF-8) has; faster than ``tokenize``, since few words have to be tokenized."""
    if not text.isascii():
        return wanted.intersection(
            "".join(map(_token_cache.__getitem__, frozenset(split_runs(text)))).split()
        )
    lowered = text.translate(_BLANK_IN_LOWER_CASE)
    found = []
    for token, substring in _find_required_substrings(wanted):
        at = lowered.find(substring)
        while at >= 0:
            end = lowered.find(b" ", at)
            end = len(text) if end < 0 else end
            if token in _tokens_of_word(text[lowered.rfind(b" ", 0, at) + 1 : end]):
                found.append(token)
                break
            at = lowered.find(substring, end)
    return frozenset(found)


@lru_cache(maxsize=500)
def _find_required_substrings(wanted: frozenset[str]) -> list[tuple[str, bytes]]:
    """Find what every word that gives a token contains: the stem without what stemming adds ("use" is from "using")."""
    return [(token, (_STEM_ENDING.sub("", token) or token).encode()) for token in wanted]


def split_runs_of_lines(text: bytes) -> list[list[bytes]]:
    """Split each line of a text (UTF-8) into runs, undecoded."""
    return [line.split() for line in text.translate(_BLANK_IN_LINES).split(b"\n")]


def find_words(words: Iterable[bytes], wanted: frozenset[str]) -> dict[bytes, frozenset[str]]:
    """Find which of some words (UTF-8, each once) give some tokens; few words have to be tokenized for it."""
    text = b" ".join(words)
    lowered = text.lower()
    found: dict[bytes, frozenset[str]] = {}
    for _, substring in _find_required_substrings(wanted):
        at = lowered.find(substring)
        while at >= 0:
            end = lowered.find(b" ", at)
            end = len(text) if end < 0 else end
            word = text[lowered.rfind(b" ", 0, at) + 1 : end]
            if word not in found:
                found[word] = wanted & _tokens_of_word(word)
            at = lowered.find(substring, end)
    return {word: given for word, given in found.items() if given}


@lru_cache(maxsize=20_000)
def _tokens_of_word(word: bytes) -> frozenset[str]:
    """Tokenize a word (UTF-8)."""
    return frozenset(_token_cache[word.decode("utf-8", "replace")].split())


def split_words(text: str) -> list[str]:
    """Split a text into words, as written."""
    return _WORD.findall(text)


def tokenize_word(word: str) -> list[str]:
    """Tokenize one word: the whole in lower case if it has several parts, then the stem of each part."""
    if len(word) > MAX_WORD_CHARS:
        return []
    if word.isascii() and _is_one_part(word):
        return [_stem_cache[word.lower()]]
    parts = split_identifier(word)
    stems = [_stem_cache[part] for part in parts if len(part) > 1 or len(parts) == 1 or not part.isascii()]
    if len(parts) < 2 or ("-" in word and len(stems) < len(parts)):  # "i-1" is arithmetic, not a name
        return stems
    return [word.strip("_").lower(), *stems]


def _is_one_part(word: str) -> bool:
    """Return whether a word is letters without a change of case that would split it, as most words are."""
    return word.isalpha() and (word.islower() or word.istitle() or word.isupper())


def split_identifier(word: str) -> list[str]:
    """Split an identifier into parts in lower case: ``HTTPServer2_run`` -> ``["http", "server", "2", "run"]``."""
    if word.isascii():
        return [part.lower() for part in _ASCII_PART.findall(word)]
    if _is_one_part(word):
        return _split_script(word.lower())
    parts: list[str] = []
    for run in _UNICODE_PART.findall(word):
        for piece in _split_case(run):
            parts.extend(_split_script(piece.lower()))
    return parts


@lru_cache(maxsize=50_000)
def split_path_words(path: str) -> tuple[str, ...]:
    """Split a path into words in lower case: those of its folders and of the file name without extension."""
    parts = [part for part in _PATH_SPLIT.split(path) if part]
    if parts:
        stem = parts[-1].lstrip(".").partition(".")[0] or parts[-1].lstrip(".")
        parts[-1] = stem
    return tuple(word for part in parts for w in _WORD.findall(part) for word in split_identifier(w))


@lru_cache(maxsize=5_000)
def tokenize_path(path: str) -> str:
    """Tokenize a path; the words of the file name count twice, since they say more than the folders'."""
    folder, _, filename = path.rpartition("/")
    stem, _, extension = filename.partition(".")
    return " ".join(filter(None, [tokenize(folder), tokenize(stem), tokenize(filename if extension else "")]))


def stem(word: str) -> str:
    """Stem a single lower-case word, as the index does."""
    return _stem_cache[word]


def _split_case(run: str) -> list[str]:
    """Cut a run of letters of any script where case says a new word begins."""
    if not any(map(str.isupper, run[1:])):
        return [run]
    cuts = [0]
    for i, (a, b) in enumerate(pairwise(run), 1):
        ends_acronym = a.isupper() and b.isupper() and i + 1 < len(run) and run[i + 1].islower()
        if (a.islower() and b.isupper()) or ends_acronym:
            cuts.append(i)
    return [run[i:j] for i, j in pairwise([*cuts, len(run)])]


@cache
def _cjk_pattern() -> re.Pattern[str]:
    """Compile the pattern of scripts without spaces: late, since it takes milliseconds and most text has none."""
    return re.compile("[぀-ヿ㐀-䶿一-鿿가-힯豈-﫿]+")


def _split_script(piece: str) -> list[str]:
    """Split a script without spaces into pairs of neighbouring characters; leave other text as it is."""
    if piece.isascii() or not _cjk_pattern().search(piece):
        return [piece]
    parts: list[str] = []
    end = 0
    for match in _cjk_pattern().finditer(piece):
        parts.append(piece[end : match.start()])
        run = match.group()
        parts.extend([run] if len(run) <= 2 else [a + b for a, b in pairwise(run)])
        end = match.end()
    return [part for part in [*parts, piece[end:]] if part]
