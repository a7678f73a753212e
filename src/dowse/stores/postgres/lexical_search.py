"""The lexical channel: fetches the posting lists of a question's words and ranks chunks by them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from dowse.stores.postgres import postings
from dowse.stores.postgres.filter_cache import Filters
from dowse.stores.postgres.postings import FIELDS, Shares, Statistics
from dowse.stores.postgres.read_cache import Remembered
from dowse.stores.postgres.transaction import Session
from dowse.types import Filter, Scored, Term

BODY = FIELDS.index("body")


class Lexical:
    """Words of one snapshot."""

    def __init__(self, session: Session, remembered: Remembered, filters: Filters) -> None:
        self._session = session
        self._remembered = remembered
        self._filters = filters
        self._held: dict[str, int] = {}  # tokens of this question, and how many bodies have them

    def search(
        self, terms: Sequence[Term], fields: Mapping[str, float], filter: Filter, limit: int
    ) -> list[Scored]:
        """Chunks by BM25 over the posting lists of the terms."""
        used = [term for term in terms if term.weight]
        known = self._shares([term.text for term in used], fields)
        if limit < 1 or not any(len(part.places) for part in known.values()):
            return []
        layout = self._filters.layout
        sums = postings.scores(layout, ((term.weight, known[term.text]) for term in used))
        return postings.best(layout, sums, self._filters.passes(filter), limit)

    def frequency(self, token: str) -> int:
        """How many chunks have a token in their body."""
        if token not in self._held:
            self._shares([token], {})
        return self._held[token]

    def _shares(self, tokens: Sequence[str], fields: Mapping[str, float]) -> Mapping[str, Shares]:
        """What tokens add to scores."""
        weights = tuple(fields.get(field, 0.0) for field in FIELDS)
        remembered = self._remembered.shares
        found = {token: part for token in tokens if (part := remembered.get((token, weights))) is not None}
        missing = sorted({token for token in tokens if token not in found})
        lists = self._lists(missing) if missing else {}
        statistics = Statistics(self._session.state.chunks, self._session.state.tokens)
        for token in missing:
            part = postings.shares(lists[token], fields, statistics) if token in lists else postings.NOTHING
            remembered.put((token, weights), part, part.size)
            found[token] = part
        self._held.update((token, int(part.holders[BODY])) for token, part in found.items())
        return found

    def _lists(self, tokens: Sequence[str]) -> postings.Lists:
        layout = self._filters.layout
        rows = self._session.ask(
            "SELECT token, segment, data FROM postings WHERE view = %s AND segment = ANY(%s) AND token = ANY(%s)",
            [self._session.view, list(layout.segments), [token for token in tokens if "\0" not in token]],
            prepare=True,
        )
        return postings.unpacked(layout, rows)
