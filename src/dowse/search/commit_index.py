"""Commit index: BM25 over commit messages, to find the files that earlier commits of a kind changed.

Kept as one blob beside the index: postings are packed, so that loading takes a few milliseconds. Knows no git.
"""

from __future__ import annotations

import math
import zlib
from array import array
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterable, Sequence
from functools import cached_property
from itertools import accumulate
from typing import NamedTuple

from dowse.code import tokens
from dowse.frozen import frozen
from dowse.lru import LruCache
from dowse.serialization import deflate, inflate, pack_columns, unpack_columns
from dowse.services.commit_log import MAX_COMMITS, Commit
from dowse.types.queries import Term

BLOB = "commits"
MAX_COMMIT_TOKENS = 150
"""Distinct tokens of a message that are indexed."""

MAX_BLOB_BYTES = 100_000_000
BM25_K1 = 1.2
BM25_B = 0.75

MAX_RATED_QUERIES = 8
"""Queries whose ratings are kept: the channel asks for them, then the explanation of a hit."""

SHA_DIGITS = 9
"""Digits of its hash by which a commit is known."""

BEST_COMMITS = 40
"""Commits that speak for their files, best first."""


class FileEvidence(NamedTuple):
    """What the history says of a file: how strongly (0 to 1), and the commits that do, most alike first."""

    score: float
    commits: tuple[int, ...]


class Slices(NamedTuple):
    """Lists of numbers in one array, with where each ends: cut out when they are asked for."""

    numbers: array[int]
    ends: array[int]

    @classmethod
    def join(cls, lists: Iterable[Sequence[int]]) -> Slices:
        """Join lists into one array."""
        known = list(lists)
        joined = array("I", [number for each in known for number in each])
        return cls(joined, array("I", accumulate(map(len, known), initial=0)))

    def cut(self, index: int) -> array[int]:
        """Cut one list out."""
        return self.numbers[self.ends[index] : self.ends[index + 1]]


@frozen(slots=False)
class CommitIndex:
    """The messages of the newest commits and the files that they changed, newest first."""

    head: str
    labels: Sequence[str]  # short hash and subject
    paths: Sequence[str]
    names: Sequence[str]  # the tokens, in order
    lengths: array[int]  # tokens of each message
    changed: Slices  # the paths of each commit
    postings: Slices  # the commits of each token

    def list_commits(self, token: str) -> Sequence[int]:
        """List the commits whose messages have a token."""
        at = bisect_left(self.names, token)
        return self.postings.cut(at) if at < len(self.names) and self.names[at] == token else ()

    def list_paths(self, commit: int) -> list[str]:
        """List the paths that a commit changed."""
        return [self.paths[number] for number in self.changed.cut(commit)]

    def rate_commits(self, terms: Sequence[Term]) -> dict[int, float]:
        """Rate commits by how much of a query their messages have: 1 is all of it, in a short message."""
        count = len(self.labels)
        average = sum(self.lengths) / count if count else 1.0
        scores: dict[int, float] = defaultdict(float)
        total = 0.0
        for term in terms:
            found = self.list_commits(term.text)
            worth = self._compute_worth(term, len(found))
            total += worth * (BM25_K1 + 1.0)
            for commit in found:
                norm = BM25_K1 * (1.0 - BM25_B + BM25_B * self.lengths[commit] / average)
                scores[commit] += worth * (BM25_K1 + 1.0) / (1.0 + norm)
        return {commit: score / total for commit, score in scores.items()}

    def compute_worths(self, terms: Sequence[Term]) -> dict[str, float]:
        """Compute what the terms of a query are worth: by their weights, and by how few messages have them."""
        return {term.text: self._compute_worth(term, len(self.list_commits(term.text))) for term in terms}

    def _compute_worth(self, term: Term, found: int) -> float:
        return term.weight * math.log(1.0 + (len(self.labels) - found + 0.5) / (found + 0.5))

    def rate_files(self, terms: Sequence[Term]) -> dict[str, FileEvidence]:
        """Rate files by how much the messages of commits that changed them are like a query; once for each query."""
        key = tuple(terms)
        if (rated := self._rated_files.get(key)) is None:
            rated = self._compute_ratings(terms)
            self._rated_files.put(key, rated)
        return rated

    @cached_property
    def _rated_files(self) -> LruCache[tuple[Term, ...], dict[str, FileEvidence]]:
        return LruCache(MAX_RATED_QUERIES)

    def _compute_ratings(self, terms: Sequence[Term]) -> dict[str, FileEvidence]:
        rated = self.rate_commits(terms)
        evidence: dict[str, list[tuple[float, int]]] = defaultdict(list)
        for commit in sorted(rated, key=lambda each: (-rated[each], each))[:BEST_COMMITS]:
            paths = self.list_paths(commit)
            for path in paths:
                evidence[path].append((rated[commit] / math.sqrt(len(paths)), commit))
        return {path: _combine(found) for path, found in evidence.items()}


