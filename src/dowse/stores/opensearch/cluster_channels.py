"""Channels on an OpenSearch cluster: words, vectors and names of many repositories, in two indexes that they share."""

from __future__ import annotations

import threading
import time
from collections.abc import Collection, Iterator
from typing import Any

from dowse.lru import LruCache
from dowse.stores.channels_protocol import FindChanged, PlannedCommit, VisibleGeneration
from dowse.stores.opensearch import index_mapping
from dowse.stores.opensearch.cluster_client import ClusterClient
from dowse.stores.opensearch.cluster_search import (
    HOT_AFTER_QUERIES,
    MAX_SNAPSHOT_SECONDS,
    ClusterSnapshot,
    Counts,
    KnownNames,
)
from dowse.stores.opensearch.documents import make_documents, make_removals, make_restoration
from dowse.stores.opensearch.index_mapping import chunk_index, name_index
from dowse.stores.opensearch.query_filter import Clause, either, exclude, join

RETAINED_SECONDS = 2 * MAX_SNAPSHOT_SECONDS
"""What was removed longer ago is deleted: no snapshot shows it, even if clocks differ by half of this."""

MAX_COUNTS = 50_000
"""How many tokens of how many fields are counted once in a generation."""

MAX_NAME_LISTS = 8
"""Generations whose lists of names are kept."""

PAGE_IDS = 1000
"""Documents that are deleted at a time."""


class ClusterChannels:
    """What is searched of all indexes in a cluster, under one prefix."""

    hot_after = HOT_AFTER_QUERIES

    def __init__(self, client: ClusterClient, catalogue: Any) -> None:
        self.client = client
        self._read_catalogue_id = catalogue
        self._guard = threading.Lock()
        self._is_checked = False  # whether the indexes are known to be those of this version
        self._dimensions: set[int] = set()  # lengths of vectors that have a field
        self._counts: Counts = LruCache(MAX_COUNTS)
        self._names: LruCache[tuple[str, int], KnownNames] = LruCache(MAX_NAME_LISTS)
        prefix = client.address.prefix
        self._indexes = (chunk_index(prefix), name_index(prefix))

    def check(self) -> None:
        """Raise an error if the indexes are missing, of another version, or of another catalogue."""
        if not self._is_checked:
            index_mapping.check_indexes(self.client, self._read_catalogue_id())
            self._is_checked = True

    def snapshot(self, visible: VisibleGeneration, find_changed: FindChanged) -> ClusterSnapshot:
        """Open what belongs to a generation."""
        self.check()
        with self._guard:
            key = visible.identity, visible.generation
            known = self._names.get(key) or KnownNames(self.hot_after)
            known.searches += 1
            self._names.put(key, known)
        return ClusterSnapshot(self.client, visible, find_changed, self._counts, known)

    def put(self, commit: PlannedCommit) -> None:
        """Write what a commit adds."""
        self.check()
        self._add_vector_fields(
            {len(vector.vector) // 4 for file in commit.added for vector in file.source.vectors}
        )
        self.client.write(make_documents(self.client.address.prefix, commit))

    def _add_vector_fields(self, lengths: Collection[int]) -> None:
        with self._guard:
            for dimensions in sorted(set(lengths) - self._dimensions):
                index_mapping.add_vector_field(self.client, dimensions)
                self._dimensions.add(dimensions)

    def drop(self, commit: PlannedCommit) -> None:
        """Mark what a commit removes, then make all of it ready to be searched. What is deleted already is fine."""
        self.client.write(
            make_removals(self.client.address.prefix, commit, time.time_ns() // 1_000_000), ignore=(404,)
        )
        self.client.refresh(*self._indexes)

    def sweep(self, visible: VisibleGeneration) -> None:
        """Delete what nobody can see any more, and take back what abandoned commits removed."""
        abandoned = sorted(visible.abandoned)
        own: Clause = {"term": {"identity": visible.identity}}
        unwanted: list[Clause] = [
            join(
                [
                    {"range": {"removed": {"lte": visible.generation}}},
                    {"range": {"removed_at": {"lt": int((time.time() - RETAINED_SECONDS) * 1000)}}},
                    exclude({"terms": {"removed": abandoned}}),
                ]
            )
        ]
        if abandoned:
            unwanted.append({"terms": {"added": abandoned}})
        self._delete(join([own, either(unwanted)]))
        if abandoned:
            self.client.write(
                (
                    make_restoration(index, id, routing, abandoned)
                    for index, id, routing in self._list_documents(
                        join([own, {"terms": {"removed": abandoned}}])
                    )
                ),
                ignore=(404,),
            )
            self.client.refresh(*self._indexes)

    def clear(self, visible: VisibleGeneration) -> None:
        """Delete all rows of an index."""
        self.check()
        self.client.refresh(*self._indexes)
        self._delete({"term": {"identity": visible.identity}})

    def list_identities(self) -> set[str]:
        """List the identities of all indexes that have a row."""
        self.check()
        self.client.refresh(*self._indexes)
        found: set[str] = set()
        for index in self._indexes:
            pages: dict[str, Any] = {
                "size": PAGE_IDS,
                "sources": [{"identity": {"terms": {"field": "identity"}}}],
            }
            while True:
                answer = self.client.search(index, {"size": 0, "aggs": {"by": {"composite": pages}}})
                buckets = answer["aggregations"]["by"]["buckets"]
                found |= {bucket["key"]["identity"] for bucket in buckets}
                if len(buckets) < PAGE_IDS:
                    break
                pages["after"] = buckets[-1]["key"]
        return found

    def delete_indexes(self, identities: Collection[str]) -> None:
        """Delete the rows of indexes that the catalogue does not have any more."""
        for identity in sorted(identities):
            self._delete({"term": {"identity": identity}})

    def _delete(self, query: Clause) -> int:
        """Delete what matches. Deletion by query is a module that not every cluster has."""
        actions = (
            {"_op_type": "delete", "_index": index, "_id": id, "routing": routing}
            for index, id, routing in self._list_documents(query)
        )
        return self.client.write(actions, ignore=(404,))

    def _list_documents(self, query: Clause) -> Iterator[tuple[str, str, str]]:
        """List index, id and routing of all documents that match."""
        for index, place in zip(self._indexes, ("chunk", "ordinal"), strict=True):
            after: list[Any] = []
            while True:
                body = {
                    "size": PAGE_IDS,
                    "query": query,
                    "_source": False,
                    "sort": ["identity", "file", place],
                }
                if after:
                    body["search_after"] = after
                hits = self.client.search(index, body)["hits"]["hits"]
                yield from ((index, hit["_id"], hit["_routing"]) for hit in hits)
                if len(hits) < PAGE_IDS:
                    break
                after = hits[-1]["sort"]

    def close(self) -> None:
        """Close connections."""
        self.client.close()
