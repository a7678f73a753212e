"""Searches of one generation on OpenSearch: BM25, nearest neighbours, names; filters and visibility inside each."""

from __future__ import annotations

import math
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from dowse.errors import IndexUnreachable, UsageError
from dowse.lru import LruCache
from dowse.stores import name_match
from dowse.stores.channels_protocol import FindChanged, VisibleGeneration
from dowse.stores.opensearch.cluster_client import ClusterClient
from dowse.stores.opensearch.documents import cut_keyword, quantize_to_bytes
from dowse.stores.opensearch.index_mapping import (
    MAX_HITS,
    WORD_FIELDS,
    chunk_index,
    name_index,
    pack_boost,
    vector_field,
)
from dowse.stores.opensearch.query_filter import (
    Clause,
    among,
    chunk_clauses,
    entity_clauses,
    file_clauses,
    join,
    match_name,
    visible_clauses,
)
from dowse.stores.postgres.filter_sql import letter_bits
from dowse.stores.postgres.read_cache import NameList
from dowse.types.queries import Term
from dowse.types.source import ChunkTerms, Kind
from dowse.types.stored import (
    DEFAULT_BM25,
    Bm25,
    Filter,
    NameHit,
    NameTier,
    Scored,
    best_first,
    shortest_first,
    split_chunk_id,
)

EXACT_CHUNKS = 10_000
"""In an index of no more chunks, all that pass are compared with the query: as fast as the graph, and exact."""

MAX_GRAPH_HITS = 500
"""With a larger limit the graph is not used: it finds the nearest, not all."""

GRAPH_CANDIDATES = 200
"""Chunks that are looked at along the graph at least, and twice as many as are wanted."""

MAX_CLAUSES = 900
"""Words times fields of a query; the engine allows 1,024 clauses. Those that add least are passed over."""

PAGE_ROWS = 5_000
"""Rows that are listed in one request."""

MAX_TOKEN_CHUNKS = 2_000
"""Chunks that are read to find tokens by a part of them."""

MAX_SNAPSHOT_SECONDS = 1800.0
"""How long a snapshot can be read; what it shows is kept for twice as long after it was removed."""

HOT_AFTER_QUERIES = 3
"""After so many searches of one generation it pays to read the list of all names: most lookups find nothing."""

MAX_LISTED_NAMES = 200_000
"""Longer lists stay in the cluster."""

PAGE_NAMES = 10_000
"""Names that are listed in one request."""

Counts = LruCache[tuple[str, int, str, str], int]
"""How many chunks have a token in a field: by index, generation, field, token."""


@dataclass
class KnownNames:
    """All names of one generation, once they are read often; none if they are too many."""

    hot_after: int = HOT_AFTER_QUERIES
    searches: int = 0
    names: NameList | None = None


