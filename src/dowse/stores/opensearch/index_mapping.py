"""Index mappings of the channels on OpenSearch: fields, similarity, settings, and which version of them there is.

Our own tokens are in fields that are only split at blanks, so that words match as they do in every store. The
similarity is BM25 without what it would take from the whole index, where other repositories and rows that nobody sees
would count: the rarity of a word and the average length of a field come with the query.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from dowse.errors import IndexForeign, IndexTooNew, UsageError
from dowse.stores.opensearch.cluster_client import ClusterClient
from dowse.stores.protocol import FORMAT
from dowse.types.source import ChunkTerms
from dowse.types.stored import DEFAULT_BM25

WORD_FIELDS = tuple(f"words_{field}" for field in ChunkTerms._fields)
"""The fields with the tokens of a chunk."""

NEVER = 2**31 - 1
"""The commit that removes what is not removed."""

MAX_HITS = 100_000
"""The largest limit of a search."""

KNN_LINKS, KNN_EFFORT = 16, 128
"""Links of a node of the graph over vectors, and candidates while it is built."""

SCALE_STEPS, SCALE_ZERO, SCALE_SIZE = 128, 2048, 4096
"""The one number that a query can give a similarity is exact up to 2**24. It holds two, each by its logarithm in 12
bits: steps of half a percent from 2**-16 to 2**16, powers of two exactly."""

_SIMILARITY = (
    "long packed = (long) (query.boost + 0.5);"
    f"double boost = Math.pow(2.0, (packed / {SCALE_SIZE} - {SCALE_ZERO}) / {SCALE_STEPS}.0);"
    f"double average = Math.pow(2.0, (packed % {SCALE_SIZE} - {SCALE_ZERO}) / {SCALE_STEPS}.0);"
    f"return boost * doc.freq * {DEFAULT_BM25.k1 + 1.0} / "
    f"(doc.freq + {DEFAULT_BM25.k1} * ({1.0 - DEFAULT_BM25.b} + {DEFAULT_BM25.b} * doc.length / average));"
)

_KEYWORD: Mapping[str, Any] = {"type": "keyword"}
_STORED_ONLY: Mapping[str, Any] = {"type": "keyword", "index": False}
_WORDS: Mapping[str, Any] = {
    "type": "text",
    "analyzer": "whitespace",
    "similarity": "weighted_by_query",
    "index_options": "freqs",
}

_SHARED_FIELDS: Mapping[str, Any] = {
    "identity": _KEYWORD,
    "file": {"type": "long"},
    "added": {"type": "integer"},
    "removed": {"type": "integer"},
    "removed_at": {"type": "long"},  # milliseconds; when it was marked, perhaps before it was visible
    "path": _KEYWORD,
    "language": _KEYWORD,
    "role": _KEYWORD,
}


def pack_boost(weight: float, average_length: float) -> int:
    """Pack the weight of a word and the average length of its field into what a query gives the similarity."""
    return _to_scale(weight) * SCALE_SIZE + _to_scale(average_length)


def _to_scale(value: float) -> int:
    step = round(math.log2(value) * SCALE_STEPS) + SCALE_ZERO
    return min(max(step, 0), SCALE_SIZE - 1)


def chunk_index(prefix: str) -> str:
    """Name the index of chunks."""
    return f"{prefix}-chunks"


def name_index(prefix: str) -> str:
    """Name the index of definitions by name."""
    return f"{prefix}-names"


def vector_field(dimensions: int) -> str:
    """Name the field of the vectors that have this length."""
    return f"vector_{dimensions}"


def create_indexes(client: ClusterClient, catalogue: str, *, rebuild: bool) -> None:
    """Create the indexes that are missing; ``rebuild`` deletes what was there."""
    for name, body in _describe_indexes(client, catalogue).items():
        if rebuild:
            client.send("DELETE", f"/{name}", ignore=(404,))
        if client.send("HEAD", f"/{name}", ignore=(404,)) is None:
            client.create_index(name, body)
    check_indexes(client, catalogue)


def _describe_indexes(client: ClusterClient, catalogue: str) -> Mapping[str, Any]:
    address = client.address
    settings: dict[str, Any] = {
        "number_of_shards": address.shards,
        "refresh_interval": "30s",  # a commit makes what it wrote visible itself
        "max_result_window": MAX_HITS,
    }
    if address.replicas is None:
        settings["auto_expand_replicas"] = "0-1"
    else:
        settings["number_of_replicas"] = address.replicas
    about = {"dowse": {"format": FORMAT, "catalogue": catalogue}}
    chunks = {
        "settings": {
            "index": settings
            | {
                "knn": True,
                "similarity": {"weighted_by_query": {"type": "scripted", "script": {"source": _SIMILARITY}}},
            }
        },
        "mappings": {
            "dynamic": "strict",
            "_meta": about,
            "properties": dict(_SHARED_FIELDS)
            | {
                "chunk": {"type": "long"},
                "dimensions": {"type": "integer"},
                "kinds": _KEYWORD,
                "defined": _KEYWORD,
            }
            | dict.fromkeys(WORD_FIELDS, _WORDS),
        },
    }
    names = {
        "settings": {"index": settings},
        "mappings": {
            "dynamic": "strict",
            "_meta": about,
            "properties": dict(_SHARED_FIELDS)
            | {
                "name": _KEYWORD,
                "name_key": _KEYWORD,
                "kind": _KEYWORD,
                "ordinal": {"type": "integer"},
                "chunk": {"type": "integer"},
            },
        },
    }
    return {chunk_index(address.prefix): chunks, name_index(address.prefix): names}


def check_indexes(client: ClusterClient, catalogue: str) -> None:
    """Raise an error if the indexes are missing, of another version, or of another catalogue."""
    address = client.address
    for name in (chunk_index(address.prefix), name_index(address.prefix)):
        found = client.send("GET", f"/{name}/_mapping")
        for mapping in (found or {}).values():
            about = mapping["mappings"].get("_meta", {}).get("dowse")
            if about is None:
                raise IndexForeign(
                    f"the index '{name}' at {address.display_url} is not dowse's: choose another prefix"
                )
            if about["format"] > FORMAT:
                raise IndexTooNew(
                    f"the index '{name}' at {address.display_url} was made by a newer dowse "
                    f"(format {about['format']}, this one reads {FORMAT}): upgrade dowse, or choose another prefix"
                )
            if about["format"] != FORMAT:
                raise UsageError(
                    f"the index '{name}' at {address.display_url} was made by an older dowse (format "
                    f"{about['format']}, now {FORMAT}): 'dowse store init --rebuild' removes it and rebuilds it"
                )
            if about["catalogue"] != catalogue:
                raise IndexForeign(
                    f"the index '{name}' at {address.display_url} belongs to another catalogue: correct "
                    "store_catalogue, or choose another prefix"
                )


def add_vector_field(client: ClusterClient, dimensions: int) -> None:
    """Add the field for vectors of a length; nothing happens if it is there."""
    method = {
        "name": "hnsw",
        "engine": "lucene",
        "space_type": "cosinesimil",
        "parameters": {"m": KNN_LINKS, "ef_construction": KNN_EFFORT},
    }
    field = {"type": "knn_vector", "dimension": dimensions, "data_type": "byte", "method": method}
    body = {"properties": {vector_field(dimensions): field}}
    client.send("PUT", f"/{chunk_index(client.address.prefix)}/_mapping", body)
