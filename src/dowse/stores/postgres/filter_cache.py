"""Cached filter results on PostgreSQL: the ids of files and chunks that pass a filter, queried once."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from dowse.stores.postgres import filter_sql
from dowse.stores.postgres.filter_sql import WhereClause
from dowse.stores.postgres.postings import AllowedIds, Array, ChunkLayout, PostingSegment
from dowse.stores.postgres.read_cache import ReadCache
from dowse.stores.postgres.transaction import Transaction
from dowse.types.stored import Filter


class FilterCache:
    """Evaluates the filters of one snapshot to sets of ids, and caches them."""

    def __init__(self, transaction: Transaction, cache: ReadCache) -> None:
        self._transaction = transaction
        self._cache = cache

    @property
    def layout(self) -> ChunkLayout:
        """The chunks of the view in a row."""
        cache = self._cache
        if cache.layout is None:
            rows = self._transaction.fetch_rows(
                "SELECT number, files, chunks, removed FROM segments WHERE view = %s ORDER BY number",
                [self._transaction.view],
            )
            cache.layout = ChunkLayout(PostingSegment.from_row(*row) for row in rows)
        return cache.layout

    def find_allowed(self, filter: Filter) -> AllowedIds:
        """Find the ids of the files and chunks that pass a filter."""
        if not (filter.about_files or filter.about_chunks):
            return AllowedIds()
        found = self._cache.allowed.get(filter)
        if found is None:
            found = self._query_allowed(filter)
            self._cache.allowed.put(filter, found)
        return found

    def find_files(self, filter: Filter) -> Array | None:
        """Find the files that pass a filter, apart from its conditions on chunks; None for all."""
        return self.find_allowed(replace(filter, kinds=frozenset(), not_kinds=frozenset(), names=())).files

    def chunk_mask(self, filter: Filter) -> Array | None:
        """Mark the chunks of the layout that pass; None for all."""
        if not (filter.about_files or filter.about_chunks):
            return None
        found = self._cache.chunk_masks.get(filter)
        if found is None:
            found = self.find_allowed(filter).mask(self.layout)
            assert found is not None
            self._cache.chunk_masks.put(filter, found)
        return found

    def find_chunks(self, filter: Filter) -> Array:
        """List the chunks that pass."""
        passes = self.chunk_mask(filter)
        return self.layout.ids[self.layout.live if passes is None else self.layout.live & passes]

    def count_reachable_chunks(self, filter: Filter) -> int:
        """Count the chunks of the files that pass."""
        files = self.find_files(filter)
        return self._transaction.state.chunks if files is None else self.layout.chunks_of(files)

    def _query_allowed(self, filter: Filter) -> AllowedIds:
        where = filter_sql.file_conditions(filter)
        chunks = not_chunks = None
        if filter.kinds:
            chunks = self._find_defining_chunks(filter_sql.kind_conditions(filter.kinds), where)
        if filter.names:
            named = self._find_defining_chunks(filter_sql.name_conditions(filter.names), where)
            chunks = named if chunks is None else np.intersect1d(chunks, named)
        if filter.not_kinds:
            not_chunks = self._find_defining_chunks(filter_sql.kind_conditions(filter.not_kinds), where)
        files = None
        if filter.about_files:
            query = "SELECT string_agg(int8send(f.id), ''::bytea) FROM files f WHERE f.view = %s"
            files = self._query_ids(query, where)
        return AllowedIds(files, chunks, not_chunks)

    def _find_defining_chunks(self, definition: WhereClause, where: WhereClause) -> Array:
        """Find the chunks in or around which there is such a definition."""
        return self._query_ids(
            "SELECT string_agg(int8send(f.id << 20 | place), ''::bytea) FROM files f "
            "JOIN names n ON n.content = f.content CROSS JOIN unnest(n.around || n.chunk) place WHERE f.view = %s",
            WhereClause(definition.text + where.text, definition.values + where.values),
        )

    def _query_ids(self, query: str, where: WhereClause) -> Array:
        ((packed,),) = self._transaction.fetch_rows(
            query + where.text, [self._transaction.view, *where.values]
        )
        return np.frombuffer(packed or b"", dtype=">i8").astype(np.int64)
