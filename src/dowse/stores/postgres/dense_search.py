"""Approximate nearest neighbour search on PostgreSQL (pgvector HNSW), or exact comparison where that is as fast.

Results of the graph are checked against a sample, since a filter can make it miss hits.
"""

from __future__ import annotations

from collections.abc import Sequence
from operator import itemgetter
from typing import Any

import numpy as np
from psycopg import sql

from dowse.stores.postgres import filter_sql, schema
from dowse.stores.postgres.filter_cache import FilterCache
from dowse.stores.postgres.filter_sql import WhereClause
from dowse.stores.postgres.postings import Array
from dowse.stores.postgres.transaction import SqlRows, Transaction
from dowse.types.stored import CHUNK_BITS, Filter, Scored, best_first

EXACT_CHUNKS = 20_000
"""Where a filter leaves no more than this, all of them are compared with the query: as fast as the graph, which
would have to skip too much, and exact."""

SAMPLE_CHUNKS = 3_000
"""Chunks that are compared to see whether the graph missed hits: enough to have some of the best hundred of 100,000."""

MAX_EXACT_CHUNKS = 300_000
"""More than this are never compared one by one, which takes 0.3 microseconds each: then the sample's hits are added."""

SAFE_SHARE = 0.8
"""The part of what the graph finds in which it must not have missed any of the sample; of those further off, the
sample's are added, and a few more may be missing."""

MAX_GRAPH_HITS = 500
"""With a larger limit the graph is not used: it finds the nearest, not all."""


