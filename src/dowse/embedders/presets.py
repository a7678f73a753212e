"""Presets of well-known embedding models: query and document prefixes (instructions), pooling, dimensions.

A model that was trained with prefixes is much worse without them, and no service adds them. The files of a model win
over this table, and settings win over both.
"""

from __future__ import annotations

from fnmatch import fnmatch
from typing import NamedTuple

AUTO = "auto"
"""The value of a prefix setting that leaves it to the model."""


class ModelPreset(NamedTuple):
    """How a model wants to be used."""

    query: str = ""
    document: str = ""
    pooling: str = "mean"
    dimensions: int = 0  # 0: differs between the models of this name


_SENTENCE = "Represent this sentence for searching relevant passages: "
_CODE = "Represent this query for searching relevant code: "

MODELS: tuple[tuple[str, ModelPreset], ...] = (
    ("nomic-embed-text*", ModelPreset("search_query: ", "search_document: ", dimensions=768)),
    ("nomic-embed-code*", ModelPreset(_CODE, pooling="last")),
    ("coderankembed*", ModelPreset(_CODE, pooling="cls", dimensions=768)),
    ("*e5-*-instruct*", ModelPreset("Instruct: Given a question, find the code that answers it\nQuery: ")),
    ("*e5-small*", ModelPreset("query: ", "passage: ", dimensions=384)),
    ("*e5-base*", ModelPreset("query: ", "passage: ", dimensions=768)),
    ("*e5-large*", ModelPreset("query: ", "passage: ", dimensions=1024)),
    ("bge-m3*", ModelPreset(pooling="cls", dimensions=1024)),
    ("bge-*-en*", ModelPreset(_SENTENCE, pooling="cls")),
    ("mxbai-embed-large*", ModelPreset(_SENTENCE, pooling="cls", dimensions=1024)),
    ("snowflake-arctic-embed2*", ModelPreset("query: ", pooling="cls", dimensions=1024)),
    ("snowflake-arctic-embed-*-v2*", ModelPreset("query: ", pooling="cls")),
    ("snowflake-arctic-embed*", ModelPreset(_SENTENCE, pooling="cls")),
    ("embeddinggemma*", ModelPreset("task: search result | query: ", "title: none | text: ", dimensions=768)),
    (
        "qwen3-embedding*",
        ModelPreset("Instruct: Given a question, find the code that answers it\nQuery:", pooling="last"),
    ),
    ("granite-embedding*", ModelPreset(pooling="cls")),
    ("gte-*-v1.5*", ModelPreset(pooling="cls")),
    ("gte-modernbert*", ModelPreset(pooling="cls", dimensions=768)),
    ("all-minilm*", ModelPreset(dimensions=384)),
    ("text-embedding-3-small", ModelPreset(dimensions=1536)),
    ("text-embedding-3-large", ModelPreset(dimensions=3072)),
    ("text-embedding-ada-002", ModelPreset(dimensions=1536)),
)
"""The first pattern that matches the name of a model, without owner and tag, in lower case."""


def find_preset(model: str) -> ModelPreset:
    """Find what is known of a model by its name; return the defaults if nothing is."""
    name = model.replace("\\", "/").rstrip("/").rpartition("/")[2].partition(":")[0].lower()
    return next((what for pattern, what in MODELS if fnmatch(name, pattern)), ModelPreset())


def resolve_prefixes(model: ModelPreset, query: str, document: str) -> tuple[str, str]:
    """Return the prefixes in force: those that were set, or the model's own."""
    return (model.query if query == AUTO else query, model.document if document == AUTO else document)
