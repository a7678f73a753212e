"""Keyword extraction from long queries (TF-IDF): the terms that carry a pasted issue or a paragraph of prose.

A search for every word of a long text ranks by what all chunks have in common. Each token is weighted by its damped
frequency in the text and its inverse document frequency in the index. Identifiers, quoted code and file names always
stay; what the index does not have is dropped.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from typing import NamedTuple

from dowse.code import tokens
from dowse.frozen import frozen
from dowse.lazy_regex import compile_lazily
from dowse.search.query.analyze import ABBREVIATIONS, PART_WEIGHT, STOP_WORDS, WHOLE_WEIGHT, is_identifier
from dowse.stores.protocol import Snapshot
from dowse.types.queries import Query, Term

LONG_QUERY_WORDS = 40
"""Words from which on a text is long: below, every word was chosen to be searched for."""

MAX_TERMS = 30
"""Terms that a long text becomes."""

MAX_SURE_TERMS = 2 * MAX_TERMS
"""Terms that are kept whatever the limit says; a text with more identifiers is a listing."""

SURE_WORTH = 2.0
"""What an identifier, quoted code or a file name is worth, compared with a word of the text around it."""

TITLE_WORTH = 3.0
"""What a term of the title is worth, compared with one that comes up later."""

MAX_TITLE_WORDS = 25
"""A first line with more words is not a title."""

PLAIN_TERM_SHARE = 3
"""However many identifiers there are, one in this number of terms may be an ordinary word."""

NOISE_WORDS = frozenset(
    "aka eg etc ie please pls plz thanks thank thx help github issue hi hello hey guys folks anyone anybody somebody "
    "someone sorry appreciate appreciated cheers regards btw fyi imo imho afaik afaict tldr lol wip ps".split()
)
"""Words of people talking to each other. None of them names anything in code as often as it is just said."""

_QUOTED_WORDS = compile_lazily(r"`([^`\n]{1,200})`|\"([^\"\n]{1,80})\"")
_FILE = compile_lazily(
    r"(?<![\w-])([\w-]{2,100})\.[A-Za-z][A-Za-z0-9]{0,4}\b"
)  # or an attribute: meant as well


class QueryWord(NamedTuple):
    """A token of a long query: how often it is there, what one match is worth, and whether it is surely meant."""

    token: str
    times: int
    worth: float = 1.0
    sure: bool = False


@frozen
class Keywords:
    """The terms of a long query that tell chunks apart, best first, and those that were dropped."""

    terms: tuple[Term, ...]
    unseen: tuple[str, ...]
    dropped: tuple[str, ...]


def extract_keywords(snapshot: Snapshot, query: Query) -> Query:
    """Reduce a long query to the terms that tell chunks apart."""
    words = list_words(query.text)
    chosen = choose_keywords(words, snapshot.document_frequency, snapshot.chunk_count())
    return replace(
        query,
        terms=chosen.terms,
        words=tuple(term.text for term in chosen.terms),
        dropped=(*query.dropped, *chosen.dropped, *chosen.unseen),
        versions=(),  # in so many words, that of whoever writes
    )


def use_indexed_spelling(snapshot: Snapshot, query: Query) -> Query:
    """Look for a name in lower case (``baseitemexporter``) as it is written, where the index lacks its stem."""
    stems = {tokens.stem(name.lower()): name.lower() for name in query.names}
    whole = {
        stem: name
        for stem, name in stems.items()
        if stem != name and not snapshot.document_frequency(stem) and snapshot.document_frequency(name)
    }
    if not whole:
        return query
    return replace(query, terms=tuple(Term(whole.get(text, text), weight) for text, weight in query.terms))


def is_long(text: str) -> bool:
    """Return whether a text is one of which only some words are searched for."""
    return len(text.split()) >= LONG_QUERY_WORDS


def list_words(text: str) -> list[QueryWord]:
    """List the tokens of a long text in their order, without stop words and noise; the first line is its title."""
    text = ABBREVIATIONS.sub(" ", text).strip()
    first = text.partition("\n")[0]
    title = _count_tokens(first) if len(first.split()) <= MAX_TITLE_WORDS and first != text else {}
    return [
        word._replace(
            worth=word.worth
            * (SURE_WORTH if word.sure else 1.0)
            * (TITLE_WORTH if word.token in title else 1.0)
        )
        for word in _count_tokens(text).values()
    ]


def _count_tokens(text: str) -> dict[str, QueryWord]:
    """Count each token, and note whether it is a whole word or only a part of one, and whether it is surely meant."""
    marked = _find_marked(text)
    found: dict[str, QueryWord] = {}
    for word in tokens.split_words(text):
        if word not in marked and (word.lower() in STOP_WORDS or word.lower() in NOISE_WORDS):
            continue
        is_sure = word in marked or is_identifier(word)
        for position, token in enumerate(tokens.tokenize_word(word)):
            known = found.get(token, QueryWord(token, 0, 0.0))
            worth = max(known.worth, PART_WEIGHT if position else WHOLE_WEIGHT)
            found[token] = QueryWord(token, known.times + 1, worth, known.sure or (is_sure and not position))
    return found


def _find_marked(text: str) -> set[str]:
    """Find words in quotes or backticks, and the names of files without their extension."""
    quoted = (match.group(1) or match.group(2) for match in _QUOTED_WORDS.finditer(text))
    return {word for part in quoted for word in tokens.split_words(part)} | set(_FILE.findall(text))


def choose_keywords(
    words: Iterable[QueryWord],
    frequency: Callable[[str], int] | Mapping[str, int],
    chunks: int,
    limit: int = MAX_TERMS,
) -> Keywords:
    """Choose the most informative terms, best first; ``frequency`` says how many of the index's chunks have a token."""
    look_up = frequency if callable(frequency) else lambda token: frequency.get(token, 0)
    ranked: list[tuple[float, QueryWord]] = []
    unseen: list[str] = []
    for word in words:
        seen = look_up(word.token)
        if seen > 0:
            ranked.append((damp(word) * inverse_frequency(seen, chunks), word))
        else:
            unseen.append(word.token)
    ranked.sort(key=lambda item: -item[0])  # stable: equal ones stay in the order of the text
    kept = _choose_words([word for _, word in ranked], limit)
    highest = max((damp(word) for word in kept), default=1.0)
    chosen = frozenset(word.token for word in kept)
    return Keywords(
        terms=tuple(Term(word.token, damp(word) / highest) for word in kept),
        unseen=tuple(unseen),
        dropped=tuple(word.token for _, word in ranked if word.token not in chosen),
    )


def damp(word: QueryWord) -> float:
    """Return what a word is worth for being said this often: ``worth * (1 + ln times)``."""
    return word.worth * (1.0 + math.log(word.times))


def inverse_frequency(seen: int, chunks: int) -> float:
    """Compute BM25's inverse document frequency: ``ln(1 + (N - n + 0.5) / (n + 0.5))``."""
    return math.log(1.0 + (max(chunks, seen) - seen + 0.5) / (seen + 0.5))


def _choose_words(best_first: list[QueryWord], limit: int) -> list[QueryWord]:
    sure = [word for word in best_first if word.sure][:MAX_SURE_TERMS]
    room = max(limit - len(sure), -(-limit // PLAIN_TERM_SHARE))
    plain = [word for word in best_first if not word.sure][:room]
    chosen = frozenset(word.token for word in [*sure, *plain])
    return [word for word in best_first if word.token in chosen]
