"""BM25 search on PostgreSQL: fetch the posting lists of a query's terms, score on the client, cache term scores."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from dowse.stores.postgres import postings
from dowse.stores.postgres.filter_cache import FilterCache
from dowse.stores.postgres.postings import FIELDS, Statistics, TermScores
from dowse.stores.postgres.read_cache import ReadCache
from dowse.stores.postgres.transaction import Transaction
from dowse.types.queries import Term
from dowse.types.stored import DEFAULT_BM25, Bm25, Filter, Scored, shortest_first

BODY_FIELD = FIELDS.index("body")

MAX_OTHER_FIELDS = 10
"""Tokens with a part that are looked at for each one that is wanted: some are only words of paths."""


class LexicalSearch:
    """BM25 search in one snapshot."""

    def __init__(self, transaction: Transaction, cache: ReadCache, filters: FilterCache) -> None:
        self._transaction = transaction
        self._cache = cache
        self._filters = filters
        self._body_counts: dict[
            str, int
        ] = {}  # tokens of this query, and how many chunks have them in their body

    def search(
        self,
        terms: Sequence[Term],
        fields: Mapping[str, float],
        filter: Filter,
        limit: int,
        bm25: Bm25 = DEFAULT_BM25,
    ) -> list[Scored]:
        """Rank chunks by BM25 over the posting lists of the terms; return the top k."""
        used = [term for term in terms if term.weight]
        known = self._load_term_scores([term.text for term in used], fields, bm25)
        if limit < 1 or not any(len(part.positions) for part in known.values()):
            return []
        layout = self._filters.layout
        sums = postings.sum_scores(layout, ((term.weight, known[term.text]) for term in used))
        return postings.top_k(layout, sums, self._filters.chunk_mask(filter), limit)

    def document_frequency(self, token: str) -> int:
        """Count the chunks that have a token in their body."""
        if token not in self._body_counts:
            self._load_term_scores([token], {})
        return self._body_counts[token]

    def find_tokens(self, part: str, limit: int) -> list[str]:
        """Find tokens of bodies that contain a text, shortest first."""
        rows = self._transaction.fetch_rows(
            "SELECT DISTINCT token FROM postings WHERE view = %s AND segment = ANY(%s) AND strpos(token, %s) > 0",
            [self._transaction.view, list(self._filters.layout.segments), part],
        )
        held = shortest_first((token for (token,) in rows), MAX_OTHER_FIELDS * limit)
        self._load_term_scores(held, {})
        return [token for token in held if self._body_counts[token]][:limit]

    def _load_term_scores(
        self, tokens: Sequence[str], fields: Mapping[str, float], bm25: Bm25 = DEFAULT_BM25
    ) -> Mapping[str, TermScores]:
        """Load what tokens add to scores."""
        weights = tuple(fields.get(field, 0.0) for field in FIELDS)
        cache = self._cache.term_scores
        found = {token: part for token in tokens if (part := cache.get((token, weights, bm25))) is not None}
        missing = sorted({token for token in tokens if token not in found})
        lists = self._load_lists(missing) if missing else {}
        statistics = Statistics(self._transaction.state.chunks, self._transaction.state.tokens)
        for token in missing:
            part = (
                postings.score_term(lists[token], fields, statistics, bm25)
                if token in lists
                else postings.NO_SCORES
            )
            cache.put((token, weights, bm25), part, part.size)
            found[token] = part
        self._body_counts.update((token, int(part.chunk_counts[BODY_FIELD])) for token, part in found.items())
        return found

    def _load_lists(self, tokens: Sequence[str]) -> postings.PostingLists:
        layout = self._filters.layout
        rows = self._transaction.fetch_rows(
            "SELECT token, segment, data FROM postings WHERE view = %s AND segment = ANY(%s) AND token = ANY(%s)",
            [self._transaction.view, list(layout.segments), [token for token in tokens if "\0" not in token]],
            prepare=True,
        )
        return postings.unpack_postings(layout, rows)
