"""History search: find the commits that answer a query, by their messages and by what they changed; blame by entity.

Messages come from the commit index (``commit_index.py``), by words and by meaning. What is best by them is read from
git with its diff, and ranked again (``commit_rating.py``).
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Protocol

from dowse.embedders.embedder import Embedder, MatchesWords
from dowse.errors import UsageError
from dowse.search.commit_index import SHA_DIGITS, CommitIndex
from dowse.search.commit_rating import CommitRater
from dowse.search.query.analyze import analyze_text
from dowse.search.secret_masking import mask_commit
from dowse.services import commit_details
from dowse.settings import Settings
from dowse.types.answers import SearchResult
from dowse.types.commit_values import BlamedEntity, HistoryAnswer, HistoryOptions
from dowse.types.queries import Term

READ_COMMITS = 100
"""Commits whose diffs are read: the best by their messages."""

MEANING_WEIGHT = 1.0
"""What likeness in meaning counts, beside the words of the message."""

MAX_BLAMED_ENTITIES = 40
"""Definitions of a file that are blamed one by one."""

NO_HISTORY = "there is no history to search: no git repository, or 'history_weight' is 0"


class HistorySource(Protocol):
    """What the history is asked with: a tree, its index, the commits in it."""

    root: Path
    settings: Settings

    @property
    def subject_embedder(self) -> Embedder | None:
        """The embedder for the subjects of commits."""

    @property
    def word_vectors(self) -> MatchesWords | None:
        """What compares single words by meaning, if there is something."""

    def refresh(self) -> object:
        """Bring the index up to date."""

    def load_history(self) -> CommitIndex | None:
        """Load the index of commits; None without git history."""

    def read(self, target: str, *, outline: bool = False) -> tuple[SearchResult, ...]:
        """Read a place, or the definitions of a file."""


class CodeHistory:
    """What the history of a tree can be asked: ``engine.history.search("why was retry added")``."""

    def __init__(self, source: HistorySource) -> None:
        self._root = source.root
        self._source = source

    def search(self, query: str, options: HistoryOptions | None = None) -> HistoryAnswer:
        """Find the commits that answer a query, best first; without a query, the newest that pass the filter."""
        options = options or HistoryOptions()
        if not (query.strip() or options.narrows):
            raise UsageError(
                "say what to look for in the history, or narrow it by author, date, range or path"
            )
        self._source.refresh()
        index = self._source.load_history()
        if index is None:
            raise UsageError(NO_HISTORY)
        allowed = self._list_allowed(index, options)
        terms = analyze_text(query, lambda suffix: False).terms
        rated = self._rate(index, query, terms, allowed) if query.strip() else dict.fromkeys(allowed, 0.0)
        best = sorted(rated, key=lambda commit: (-rated[commit], commit))
        read = best[: max(READ_COMMITS, options.limit)] if terms else best[: options.limit]
        details = commit_details.read_details(self._root, [index.labels[n][:SHA_DIGITS] for n in read])
        by_prefix = {sha[:SHA_DIGITS]: commit for sha, commit in details.items()}
        found = [
            by_prefix[sha]._replace(score=rated[n])
            for n in read
            if (sha := index.labels[n][:SHA_DIGITS]) in by_prefix
        ]
        if terms:
            source = self._source
            rater = CommitRater(
                query, index.compute_worths(terms), source.subject_embedder, source.word_vectors
            )
            found = rater.rate(found)
        found.sort(key=lambda commit: -commit.score)  # stable: without a query, the newest come first
        notes = () if allowed else ("no commit passes the filter",)
        shown = found[: options.limit]
        if self._source.settings.mask_secrets:
            shown = list(map(mask_commit, shown))
        return HistoryAnswer(tuple(shown), len(allowed), notes)

    def _list_allowed(self, index: CommitIndex, options: HistoryOptions) -> Sequence[int]:
        """List the commits of the index that pass the filter, newest first."""
        if not options.narrows:
            return range(len(index.labels))
        shas = commit_details.list_shas(
            self._root, author=options.author, since=options.since, span=options.span, paths=options.paths
        )
        wanted = {sha[:SHA_DIGITS] for sha in shas}
        return [n for n, label in enumerate(index.labels) if label[:SHA_DIGITS] in wanted]

    def _rate(
        self, index: CommitIndex, query: str, terms: Sequence[Term], allowed: Sequence[int]
    ) -> dict[int, float]:
        """Rate commits by the words of their messages, and by how near their subjects are in meaning."""
        by_words = index.rate_commits(terms)
        rated = {n: by_words.get(n, 0.0) for n in allowed}
        embedder = self._source.subject_embedder
        if embedder is None or not rated:
            return {n: score for n, score in rated.items() if score}
        chosen = list(rated)
        subjects = embedder.embed_documents([index.labels[n][SHA_DIGITS + 1 :] for n in chosen])
        wanted = list(embedder.embed_query(query))
        for n, cosine in zip(chosen, (subjects @ wanted).tolist(), strict=True):
            rated[n] += MEANING_WEIGHT * max(0.0, cosine)
        return rated

    def blame(self, target: str) -> tuple[BlamedEntity, ...]:
        """Say who wrote the lines of a place and why: of a file, each of its definitions; moves are followed."""
        places = self._source.read(target)
        if len(places) == 1 and not places[0].entity and ":" not in target:
            outline = self._source.read(target, outline=True)
            places = tuple(hit for hit in outline if hit.entity)[:MAX_BLAMED_ENTITIES] or places
        return tuple(
            BlamedEntity(
                place.path,
                place.start_line,
                place.end_line,
                place.entity,
                tuple(commit_details.blame(self._root, place.path, place.start_line, place.end_line)),
            )
            for place in places
        )