class DenseSearch:
    """Nearest neighbour search over the vectors of one snapshot."""

    def __init__(self, transaction: Transaction, filters: FilterCache) -> None:
        self._transaction = transaction
        self._filters = filters

    def search(self, vector: Sequence[float], filter: Filter, limit: int) -> list[Scored]:
        """Rank chunks by cosine."""
        if limit < 1 or len(vector) not in self._transaction.state.dimensions:
            return []
        table = schema.dense_table(self._transaction.view, len(vector))
        params = {"query": _to_halfvec(vector), "limit": limit}
        if filter.about_chunks:
            rows = self._search_chunks(table, params, self._filters.find_chunks(filter))
        elif limit <= MAX_GRAPH_HITS and self._filters.count_reachable_chunks(filter) > EXACT_CHUNKS:
            rows = self._search_graph(table, params, filter)
        else:
            rows = self._search_exactly(table, params, self._filters.find_files(filter))
        scores = [0.0 if distance != distance else 1.0 - distance for _, distance in rows]
        return best_first([chunk for chunk, _ in rows], scores)

    def score_files(self, vector: Sequence[float], files: Sequence[int]) -> dict[int, list[float]]:
        """Compare the vector with all chunks of some files: the cosines of each, in order."""
        if not files or len(vector) not in self._transaction.state.dimensions:
            return {}
        table = schema.dense_table(self._transaction.view, len(vector))
        params = {"query": _to_halfvec(vector), "limit": None}
        rows = self._search_exactly(table, params, np.asarray(files, dtype=np.int64))
        found: dict[int, list[float]] = {}
        for chunk, distance in sorted(rows):
            found.setdefault(chunk >> CHUNK_BITS, []).append(0.0 if distance != distance else 1.0 - distance)
        return found

    def _search_graph(self, table: sql.Identifier, params: dict[str, Any], filter: Filter) -> SqlRows:
        """Search along the graph, which goes on until enough pass. It can miss: if a sample of all chunks has one
        that it did not find and that is nearer than most that it found, all are compared.
        """
        passes, values = self._name_parameters(filter_sql.file_conditions(filter))
        share = min(100.0, 100.0 * SAMPLE_CHUNKS / max(1, self._transaction.state.chunks))
        best = "ORDER BY embedding <=> %(query)s::halfvec LIMIT %(limit)s"
        query = sql.SQL(
            "(SELECT chunk, embedding <=> %(query)s::halfvec, true FROM {table} d "
            + passes
            + best
            + ") UNION ALL "
            "(SELECT chunk, embedding <=> %(query)s::halfvec, false FROM {table} d "
            "TABLESAMPLE SYSTEM (%(share)s) REPEATABLE (1) " + passes + best + ")"
        ).format(table=table)
        rows = self._transaction.fetch_rows(query, params | values | {"share": share})
        found = {chunk: distance for chunk, distance, along in rows if along}
        missed = [(chunk, distance) for chunk, distance, _ in rows if chunk not in found]
        if self._has_missed_hits(sorted(found.values()), missed, params["limit"]):
            return self._search_exactly(table, params, self._filters.find_files(filter))
        return sorted([*found.items(), *missed], key=itemgetter(1))[: params["limit"]]

    def _has_missed_hits(self, found: Sequence[float], missed: SqlRows, limit: int) -> bool:
        """Whether a chunk that was missed is nearer than most that were found, and comparing all is possible."""
        limit_distance = found[int(SAFE_SHARE * limit)] if len(found) == limit else np.inf
        return self._transaction.state.chunks <= MAX_EXACT_CHUNKS and any(
            near < limit_distance for _, near in missed
        )

    def _name_parameters(self, where: WhereClause) -> tuple[str, dict[str, Any]]:
        """Turn conditions into those on a chunk's file, with their parameters by name."""
        if not where.text:
            return "", {}
        named = [f"filter{i}" for i in range(len(where.values))]
        text = where.text.replace("%s", "%({})s").format(*named)
        passes = f"WHERE EXISTS (SELECT FROM files f WHERE f.view = %(view)s AND f.id = d.chunk >> 20{text}) "
        return passes, dict(zip(named, where.values, strict=True)) | {"view": self._transaction.view}

    def _search_exactly(self, table: sql.Identifier, params: dict[str, Any], files: Array | None) -> SqlRows:
        """Compare every chunk of some files, or of all; "+ 0" keeps the graph out of it."""
        among, values = "FROM {} d", {}
        if files is not None:
            values = {"files": files.tolist()}
            among = (
                "FROM unnest(%(files)s::bigint[]) file CROSS JOIN LATERAL "
                "(SELECT * FROM {} WHERE chunk BETWEEN file << 20 AND file << 20 | 1048575 OFFSET 0) d"
            )
        query = sql.SQL(
            "SELECT d.chunk, (d.embedding <=> %(query)s::halfvec) + 0 AS distance "
            + among
            + " ORDER BY 2, 1 LIMIT %(limit)s"
        ).format(table)
        return self._transaction.fetch_rows(query, params | values)

    def _search_chunks(self, table: sql.Identifier, params: dict[str, Any], chunks: Array) -> SqlRows:
        """Compare the chunks of these ids."""
        query = sql.SQL(
            "WITH near AS MATERIALIZED (SELECT chunk, embedding <=> %(query)s::halfvec AS distance FROM {} "
            "WHERE chunk = ANY(%(chunks)s)) SELECT chunk, distance FROM near ORDER BY distance, chunk LIMIT %(limit)s"
        ).format(table)
        return self._transaction.fetch_rows(query, params | {"chunks": chunks.tolist()})

    def list_chunks(self) -> list[int]:
        """List every chunk that has a vector."""
        found: list[int] = []
        for dimensions in self._transaction.state.dimensions:
            table = schema.dense_table(self._transaction.view, dimensions)
            found += [
                id for (id,) in self._transaction.fetch_rows(sql.SQL("SELECT chunk FROM {}").format(table))
            ]
        return found


def _to_halfvec(vector: Sequence[float]) -> str:
    """Write a vector as the server reads it, no more exact than it stores it."""
    return "[" + ",".join(map(str, np.asarray(vector, dtype=np.float16).tolist())) + "]"