def _combine(found: list[tuple[float, int]]) -> FileEvidence:
    """Add up commits for one file, each further one at half of the one before."""
    found.sort(key=lambda pair: -pair[0])
    score = sum(value / (1 << n) for n, (value, _) in enumerate(found[:8]))
    return FileEvidence(min(1.0, score), tuple(commit for _, commit in found))


def build(head: str, commits: Iterable[Commit], older: CommitIndex | None = None) -> CommitIndex:
    """Build the index of commits, newest first, and of those that were indexed before."""
    labels: list[str] = []
    changed: list[Sequence[str]] = []
    lengths: list[int] = []
    postings: dict[str, list[int]] = defaultdict(list)
    for commit in commits:
        found = tokens.tokenize(f"{commit.subject}\n{commit.body}").split()
        distinct = list(dict.fromkeys(found))[:MAX_COMMIT_TOKENS]
        for token in distinct:
            postings[token].append(len(labels))
        labels.append(f"{commit.sha[:SHA_DIGITS]} {commit.subject}")
        changed.append(commit.paths)
        lengths.append(len(distinct))
    if older is not None:
        kept, shift = min(len(older.labels), max(0, MAX_COMMITS - len(labels))), len(labels)
        for at, token in enumerate(older.names):
            postings[token] += [commit + shift for commit in older.postings.cut(at) if commit < kept]
        labels += older.labels[:kept]
        changed += map(older.list_paths, range(kept))
        lengths += older.lengths[:kept]
    names = sorted(token for token, found_in in postings.items() if found_in)
    paths = sorted({path for each in changed for path in each})
    numbers = {path: number for number, path in enumerate(paths)}
    return CommitIndex(
        head,
        labels,
        paths,
        names,
        array("I", lengths),
        Slices.join([numbers[path] for path in each] for each in changed),
        Slices.join(postings[name] for name in names),
    )


def pack(index: CommitIndex) -> bytes:
    """Pack an index for storing."""
    texts = [index.head, list(index.labels), list(index.paths), list(index.names)]
    return deflate(pack_columns(texts, (index.lengths, *index.changed, *index.postings)))


def unpack(blob: bytes | None) -> CommitIndex | None:
    """Unpack what was stored; None if there is nothing, or it is not whole."""
    if blob is None:
        return None
    try:
        texts, columns, _ = unpack_columns(inflate(blob, MAX_BLOB_BYTES), 5)
        head, labels, paths, names = texts
        lengths, changed, file_ends, commits, ends = columns
    except (TypeError, ValueError, zlib.error):
        return None
    index = CommitIndex(
        head, labels, paths, names, lengths, Slices(changed, file_ends), Slices(commits, ends)
    )
    return index if _is_whole(index) else None


def _is_whole(index: CommitIndex) -> bool:
    """Return whether every number stands for something."""
    commits, tokens_known = len(index.labels), len(index.names)
    lists = len(index.lengths), len(index.changed.ends) - 1, len(index.postings.ends) - 1
    if lists != (commits, commits, tokens_known):
        return False
    highest = max(index.postings.numbers, default=-1), max(index.changed.numbers, default=-1)
    return highest[0] < commits and highest[1] < len(index.paths)
