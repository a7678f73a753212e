"""Spelling correction of names ("did you mean"): what a query calls by a pattern, a part or with a typo, as indexed."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from dowse.code import tokens
from dowse.lazy_rows import read_column
from dowse.search.query.analyze import (
    PLAIN_NAME_WORDS,
    WHOLE_WEIGHT,
    find_lone_name,
    get_last_part,
    is_identifier,
)
from dowse.stores.protocol import Snapshot
from dowse.types.queries import Query, Spelling, Term
from dowse.types.stored import Filter, NameTier

MAX_MATCHES = 50
"""Definitions that are looked through for the names that match: as many as a channel then brings."""

PART_MIN_LENGTH = 4
"""Shorter words are parts of too many others."""

MAX_PART_LENGTH = 40
"""A longer text is no part of a word that somebody remembers."""

ENDINGS = (
    "e ed er es ing ly ally able ably al ally ance ancy ant ate ated ates ating ation ations ator ement ence ency ent "
    "ful fully ible ical ically icate icated icates icating ication ications icator icity ion ions ious iously ity ive "
    "ization izations ize ized izes izing ment ments ness ous ously y"
).split()
"""Endings that stemming takes off words. "normalizatio" is part of a word that the index has as "normal"."""

MAX_STEMS = 200
"""Tokens that are looked through for one whose word contains a part: the shortest, for the part itself ends there."""

MAX_WORDS = 3
"""Words that are searched for in place of one that no text has: they are alternatives, and each makes the others count
less."""


def find_spellings(snapshot: Snapshot, query: Query) -> Query:
    """Search for names as the index writes them: those that a pattern matches, that contain a word, that are nearly so.

    A name that something has, or any text, is meant as it is written. Long texts have many names that nothing here has,
    and mean none of ours by them: of these, only the definitions are looked up.
    """
    names = [name for name in query.names if name not in query.filter.names]
    if not names and not _has_known_word(snapshot, query):
        names = tokens.split_words(query.text)[:PLAIN_NAME_WORDS]
    found = [spelling for name in names if (spelling := _find_spelling(snapshot, query, name))]
    if not found:
        return query
    asked = dict.fromkeys([*query.names, *(spelling.asked for spelling in found)])
    query = replace(query, names=tuple(asked), spellings=tuple(found))
    return query if len(query.names) > PLAIN_NAME_WORDS else _search_for_found(snapshot, query)


def list_spelled_names(query: Query) -> tuple[str, ...]:
    """List the names that a query asks for as such, as the index writes them."""
    found = {spelling.asked: spelling.found for spelling in query.spellings if spelling.tier}
    lone = find_lone_name(query)
    asked = (name for name in query.names if name in found or lone or is_identifier(name))
    return tuple(dict.fromkeys(name for each in asked for name in found.get(each, (each,))))


def is_pattern(name: str) -> bool:
    """Return whether a name is a pattern: ``Auth*``, ``Ses*ion``."""
    return "*" in name or "?" in name


def _has_known_word(snapshot: Snapshot, query: Query) -> bool:
    return any(snapshot.document_frequency(term.text) for term in query.terms)


def _find_spelling(snapshot: Snapshot, query: Query, name: str) -> Spelling | None:
    """Find how the index writes a name, by the strictest way that finds anything."""
    filter, word = query.filter, get_last_part(name)
    if not is_pattern(name) and _is_written_so(snapshot, word, filter):
        return None
    for tier, pattern in _list_tiers(name, word, is_alone=bool(find_lone_name(query))):
        if found := _list_names(snapshot, pattern, tier, filter):
            return Spelling(name, pattern, tier, found)
    if _is_part(word) and (texts := _find_words(snapshot, word.lower())):
        return Spelling(name, word, None, tuple(texts))
    return None


def _find_words(snapshot: Snapshot, part: str) -> list[str]:
    """Find the words of texts that contain a part, or its stem, if need be with the ending that stemming took."""
    stem = tokens.stem(part)
    found = snapshot.find_tokens(part, MAX_WORDS) or (
        snapshot.find_tokens(stem, MAX_WORDS) if stem != part and _is_part(stem) else []
    )
    return found or _find_stems(snapshot, part)


def _find_stems(snapshot: Snapshot, part: str) -> list[str]:
    """Find the stems of words that contain a part which reaches into their endings."""
    start = part[: max(PART_MIN_LENGTH, len(part) - max(map(len, ENDINGS)))]
    held = snapshot.find_tokens(start, MAX_STEMS) if start != part else []
    return [token for token in held if _has_ending_with(token, part)][:MAX_WORDS]


def _has_ending_with(token: str, part: str) -> bool:
    return any(part in token + ending and tokens.stem(token + ending) == token for ending in ENDINGS)


def _is_written_so(snapshot: Snapshot, word: str, filter: Filter) -> bool:
    """Return whether some text has a word, or something is called by it."""
    whole = tokens.tokenize_word(word)[:1]
    return any(map(snapshot.document_frequency, whole)) or bool(
        snapshot.names(word, NameTier.CASE, filter, 1)
    )


def _list_tiers(name: str, word: str, *, is_alone: bool) -> Iterator[tuple[NameTier, str]]:
    """List how to look for a name, strictest first; a plain word among others may mean something else by a typo."""
    if is_pattern(name):
        is_prefix = name.endswith("*") and not is_pattern(name[:-1])
        yield (NameTier.PREFIX, word) if is_prefix else (NameTier.GLOB, name)
        return
    if is_identifier(name):
        yield NameTier.PREFIX, word
    if _is_part(word):
        yield NameTier.GLOB, f"*{word}*"
    if is_identifier(name) or is_alone:
        yield NameTier.FUZZY, word


def _is_part(word: str) -> bool:
    return PART_MIN_LENGTH <= len(word) <= MAX_PART_LENGTH and word.replace("-", "_").isidentifier()


def _list_names(snapshot: Snapshot, pattern: str, tier: NameTier, filter: Filter) -> tuple[str, ...]:
    """List the names that match, shortest first."""
    found: dict[str, None] = {}
    for hit in snapshot.names(pattern, tier, filter, MAX_MATCHES):
        if file := snapshot.file(hit.file):
            found[read_column(file.parsed.entities, "name")[hit.entity]] = None
    return tuple(sorted(found, key=len))


def _search_for_found(snapshot: Snapshot, query: Query) -> Query:
    """Search for what was found in place of the words that no text has, and of those that a pattern is made of."""
    patterns = [spelling.asked for spelling in query.spellings if is_pattern(spelling.asked)]
    meant = [word for spelling in query.spellings for word in _list_words(spelling)]
    replaced = frozenset(tokens.tokenize(" ".join(patterns)).split())
    kept = [
        term for term in query.terms if term.text not in replaced and snapshot.document_frequency(term.text)
    ]
    known = {term.text for term in kept}
    added = [Term(token, WHOLE_WEIGHT) for token in dict.fromkeys(meant) if token not in known]
    words = [word for word in query.words if word in known]
    parts = [tokens.stem(part) for word in meant for part in tokens.split_identifier(word)]
    return replace(
        query,
        terms=(*kept, *added),
        words=tuple(dict.fromkeys([*words, *parts])),
        type=query.type if kept else "symbol",  # nothing else is known of it that could have a meaning
    )


def _list_words(spelling: Spelling) -> Sequence[str]:
    """List the tokens to search for: none for a pattern, whose names are looked up and mean whatever they match."""
    if is_pattern(spelling.asked):
        return ()
    if spelling.tier is None:
        return spelling.found
    return [token for name in spelling.found[:MAX_WORDS] for token in tokens.tokenize(name).split()[:1]]