class ClusterSnapshot:
    """One generation of an index in the channels of a cluster."""

    def __init__(
        self,
        client: ClusterClient,
        visible: VisibleGeneration,
        find_changed: FindChanged,
        counts: Counts,
        known: KnownNames,
    ) -> None:
        self._client = client
        self._visible = visible
        self._find_changed = find_changed
        self._counts = counts
        self._known = known
        self._chunks = chunk_index(client.address.prefix)
        self._names = name_index(client.address.prefix)
        self._opened = time.monotonic()

    # --- words ---

    def lexical(
        self,
        terms: Sequence[Term],
        fields: Mapping[str, float],
        filter: Filter,
        limit: int,
        bm25: Bm25 = DEFAULT_BM25,
    ) -> list[Scored]:
        """Rank chunks by BM25: the engine adds up words, whose rarity in this index comes with the query."""
        if bm25 != DEFAULT_BM25:
            raise UsageError(
                f"the indexes of a cluster have k1 {DEFAULT_BM25.k1} and b {DEFAULT_BM25.b} built in: "
                "leave bm25_k1 and bm25_b as they are, or use another store"
            )
        boosts = self._compute_boosts(terms, fields)
        if limit < 1 or not boosts:
            return []
        averages, heaviest = self._average_lengths(), boosts[0][1]
        should = [
            {"term": {field: {"value": token, "boost": pack_boost(boost / heaviest, averages[field])}}}
            for (field, token), boost in boosts
        ]
        query = {
            "bool": {
                "should": should,
                "minimum_should_match": 1,
                "filter": self._list_clauses(filter, chunk_clauses(filter)),
            }
        }
        return self._rank(query, limit, lambda score: score * heaviest)

    def _average_lengths(self) -> dict[str, float]:
        """Compute how many tokens a chunk has on average, by field."""
        counts = zip(WORD_FIELDS, self._visible.tokens, strict=True)
        return {field: max(tokens, 1) / max(self._visible.chunks, 1) for field, tokens in counts}

    def _compute_boosts(
        self, terms: Sequence[Term], fields: Mapping[str, float]
    ) -> list[tuple[tuple[str, str], float]]:
        """Compute a boost for each token in each field, by its rarity in this generation; none for those not there."""
        weights: dict[tuple[str, str], float] = {}
        for term in terms:
            for name, field in zip(ChunkTerms._fields, WORD_FIELDS, strict=True):
                if weight := term.weight * fields.get(name, 0.0):
                    weights[field, term.text] = weights.get((field, term.text), 0.0) + weight
        counts = self._count_chunks(list(weights))
        total = self._visible.chunks
        boosts = {
            key: weight * math.log(1 + (total - counts[key] + 0.5) / (counts[key] + 0.5))
            for key, weight in weights.items()
            if counts[key] and weight > 0
        }
        return sorted(boosts.items(), key=lambda item: -item[1])[:MAX_CLAUSES]

    def _count_chunks(self, keys: Sequence[tuple[str, str]]) -> dict[tuple[str, str], int]:
        """Count the chunks of this generation that have tokens in fields."""
        state = self._visible.identity, self._visible.generation
        found: dict[tuple[str, str], int] = {}
        for key in keys:
            if (count := self._counts.get((*state, *key))) is not None:
                found[key] = count
        missing = [key for key in dict.fromkeys(keys) if key not in found]
        for start in range(0, len(missing), MAX_CLAUSES):
            some = missing[start : start + MAX_CLAUSES]
            wanted = {str(i): {"term": {field: token}} for i, (field, token) in enumerate(some)}
            answer = self._search(
                self._chunks,
                {
                    "size": 0,
                    "query": join(visible_clauses(self._visible)),
                    "aggs": {"tokens": {"filters": {"filters": wanted}}},
                },
            )
            buckets = answer["aggregations"]["tokens"]["buckets"]
            for i, key in enumerate(some):
                found[key] = int(buckets[str(i)]["doc_count"])
                self._counts.put((*state, *key), found[key])
        return found

    def document_frequency(self, token: str) -> int:
        """Count the chunks that have a token in their body."""
        return self._count_chunks([("words_body", token)])["words_body", token]

    def find_tokens(self, part: str, limit: int) -> list[str]:
        """Find tokens of bodies that contain a text, shortest first; in a large index, those of some chunks."""
        escaped = "".join(c if c.isalnum() else f"\\{c}" for c in part)
        matching = {"regexp": {"words_body": {"value": f".*{escaped}.*", "flags": "NONE"}}}
        query = join([*visible_clauses(self._visible), matching])
        answer = self._search(
            self._chunks,
            {"size": MAX_TOKEN_CHUNKS, "query": query, "_source": ["words_body"], "sort": ["chunk"]},
        )
        held = {token for hit in answer["hits"]["hits"] for token in hit["_source"]["words_body"].split()}
        return shortest_first((token for token in held if part in token), max(0, limit))

    def chunk_count(self) -> int:
        """Count the chunks."""
        return self._visible.chunks

    # --- vectors ---

    def dense(self, vector: Sequence[float], filter: Filter, limit: int) -> list[Scored]:
        """Rank chunks by cosine: all of them in a small index, along the graph in a large one."""
        packed = quantize_to_bytes(vector)
        if limit < 1 or packed is None:
            return []
        field = vector_field(len(vector))
        clauses = [*self._list_clauses(filter, chunk_clauses(filter)), {"exists": {"field": field}}]
        if self._visible.chunks <= EXACT_CHUNKS or limit > MAX_GRAPH_HITS:
            return self._rank(_compare_all(field, packed, clauses), limit, lambda score: score - 1.0)
        wanted = max(2 * limit, GRAPH_CANDIDATES)
        query = {"knn": {field: {"vector": packed, "k": wanted, "filter": join(clauses)}}}
        return self._rank(query, limit, lambda score: 2.0 * score - 1.0)

    def file_cosines(self, vector: Sequence[float], files: Sequence[int]) -> dict[int, list[float]]:
        """Compare the vector with all chunks of some files."""
        packed = quantize_to_bytes(vector)
        if not files or packed is None:
            return {}
        field = vector_field(len(vector))
        clauses = [*visible_clauses(self._visible), among("file", files), {"exists": {"field": field}}]
        hits = self._rank(_compare_all(field, packed, clauses), MAX_HITS, lambda score: score - 1.0)
        found: dict[int, dict[int, float]] = {}
        for hit in hits:
            file, ordinal = split_chunk_id(hit.chunk)
            found.setdefault(file, {})[ordinal] = hit.score
        return {
            file: [scores.get(ordinal, 0.0) for ordinal in range(max(scores) + 1)]
            for file, scores in found.items()
        }

    # --- names ---

    def names(self, pattern: str, tier: NameTier, filter: Filter, limit: int) -> list[NameHit]:
        """Find entities by name."""
        if limit < 1:
            return []
        match = self._match_known(pattern, tier)
        if match is None:
            return []
        clauses = self._list_clauses(filter, entity_clauses(filter))
        answer = self._search(
            self._names,
            {
                "size": _check_limit(limit),
                "query": join([*clauses, match]),
                "sort": ["name_key", "path", "ordinal"],
                "_source": ["file", "ordinal", "chunk", "kind"],
            },
        )
        rows = [hit["_source"] for hit in answer["hits"]["hits"]]
        return [NameHit(row["file"], row["ordinal"], row["chunk"], tier, Kind(row["kind"])) for row in rows]

    def _match_known(self, pattern: str, tier: NameTier) -> Clause | None:
        """Make the clause for a name of a tier; None if the list of names says that nothing matches."""
        names, key = self._load_names(), cut_keyword(pattern.lower())
        if names is None or tier is NameTier.GLOB:
            return _match_tier(pattern, tier)
        if tier is NameTier.FUZZY:
            near = names.find_near(len(key), letter_bits(key), name_match.max_typos(key))
            alike = [name for name in near if name_match.matches(NameTier.FUZZY, key, name)]
            return {"terms": {"name_key": alike}} if alike else None
        is_there = names.has_prefix(key) if tier is NameTier.PREFIX else names.has(key)
        return _match_tier(pattern, tier) if is_there else None

    def _load_names(self) -> NameList | None:
        """Read the list of all names, if they are read often and are not too many."""
        known = self._known
        if known.searches <= known.hot_after:
            return None
        if known.names is None:
            keys: list[str] = []
            pages: dict[str, Any] = {
                "size": PAGE_NAMES,
                "sources": [{"name": {"terms": {"field": "name_key"}}}],
            }
            body = {
                "size": 0,
                "query": join(visible_clauses(self._visible)),
                "aggs": {"by": {"composite": pages}},
            }
            while len(keys) <= MAX_LISTED_NAMES:
                buckets = self._search(self._names, body)["aggregations"]["by"]["buckets"]
                keys += [bucket["key"]["name"] for bucket in buckets]
                if len(buckets) < PAGE_NAMES:
                    break
                pages["after"] = buckets[-1]["key"]
            listed = [] if len(keys) > MAX_LISTED_NAMES else sorted(keys)
            known.names = NameList([(key, letter_bits(key)) for key in listed])
        return known.names if known.names.keys else None

    # --- what is indexed ---

    def list_chunks(self) -> dict[int, tuple[list[int], list[int]]]:
        """List for each file its chunks that have words, and those that have a vector."""
        found: dict[int, tuple[list[int], list[int]]] = {}
        for row in self._list_rows():
            file, ordinal = split_chunk_id(row["chunk"])
            words, vectors = found.setdefault(file, ([], []))
            words.append(ordinal)
            if row["dimensions"]:
                vectors.append(ordinal)
        return found

    def _list_rows(self) -> Iterator[dict[str, int]]:
        after: list[int] = []
        while True:
            body: dict[str, Any] = {
                "size": PAGE_ROWS,
                "query": join(visible_clauses(self._visible)),
                "sort": ["chunk"],
                "_source": ["chunk", "dimensions"],
            }
            hits = self._search(self._chunks, body | ({"search_after": after} if after else {}))["hits"][
                "hits"
            ]
            yield from (hit["_source"] for hit in hits)
            if len(hits) < PAGE_ROWS:
                return
            after = hits[-1]["sort"]

    # --- requests ---

    def _list_clauses(self, filter: Filter, more: Sequence[Clause]) -> list[Clause]:
        return [*visible_clauses(self._visible), *file_clauses(filter, self._find_changed), *more]

    def _rank(self, query: Clause, limit: int, to_score: Any) -> list[Scored]:
        """Run a query whose best chunks are wanted, of equals the first."""
        answer = self._search(
            self._chunks,
            {
                "size": _check_limit(limit),
                "query": query,
                "_source": False,
                "track_total_hits": False,
                "sort": [{"_score": "desc"}, {"chunk": "asc"}],
            },
        )
        rows = [hit["sort"] for hit in answer["hits"]["hits"]]
        return best_first([int(chunk) for _, chunk in rows], [float(to_score(score)) for score, _ in rows])

    def _search(self, index: str, body: Mapping[str, Any]) -> dict[str, Any]:
        if time.monotonic() - self._opened > MAX_SNAPSHOT_SECONDS:
            raise IndexUnreachable("the index may have changed since the search began: search again")
        return self._client.search(index, body, self._visible.repository)


