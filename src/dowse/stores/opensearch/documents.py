"""Documents of the channels on OpenSearch: one for each chunk and one for each definition, with ids of their own.

The id of a document says which index, file and place it is of, and ids of files are given once: writing it again
changes nothing, and no two commits ever write the same document.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from dowse.filters import chunk_definitions
from dowse.stores.channels_protocol import NumberedFile, PlannedCommit, RemovedFile
from dowse.stores.opensearch.index_mapping import (
    NEVER,
    WORD_FIELDS,
    chunk_index,
    name_index,
    vector_field,
)
from dowse.types.stored import chunk_id

MAX_BYTE = 127
"""Vectors are stored as bytes: their length does not matter, so the largest number gets the largest byte."""

MAX_KEYWORD_CHARS = 8000
"""What is longer cannot be found by its whole name: the engine refuses keywords of more than 32,766 bytes."""

Document = dict[str, Any]

_REMOVE = (
    "if (ctx._source.removed == params.never || params.abandoned.contains(ctx._source.removed)) {"
    "ctx._source.removed = params.commit; ctx._source.removed_at = params.now} else {ctx.op = 'none'}"
)
"""What a commit removed stays removed by it, whatever a writer sends that lost its lock."""

_RESTORE = (
    "if (params.abandoned.contains(ctx._source.removed)) {ctx._source.removed = params.never} "
    "else {ctx.op = 'none'}"
)


def make_documents(prefix: str, commit: PlannedCommit) -> Iterator[Document]:
    """Make the documents of all files that a commit adds."""
    for file in commit.added:
        shared = _describe_file(commit, file)
        yield from _make_chunks(prefix, commit, file, shared)
        yield from _make_names(prefix, commit, file, shared)


def _describe_file(commit: PlannedCommit, file: NumberedFile) -> Document:
    source = file.source
    return {
        "identity": commit.base.identity,
        "file": file.id,
        "added": commit.generation,
        "removed": NEVER,
        "path": cut_keyword(source.path),
        "language": source.parsed.language,
        "role": source.role.value,
    }


def _make_chunks(
    prefix: str, commit: PlannedCommit, file: NumberedFile, shared: Document
) -> Iterator[Document]:
    source = file.source
    for ordinal, terms in enumerate(source.terms):
        definitions = [
            source.parsed.entities[i]
            for i in chunk_definitions(source.parsed, ordinal, source.definitions[ordinal])
        ]
        document = shared | {
            "chunk": chunk_id(file.id, ordinal),
            "kinds": sorted({entity.kind.value for entity in definitions}),
            "defined": sorted({cut_keyword(entity.name.lower()) for entity in definitions}),
            "dimensions": 0,
        }
        for field, tokens in zip(WORD_FIELDS, terms, strict=True):
            document[field] = tokens
        if ordinal < len(source.vectors):
            numbers = np.frombuffer(source.vectors[ordinal].vector, dtype="<f4")
            document["dimensions"] = len(numbers)
            if (packed := quantize_to_bytes(numbers)) is not None:
                document[vector_field(len(numbers))] = packed
        yield _index_action(chunk_index(prefix), commit, f"{file.id}-{ordinal}", document)


def _make_names(
    prefix: str, commit: PlannedCommit, file: NumberedFile, shared: Document
) -> Iterator[Document]:
    source = file.source
    for chunk, held in enumerate(source.definitions):
        for ordinal in held:
            entity = source.parsed.entities[ordinal]
            name = {
                "name": cut_keyword(entity.name),
                "name_key": cut_keyword(entity.name.lower()),
                "kind": entity.kind.value,
                "ordinal": ordinal,
                "chunk": chunk,
            }
            yield _index_action(name_index(prefix), commit, f"{file.id}-{ordinal}", shared | name)


def _index_action(index: str, commit: PlannedCommit, place: str, document: Document) -> Document:
    return {
        "_op_type": "index",
        "_index": index,
        "_id": f"{commit.base.identity}-{place}",
        "routing": commit.base.repository,
        "_source": document,
    }


def make_removals(prefix: str, commit: PlannedCommit, now_ms: int) -> Iterator[Document]:
    """Make the updates that mark all documents of the files that a commit removes."""
    parameters = {
        "never": NEVER,
        "abandoned": sorted(commit.base.abandoned),
        "commit": commit.generation,
        "now": now_ms,
    }
    for file in commit.removed:
        for index, count in _count_documents(prefix, file):
            for ordinal in range(count):
                yield {
                    "_op_type": "update",
                    "_index": index,
                    "_id": f"{commit.base.identity}-{file.id}-{ordinal}",
                    "routing": commit.base.repository,
                    "retry_on_conflict": 3,
                    "script": {"source": _REMOVE, "lang": "painless", "params": parameters},
                }


def make_restoration(index: str, id: str, routing: str, abandoned: Sequence[int]) -> Document:
    """Make the update that takes back what an abandoned commit removed."""
    return {
        "_op_type": "update",
        "_index": index,
        "_id": id,
        "routing": routing,
        "retry_on_conflict": 3,
        "script": {
            "source": _RESTORE,
            "lang": "painless",
            "params": {"never": NEVER, "abandoned": list(abandoned)},
        },
    }


def _count_documents(prefix: str, file: RemovedFile) -> tuple[tuple[str, int], tuple[str, int]]:
    return (chunk_index(prefix), file.chunks), (name_index(prefix), file.entities)


def cut_keyword(text: str) -> str:
    """Cut a text to what a keyword may have; what is no character of Unicode is replaced."""
    return text[:MAX_KEYWORD_CHARS].encode("utf-8", "replace").decode()


def quantize_to_bytes(vector: Sequence[float] | np.ndarray[Any, Any]) -> list[int] | None:
    """Round a vector to bytes; None if it has no direction."""
    numbers = np.asarray(vector, dtype=np.float32)
    largest = float(np.abs(numbers).max(initial=0.0))
    if not 0.0 < largest < float("inf"):
        return None
    packed: list[int] = np.rint(numbers * (MAX_BYTE / largest)).astype(int).tolist()
    return packed
