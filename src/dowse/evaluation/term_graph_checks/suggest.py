"""Candidates for a term graph from the user's own corpus: words that go together although they are not alike.

Words of docstrings with the names of what they document, words of commit subjects with the names of the files they
changed, and searches that were followed by a better one. Offered for review; nothing here writes anything.
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
from dowse.evaluation.leaks import stem_of
from dowse.evaluation.mining import definitions
from dowse.evaluation.mining.commits import is_code
from dowse.evaluation.mining.docs import question
from dowse.search import query_log
from dowse.search.query.analyze import STOP_WORDS

SUPPORT = 3
"""How often two words must go together to be more than chance."""

SEARCH_SUPPORT = 1
"""A search that was asked again in other words says more than two words that occur together."""

COMMON = 0.05
"""A word in a larger share of the texts says nothing about any of them: "return", "given"."""

BOUND = 0.35
"""Normalised pointwise mutual information from which on two words belong together (0: chance, 1: always)."""

COMMITS = 3000
"""Commits that are read."""

AGAIN = 180.0
"""Seconds after which another search is about something else."""

BETTER = 0.1
"""By how much the best hit of the second search must be more relevant."""

MAX_WORDS = 3
"""Words of a search that changed: with more, nobody knows which stands for which."""

_DULL = frozenset(
    "add added adds allow also always any avoid call called change check class code default ensure error file files "
    "first fix fixed function get given handle improve instead make method more move name new none not object one only "
    "option other remove return returns same set support test tests type update use used using value values when "
    "without".split()
)
"""Words of documentation and commits that go with everything."""


class Suggestion(NamedTuple):
    """What people say, what the corpus says, and why they may mean the same."""

    said: str
    used: str
    source: str
    support: int
    score: float
    example: str


class _Text(NamedTuple):
    said: frozenset[str]
    used: frozenset[str]
    example: str


def suggest(engine: Engine, limit: int) -> list[Suggestion]:
    """The best candidates of each source, the surest first."""
    found = [*_associated("docs", _documented(engine)), *_associated("git", _committed(engine))]
    found += _reformulated(query_log.read(roots.search_log(engine.root)))
    found.sort(key=lambda s: (-s.score, s.said, s.used))
    return found[:limit]


def _documented(engine: Engine) -> Iterator[_Text]:
    engine.index()
    for _, entity in definitions.of_sources(engine):
        if entity.doc and (said := question(entity)):
            yield _Text(_words(said), _words(entity.name), f"{entity.qualified}: {said}")


def _committed(engine: Engine) -> Iterator[_Text]:
    try:
        commits = commit_history.newest_commits(engine.root, COMMITS)
    except UsageError:
        return  # no repository
    for commit in commits:
        sources = [file.path for file in commit.files if is_code(file.path, engine.languages)]
        if 1 <= len(sources) <= 2:
            used = frozenset().union(*(_words(stem_of(path)) for path in sources))
            yield _Text(_words(commit.subject), used, commit.subject)


def _words(text: str) -> frozenset[str]:
    """The words of a text that say something, in lower case."""
    found = (part for word in tokens.words(text) for part in tokens.split_identifier(word))
    return frozenset(
        w for w in found if len(w) > 2 and w.isalpha() and w not in STOP_WORDS and w not in _DULL
    )


def _associated(source: str, texts: Iterable[_Text]) -> Iterator[Suggestion]:
    """Pairs of words that occur together far more often than chance would have it."""
    said, used, together = Counter[str](), Counter[str](), Counter[tuple[str, str]]()
    examples: dict[tuple[str, str], str] = {}
    total = 0
    for text in texts:
        total += 1
        said.update(text.said)
        used.update(text.used)
        stems = {tokens.stem(word) for word in text.used}
        for a in text.said:
            if tokens.stem(a) in stems:
                continue  # it says so itself
            for b in text.used:
                together[a, b] += 1
                examples.setdefault((a, b), text.example)
    most = max(SUPPORT, COMMON * total)
    for (a, b), count in together.items():
        if count >= SUPPORT and said[a] <= most and used[b] <= most:
            score = _association(count, said[a], used[b], total)
            if score >= BOUND and not _are_alike(a, b):
                yield Suggestion(a, b, source, count, round(score, 3), examples[a, b][:200])


def _association(both: int, a: int, b: int, total: int) -> float:
    """Normalised pointwise mutual information: log(p(a,b) / (p(a) p(b))) / -log p(a,b)."""
    share = both / total
    return math.log(share * total * total / (a * b)) / -math.log(share) if share < 1 else 0.0


def _are_alike(a: str, b: str) -> bool:
    return a.startswith(b) or b.startswith(a) or tokens.stem(a) == tokens.stem(b)


def _reformulated(asked: Iterable[query_log.Asked]) -> Iterator[Suggestion]:
    """Searches that were asked again in other words, with more success."""
    found: Counter[tuple[str, str]] = Counter()
    examples: dict[tuple[str, str], str] = {}
    for first, second in pairwise(asked):
        before, after = _words(first.query), _words(second.query)
        lost, gained = sorted(before - after), sorted(after - before)
        is_soon = 0 <= second.time - first.time <= AGAIN
        is_better = second.hits and (not first.hits or second.best >= first.best + BETTER)
        few = 1 <= len(lost) <= MAX_WORDS and 1 <= len(gained) <= MAX_WORDS
        if is_soon and is_better and few and (before & after or len(before) == len(lost) == 1):
            pair = (_in_order(first.query, lost), _in_order(second.query, gained))
            found[pair] += 1
            examples.setdefault(pair, f"'{first.query}', then '{second.query}'")
    for (a, b), count in found.items():
        if count >= SEARCH_SUPPORT and not _are_alike(a, b):
            yield Suggestion(a, b, "log", count, min(1.0, 0.5 + 0.1 * count), examples[a, b])


def _in_order(query: str, words: Sequence[str]) -> str:
    parts = [part for word in tokens.words(query) for part in tokens.split_identifier(word)]
    return " ".join(dict.fromkeys(part for part in parts if part in words))