def _compare_all(field: str, packed: Sequence[int], clauses: Sequence[Clause]) -> Clause:
    """Make the query that compares all chunks that pass with a vector: scores are 1 + cosine."""
    parameters = {"field": field, "query_value": packed, "space_type": "cosinesimil"}
    script = {"source": "knn_score", "lang": "knn", "params": parameters}
    return {"script_score": {"query": join(clauses), "script": script}}


def _match_tier(pattern: str, tier: NameTier) -> Clause:
    """Make the clause for a name of a tier."""
    key = cut_keyword(pattern.lower())
    if tier is NameTier.EXACT:
        return {"term": {"name": cut_keyword(pattern)}}
    if tier is NameTier.CASE:
        return {"term": {"name_key": key}}
    if tier is NameTier.PREFIX:
        return {"prefix": {"name_key": key}}
    if tier is NameTier.GLOB:
        return match_name("name_key", pattern)
    edits = name_match.max_typos(key)
    if not edits:
        return {"term": {"name_key": key}}
    similar = {"value": key, "fuzziness": edits, "transpositions": True, "rewrite": "constant_score"}
    return {"fuzzy": {"name_key": similar}}


def _check_limit(limit: int) -> int:
    if limit > MAX_HITS:
        raise UsageError(f"a cluster gives at most {MAX_HITS} hits at once, not {limit}: use a smaller limit")
    return limit
