"""Synonym expansion (term graph): words that users say, and the words that their corpus uses for the same thing.

A file of entries, each a canonical term and its synonyms. If a query has a term of an entry, the entry's other terms
are added: nothing is replaced, and what was added is part of the answer. Terms match whole words in any case, and their
plurals ("permissions" matches "permission", "permissioned" does not).
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Any, NamedTuple

from dowse.errors import SettingsError
from dowse.types.queries import AddedTerm

MAX_TERMS_PER_ENTRY = 5
MAX_ADDED_TERMS = 10
"""Terms that one entry, and all together unless asked otherwise, add to a query: more would drown what was written."""

MAX_FILE_BYTES = 5_000_000
"""Size of a file: a larger one is no list of terms that somebody maintains."""

MAX_TERM_CHARS = 100
"""Characters of a term."""

_WORD_GAP = r"[\s_-]+"
_VOWELS = frozenset("aeiou")
_SIBILANT_ENDINGS = ("s", "x", "z", "ch", "sh")


class Entry(NamedTuple):
    """A canonical term, and what else it is called."""

    canonical: str
    synonyms: tuple[str, ...]

    @property
    def terms(self) -> tuple[str, ...]:
        """All terms of the entry, the canonical one first."""
        return (self.canonical, *self.synonyms)


class EnrichedQuery(NamedTuple):
    """A query with what the term graph added to it."""

    text: str
    added: tuple[AddedTerm, ...]


class _TermMatch(NamedTuple):
    start: int
    end: int
    entry: int
    text: str


@dataclass(frozen=True)
class TermGraph:
    """A synonym list: the entries of a file, in its order."""

    entries: tuple[Entry, ...]

    @cached_property
    def digest(self) -> str:
        """A hash of the entries, part of every cache key."""
        return hashlib.sha256(json.dumps(self.entries).encode()).hexdigest()[:16]

    def enrich(self, text: str, max_terms: int = MAX_ADDED_TERMS) -> EnrichedQuery:
        """Append the synonyms of the terms in a query, at most so many; one without such terms stays as it is."""
        added: list[AddedTerm] = []
        for found in self._find_matches(text):
            entry = self.entries[found.entry]
            room = min(MAX_TERMS_PER_ENTRY, max_terms - len(added))
            present = " ".join([text, *(f"\n{one.term}" for one in added)])
            new = [term for term in dict.fromkeys(entry.terms) if not compile_term(term).search(present)]
            added += [AddedTerm(term, entry.canonical, found.text) for term in _remove_forms(new)[:room]]
        return EnrichedQuery(" ".join([text, *(one.term for one in added)]), tuple(added))

    def _find_matches(self, text: str) -> list[_TermMatch]:
        """Find the entries that a query has terms of, in its order; where matches overlap, the longest counts."""
        found = sorted(self._find_occurrences(text), key=lambda f: (f.start - f.end, f.start, f.entry))
        kept: list[_TermMatch] = []
        for one in found:
            beside = all(one.end <= k.start or k.end <= one.start for k in kept)
            same = any((one.start, one.end) == (k.start, k.end) for k in kept)  # a term of two entries
            if beside or same:
                kept.append(one)
        first: dict[int, _TermMatch] = {}
        for one in sorted(kept):
            first.setdefault(one.entry, one)
        return list(first.values())

    def _find_occurrences(self, text: str) -> Iterator[_TermMatch]:
        for number, entry in enumerate(self.entries):
            for term in entry.terms:
                for match in compile_term(term).finditer(text):
                    yield _TermMatch(match.start(), match.end(), number, match.group())


def _remove_forms(terms: Sequence[str]) -> list[str]:
    """Remove terms that are a form (singular, plural) of an earlier one."""
    kept: list[str] = []
    for term in terms:
        if not any(compile_term(other).fullmatch(term) for other in kept):
            kept.append(term)
    return kept


@lru_cache(maxsize=20_000)
def compile_term(term: str) -> re.Pattern[str]:
    """Compile a term: whole words, any case, singular or plural, with blanks, ``_`` or ``-`` between them."""
    *before, last = re.split(_WORD_GAP, term.strip())
    words = [*map(re.escape, before), f"(?:{'|'.join(map(re.escape, list_forms(last)))})"]
    return re.compile(rf"(?<!\w){_WORD_GAP.join(words)}(?!\w)", re.IGNORECASE)


def list_forms(word: str) -> list[str]:
    """List a word in singular and plural, as far as English spells them regularly."""
    lower = word.lower()
    if not lower.isalpha() or len(lower) < 3:
        return [word]
    if lower.endswith("ies") and len(lower) > 4:
        return [word, word[:-3] + "y"]
    if lower.endswith("es") and lower[:-2].endswith(_SIBILANT_ENDINGS):
        return [word, word[:-2], word[:-1]]
    if lower.endswith("s") and not lower.endswith(("ss", "us", "is")):
        return [word, word[:-1]]
    if lower.endswith("y") and lower[-2] not in _VOWELS:
        return [word, word[:-1] + "ies", word + "s"]
    if lower.endswith(_SIBILANT_ENDINGS):
        return [word, word + "es"]
    return [word, word + "s"]


# --- reading a file ---


@lru_cache(maxsize=8)
def _load_version(path: Path, stamp: tuple[int, int]) -> TermGraph:
    try:
        raw = json.loads(path.read_text(encoding="utf-8-sig"))
    except (OSError, UnicodeDecodeError) as error:
        raise SettingsError(f"the term graph {path} cannot be read: {error}") from error
    except (ValueError, RecursionError) as error:
        raise SettingsError(f"the term graph {path} is not JSON: {_describe_error(error)}") from None
    return TermGraph(tuple(_parse_entries(raw, path)))


def load_term_graph(path: Path) -> TermGraph:
    """Load the term graph of a file; it is read again only when the file has changed."""
    try:
        status = path.stat()
    except OSError as error:
        reason = error.strerror or str(error)
        raise SettingsError(
            f"the term graph {path} cannot be read ({reason}): check the setting 'term_graph'"
        ) from None
    if status.st_size > MAX_FILE_BYTES:
        raise SettingsError(f"the term graph {path} is too large ({status.st_size} bytes)")
    return _load_version(path, (status.st_mtime_ns, status.st_size))


def _describe_error(error: Exception) -> str:
    """Describe what is wrong with JSON without quoting it: it may be somebody's private file."""
    line = getattr(error, "lineno", 0)
    return f"line {line}" if line else type(error).__name__


def _parse_entries(raw: Any, path: Path) -> Iterator[Entry]:
    listed = raw.get("entries") if isinstance(raw, dict) else None
    if not isinstance(listed, list):
        raise SettingsError(f'the term graph {path} must be {{"entries": [...]}}: see docs/terms.md')
    for number, entry in enumerate(listed, 1):
        canonical = entry.get("canonical") if isinstance(entry, dict) else None
        synonyms = entry.get("synonyms") if isinstance(entry, dict) else None
        if not isinstance(synonyms, list) or not all(map(_is_term, [canonical, *synonyms])):
            raise SettingsError(
                f"the term graph {path}: entry {number} needs 'canonical', a term, and 'synonyms', a list of terms"
            )
        yield Entry(_join_words(str(canonical)), tuple(_join_words(term) for term in synonyms))


def _is_term(value: object) -> bool:
    return (
        isinstance(value, str)
        and 0 < len(value.strip()) <= MAX_TERM_CHARS
        and re.search(r"\w", value) is not None
    )


def _join_words(term: str) -> str:
    return " ".join(term.split())
