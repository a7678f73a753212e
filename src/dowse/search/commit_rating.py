"""Commit reranking: how much of a query the message and the diff of a commit have, word by word and in meaning.

Diffs often have the words that a message lacks. Each word of a query counts as far as the nearest word of the commit
means the same (soft coverage), by how rare it is in messages.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from operator import mul

from dowse.code import tokens
from dowse.embedders.embedder import Embedder, MatchesWords
from dowse.types.commit_values import CommitHit, Hunk

COVERAGE_WEIGHT = 1.0
HUNK_WEIGHT = 0.5
"""What the covered words, and the hunk nearest in meaning, count beside the rating of the message. Chosen by the
questions about commits that decide (``benchmarks/sets/history.jsonl``)."""

MAX_TEXT_CHARS = 6000
MAX_BODY_CHARS = 500
MAX_HUNKS = 12
MAX_HUNK_CHARS = 600
"""How much of a commit is compared with a query."""

SHOWN_HUNKS = 3
"""Hunks of a commit that are shown: those with most of the query."""


class CommitRater:
    """Rates commits by one query; without vectors, by the words that they share with it."""

    def __init__(
        self,
        query: str,
        worths: Mapping[str, float],
        embedder: Embedder | None,
        word_vectors: MatchesWords | None,
    ) -> None:
        self._worths = worths
        self._words = frozenset(worths)
        self._total = sum(worths.values()) or 1.0
        self._embedder = embedder
        self._vector = list(embedder.embed_query(query)) if embedder else []
        self._word_vectors = word_vectors

    def rate(self, commits: Sequence[CommitHit]) -> list[CommitHit]:
        """Add to the score of each commit what it has of the query, and keep the hunks that have most."""
        texts = [_join_text(commit).encode("utf-8", "replace") for commit in commits]
        covered, nearest = self._cover(texts), self._find_nearest(commits)
        return [
            commit._replace(
                score=commit.score + COVERAGE_WEIGHT * covered[n] + HUNK_WEIGHT * nearest[n],
                hunks=self._choose_hunks(commit.hunks),
            )
            for n, commit in enumerate(commits)
        ]

    def _cover(self, texts: Sequence[bytes]) -> list[float]:
        """Return the share of the query that each text has."""
        matcher = self._word_vectors
        known = matcher.match_words(list(self._worths), texts) if matcher and texts else {}
        unknown = self._words.difference(known)
        found = [tokens.find_tokens(text, unknown) if unknown else frozenset() for text in texts]
        return [
            (
                sum([self._worths[word] * row[n] for word, row in known.items()])
                + sum([self._worths[word] for word in found[n]])
            )
            / self._total
            for n in range(len(texts))
        ]

    def _find_nearest(self, commits: Sequence[CommitHit]) -> list[float]:
        """Return how near the nearest hunk of each commit is in meaning."""
        embedder = self._embedder
        texts = [
            [_join_hunk(hunk)[:MAX_HUNK_CHARS] for hunk in commit.hunks[:MAX_HUNKS]] for commit in commits
        ]
        if embedder is None or not any(texts):
            return [0.0] * len(commits)
        vectors = embedder.embed_documents([text for each in texts for text in each])
        cosines: Iterator[float] = (sum(map(mul, vector, self._vector)) for vector in vectors.tolist())
        return [max([next(cosines) for _ in each], default=0.0) for each in texts]

    def _choose_hunks(self, hunks: Sequence[Hunk]) -> tuple[Hunk, ...]:
        """Choose the hunks with most of the query, in their order; if none has any of it, the first."""
        rated = sorted(
            (
                (sum([self._worths[word] for word in self._find_words(hunk)]), -n)
                for n, hunk in enumerate(hunks)
            ),
            reverse=True,
        )
        best = sorted(-n for rank, (value, n) in enumerate(rated[:SHOWN_HUNKS]) if value or not rank)
        return tuple(hunks[n] for n in best)

    def _find_words(self, hunk: Hunk) -> frozenset[str]:
        return tokens.find_tokens(_join_hunk(hunk).encode("utf-8", "replace"), self._words)


def _join_hunk(hunk: Hunk) -> str:
    """Join the name of a file, what a hunk is in, and its changed lines."""
    return "\n".join((hunk.path, hunk.within, *(line[1:] for line in hunk.lines if line[0] != " ")))


def _join_text(commit: CommitHit) -> str:
    """Join the message of a commit and its changed lines."""
    diff = "\n".join(map(_join_hunk, commit.hunks))
    return f"{commit.subject}\n{commit.body[:MAX_BODY_CHARS]}\n{diff[:MAX_TEXT_CHARS]}"
