"""Finds the terms that carry a long question: an issue of 300 words is about some thirty of them.

A search for every word of a long text ranks by what all places have in common. Here each token is weighed by how
often the text says it (damped) and how few places of the index say it (inverse document frequency); identifiers,
quoted code and file names are surely meant and stay in any case, and what the index does not know cannot be found
and goes. Pure: the caller looks up the frequencies.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Mapping

from dowse.code import tokens
from dowse.search.query.analyze import ABBREVIATIONS, PART_WEIGHT, STOP_WORDS, WHOLE_WEIGHT, is_identifier
from dowse.types import InformativeTerms, QueryWord, Term

LONG = 40
"""Words from which on a text is long: below, every word was chosen to be searched for."""

LIMIT = 30
"""Terms that a long text becomes."""

SURE_LIMIT = 2 * LIMIT
"""Terms that are kept whatever the limit says; a text with more identifiers is a listing."""

SURE = 2.0
"""What an identifier, quoted code or a file name is worth, compared with a word of the text around it."""

TITLE = 3.0
"""What a term of the title is worth, compared with one that comes up later."""

TITLE_WORDS = 25
"""A first line with more words is not a title."""

PLAIN_SHARE = 3
"""However many identifiers there are, one in this number of terms may be an ordinary word."""

NOISE_WORDS = frozenset(
    "aka eg etc ie please pls plz thanks thank thx help github issue hi hello hey guys folks anyone anybody somebody "
    "someone sorry appreciate appreciated cheers regards btw fyi imo imho afaik afaict tldr lol wip ps".split()
)
"""Words of people talking to each other. None of them names anything in code as often as it is just said."""

_MARKED = re.compile(r"`([^`\n]{1,200})`|\"([^\"\n]{1,80})\"")
_FILE = re.compile(r"(?<![\w-])([\w-]{2,100})\.[A-Za-z][A-Za-z0-9]{0,4}\b")  # or an attribute: meant as well


def is_long(text: str) -> bool:
    """Whether a text is one of which only some words are searched for."""
    return len(text.split()) >= LONG


def words_of(text: str) -> list[QueryWord]:
    """The tokens of a long text in order of appearance, without stop words and noise; the first line is its title."""
    text = ABBREVIATIONS.sub(" ", text).strip()
    first = text.partition("\n")[0]
    title = _tokens_of(first) if len(first.split()) <= TITLE_WORDS and first != text else {}
    return [
        word._replace(
            worth=word.worth * (SURE if word.sure else 1.0) * (TITLE if word.token in title else 1.0)
        )
        for word in _tokens_of(text).values()
    ]


def _tokens_of(text: str) -> dict[str, QueryWord]:
    """Each token with its number, whether it is a whole word or only a part of one, and whether it is surely meant."""
    marked = _marked(text)
    found: dict[str, QueryWord] = {}
    for word in tokens.words(text):
        if word not in marked and (word.lower() in STOP_WORDS or word.lower() in NOISE_WORDS):
            continue
        is_sure = word in marked or is_identifier(word)
        for position, token in enumerate(tokens.word_tokens(word)):
            known = found.get(token, QueryWord(token, 0, 0.0))
            worth = max(known.worth, PART_WEIGHT if position else WHOLE_WEIGHT)
            found[token] = QueryWord(token, known.times + 1, worth, known.sure or (is_sure and not position))
    return found


def _marked(text: str) -> set[str]:
    """Words in quotes or backticks, and the names of files without their extension."""
    quoted = (match.group(1) or match.group(2) for match in _MARKED.finditer(text))
    return {word for part in quoted for word in tokens.words(part)} | set(_FILE.findall(text))


def informative_terms(
    words: Iterable[QueryWord],
    frequency: Callable[[str], int] | Mapping[str, int],
    chunks: int,
    limit: int = LIMIT,
) -> InformativeTerms:
    """The most informative terms, best first; ``frequency`` says how many of the index's chunks have a token."""
    look_up = frequency if callable(frequency) else lambda token: frequency.get(token, 0)
    weighed: list[tuple[float, QueryWord]] = []
    unseen: list[str] = []
    for word in words:
        seen = look_up(word.token)
        if seen > 0:
            weighed.append((damped(word) * inverse_frequency(seen, chunks), word))
        else:
            unseen.append(word.token)
    weighed.sort(key=lambda item: -item[0])  # stable: equal ones stay in the order of the text
    kept = _kept([word for _, word in weighed], limit)
    highest = max((damped(word) for word in kept), default=1.0)
    chosen = frozenset(word.token for word in kept)
    return InformativeTerms(
        terms=tuple(Term(word.token, damped(word) / highest) for word in kept),
        unseen=tuple(unseen),
        dropped=tuple(word.token for _, word in weighed if word.token not in chosen),
    )


def damped(word: QueryWord) -> float:
    """What a word is worth for being said this often: ``worth * (1 + ln times)``."""
    return word.worth * (1.0 + math.log(word.times))


def inverse_frequency(seen: int, chunks: int) -> float:
    """BM25's: ``ln(1 + (N - n + 0.5) / (n + 0.5))``."""
    return math.log(1.0 + (max(chunks, seen) - seen + 0.5) / (seen + 0.5))


def _kept(best_first: list[QueryWord], limit: int) -> list[QueryWord]:
    sure = [word for word in best_first if word.sure][:SURE_LIMIT]
    room = max(limit - len(sure), -(-limit // PLAIN_SHARE))
    plain = [word for word in best_first if not word.sure][:room]
    chosen = frozenset(word.token for word in [*sure, *plain])
    return [word for word in best_first if word.token in chosen]
