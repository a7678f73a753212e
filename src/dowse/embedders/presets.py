"""What well-known models expect: a prefix before questions and documents, a way of pooling, a dimension.

A model that was trained with prefixes is much worse without them, and none of the services adds them. What the files of
a model say wins over this table, and settings win over both.
"""

from __future__ import annotations

from fnmatch import fnmatch
from typing import NamedTuple

AUTO = "auto"
"""The value of a prefix setting that leaves it to the model."""


class Known(NamedTuple):
    """How a model wants to be used."""

    query: str = ""
    document: str = ""
    pooling: str = "mean"
    dimensions: int = 0  # 0: differs between the models of this name


_SENTENCE = "Represent this sentence for searching relevant passages: "
_CODE = "Represent this query for searching relevant code: "

MODELS: tuple[tuple[str, Known], ...] = (
    ("nomic-embed-text*", Known("search_query: ", "search_document: ", dimensions=768)),
    ("nomic-embed-code*", Known(_CODE, pooling="last")),
    ("coderankembed*", Known(_CODE, pooling="cls", dimensions=768)),
    ("*e5-*-instruct*", Known("Instruct: Given a question, find the code that answers it\nQuery: ")),
    ("*e5-small*", Known("query: ", "passage: ", dimensions=384)),
    ("*e5-base*", Known("query: ", "passage: ", dimensions=768)),
    ("*e5-large*", Known("query: ", "passage: ", dimensions=1024)),
    ("bge-m3*", Known(pooling="cls", dimensions=1024)),
    ("bge-*-en*", Known(_SENTENCE, pooling="cls")),
    ("mxbai-embed-large*", Known(_SENTENCE, pooling="cls", dimensions=1024)),
    ("snowflake-arctic-embed2*", Known("query: ", pooling="cls", dimensions=1024)),
    ("snowflake-arctic-embed-*-v2*", Known("query: ", pooling="cls")),
    ("snowflake-arctic-embed*", Known(_SENTENCE, pooling="cls")),
    ("embeddinggemma*", Known("task: search result | query: ", "title: none | text: ", dimensions=768)),
    (
        "qwen3-embedding*",
        Known("Instruct: Given a question, find the code that answers it\nQuery:", pooling="last"),
    ),
    ("granite-embedding*", Known(pooling="cls")),
    ("gte-*-v1.5*", Known(pooling="cls")),
    ("gte-modernbert*", Known(pooling="cls", dimensions=768)),
    ("all-minilm*", Known(dimensions=384)),
    ("text-embedding-3-small", Known(dimensions=1536)),
    ("text-embedding-3-large", Known(dimensions=3072)),
    ("text-embedding-ada-002", Known(dimensions=1536)),
)
"""The first pattern that matches the name of a model, without owner and tag, in lower case."""


def known(model: str) -> Known:
    """What is known of a model by its name; nothing special if nothing is."""
    name = model.replace("\\", "/").rstrip("/").rpartition("/")[2].partition(":")[0].lower()
    return next((what for pattern, what in MODELS if fnmatch(name, pattern)), Known())


def prefixes(model: Known, query: str, document: str) -> tuple[str, str]:
    """The prefixes in force: those that were set, or the model's own."""
    return (model.query if query == AUTO else query, model.document if document == AUTO else document)
