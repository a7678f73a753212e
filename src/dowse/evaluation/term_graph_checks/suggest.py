"""Synonym mining: suggest entries for a term graph by co-occurrence (pointwise mutual information) and reformulations.

Pairs words of docstrings with the names they document, words of commit subjects with the names of changed files, and
logged queries with the better query that followed. Suggestions are for review; nothing is written.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise
from typing import NamedTuple

from dowse import roots
from dowse.code import tokens
from dowse.engine import Engine
from dowse.errors import UsageError
from dowse.evaluation import commit_history
from dowse.evaluation.leaks import get_stem
from dowse.evaluation.mining import definitions
from dowse.evaluation.mining.commits import is_code
from dowse.evaluation.mining.docs import extract_query
from dowse.search import query_log
from dowse.search.query.analyze import STOP_WORDS

MIN_PAIR_COUNT = 3
"""How often two words must occur together to be more than chance."""

MIN_REFORMULATION_COUNT = 1
"""How often a search must be repeated in other words: once says more than two words that occur together."""

MAX_WORD_SHARE = 0.05
"""A word in a larger share of the texts says nothing about any of them: "return", "given"."""

MIN_ASSOCIATION = 0.35
"""Normalised pointwise mutual information of a pair of words that belongs together (0: chance, 1: always)."""

MAX_COMMITS = 3000
"""Commits that are read, newest first."""

MAX_REFORMULATION_SECONDS = 180.0
"""Seconds after which another search is about something else."""

MIN_RELEVANCE_GAIN = 0.1
"""By how much the best hit of the second search must be more relevant."""

MAX_CHANGED_WORDS = 3
"""Words of a search that may differ: with more, nobody knows which stands for which."""

_GENERIC_WORDS = frozenset(
    "add added adds allow also always any avoid call called change check class code default ensure error file files "
    "first fix fixed function get given handle improve instead make method more move name new none not object one only "
    "option other remove return returns same set support test tests type update use used using value values when "
    "without".split()
)
"""Words of documentation and commits that occur with everything."""


class Suggestion(NamedTuple):
    """A pair of words that may mean the same: what people say, what the corpus says, and the evidence."""

    synonym: str
    canonical: str
    source: str
    support: int
    score: float
    example: str


class _Text(NamedTuple):
    """A sentence as words that people say and names that the code uses."""

    words: frozenset[str]
    names: frozenset[str]
    example: str


def suggest(engine: Engine, limit: int) -> list[Suggestion]:
    """Suggest the best candidates of all sources, highest score first."""
    found = [*_associate("docs", _read_docs(engine)), *_associate("git", _read_commits(engine))]
    found += _find_reformulations(query_log.read_log(roots.search_log_path(engine.root)))
    found.sort(key=lambda s: (-s.score, s.synonym, s.canonical))
    return found[:limit]


def _read_docs(engine: Engine) -> Iterator[_Text]:
    engine.index()
    for _, entity in definitions.iter_source_definitions(engine):
        if entity.doc and (sentence := extract_query(entity)):
            yield _Text(
                _extract_words(sentence), _extract_words(entity.name), f"{entity.qualified}: {sentence}"
            )


def _read_commits(engine: Engine) -> Iterator[_Text]:
    try:
        commits = commit_history.list_newest_commits(engine.root, MAX_COMMITS)
    except UsageError:
        return  # no repository
    for commit in commits:
        sources = [file.path for file in commit.files if is_code(file.path, engine.languages)]
        if 1 <= len(sources) <= 2:
            used = frozenset().union(*(_extract_words(get_stem(path)) for path in sources))
            yield _Text(_extract_words(commit.subject), used, commit.subject)


def _extract_words(text: str) -> frozenset[str]:
    """Extract the words of a text that carry meaning, in lower case."""
    found = (part for word in tokens.split_words(text) for part in tokens.split_identifier(word))
    return frozenset(
        w for w in found if len(w) > 2 and w.isalpha() and w not in STOP_WORDS and w not in _GENERIC_WORDS
    )


def _associate(source: str, texts: Iterable[_Text]) -> Iterator[Suggestion]:
    """Find pairs of words that occur together far more often than by chance."""
    words, names, together = Counter[str](), Counter[str](), Counter[tuple[str, str]]()
    examples: dict[tuple[str, str], str] = {}
    total = 0
    for text in texts:
        total += 1
        words.update(text.words)
        names.update(text.names)
        stems = {tokens.stem(word) for word in text.names}
        for a in text.words:
            if tokens.stem(a) in stems:
                continue  # the name has the word itself
            for b in text.names:
                together[a, b] += 1
                examples.setdefault((a, b), text.example)
    most = max(MIN_PAIR_COUNT, MAX_WORD_SHARE * total)
    for (a, b), count in together.items():
        if count >= MIN_PAIR_COUNT and words[a] <= most and names[b] <= most:
            score = _compute_association(count, words[a], names[b], total)
            if score >= MIN_ASSOCIATION and not _are_alike(a, b):
                yield Suggestion(a, b, source, count, round(score, 3), examples[a, b][:200])


def _compute_association(both: int, a: int, b: int, total: int) -> float:
    """Compute normalised pointwise mutual information: log(p(a,b) / (p(a) p(b))) / -log p(a,b)."""
    share = both / total
    return math.log(share * total * total / (a * b)) / -math.log(share) if share < 1 else 0.0


def _are_alike(a: str, b: str) -> bool:
    return a.startswith(b) or b.startswith(a) or tokens.stem(a) == tokens.stem(b)


def _find_reformulations(asked: Iterable[query_log.LoggedQuery]) -> Iterator[Suggestion]:
    """Find searches that were repeated in other words, with more success."""
    found: Counter[tuple[str, str]] = Counter()
    examples: dict[tuple[str, str], str] = {}
    for first, second in pairwise(asked):
        before, after = _extract_words(first.query), _extract_words(second.query)
        lost, gained = sorted(before - after), sorted(after - before)
        is_soon = 0 <= second.time - first.time <= MAX_REFORMULATION_SECONDS
        is_better = second.hits and (not first.hits or second.best >= first.best + MIN_RELEVANCE_GAIN)
        few = 1 <= len(lost) <= MAX_CHANGED_WORDS and 1 <= len(gained) <= MAX_CHANGED_WORDS
        if is_soon and is_better and few and (before & after or len(before) == len(lost) == 1):
            pair = (_join_in_order(first.query, lost), _join_in_order(second.query, gained))
            found[pair] += 1
            examples.setdefault(pair, f"'{first.query}', then '{second.query}'")
    for (a, b), count in found.items():
        if count >= MIN_REFORMULATION_COUNT and not _are_alike(a, b):
            yield Suggestion(a, b, "log", count, min(1.0, 0.5 + 0.1 * count), examples[a, b])


def _join_in_order(query: str, words: Sequence[str]) -> str:
    parts = [part for word in tokens.split_words(query) for part in tokens.split_identifier(word)]
    return " ".join(dict.fromkeys(part for part in parts if part in words))
