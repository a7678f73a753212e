"""The built-in model: one learned vector per word, no network and no download.

A text is the weighted sum of its words' vectors, brought to length one. Words are cut as for keyword search; one that
the vocabulary lacks is known by the character n-grams it is made of, so that any script gives something.
Documents and questions weigh words differently: both weights are learned. ``docs/model.md`` says how it was trained.
"""

from __future__ import annotations

import json
from bisect import bisect_left
from collections import Counter
from collections.abc import Sequence
from functools import cached_property
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple
from zlib import crc32

from dowse.code import tokens
from dowse.errors import SettingsError

if TYPE_CHECKING:
    import numpy as np

    from dowse.embedders.base import Matrix

    Array = np.ndarray[Any, Any]

MODEL = Path(__file__).parent / "data" / "static.bin"
MAGIC = b"dowse static embedding 1\n"
ALIGNMENT = 64
"""Arrays in the file begin at multiples of this, so that they can be used where they lie."""

PIECE = 4
"""Characters of the n-grams that stand for an unknown word."""

MAX_PIECES = 10
"""N-grams of one word at the most: a long unknown word is data."""

HEADING = 4
"""How often the words of a document's first line count: it says where a chunk stands. Of 1, 2, 3, 4 and 6, chosen on
questions with and without identifiers together; 6 is a little better for the former only."""

_MEMO_LIMIT = 200_000
"""Distinct words remembered at a time: about 40 MB at the most."""


class Words(dict[str, tuple[int, ...]]):
    """Remembers for each word as written the rows of the table it stands for.

    The vocabulary is sorted and searched by halves: a dictionary of it would take longer to build than all the
    words of a question take to find.
    """

    def __init__(self, vocabulary: Sequence[str], buckets: int) -> None:
        super().__init__()
        self._vocabulary = vocabulary
        self._buckets = buckets

    def __missing__(self, word: str) -> tuple[int, ...]:
        if len(self) >= _MEMO_LIMIT:
            self.clear()
        rows = self[word] = tuple(chain.from_iterable(map(self._rows, tokens.words(word))))
        return rows

    def _rows(self, word: str) -> list[int]:
        rows: list[int] = []
        whole, *parts = tokens.word_tokens(word) or [""]
        if (known := self._find(whole)) is not None:
            rows.append(known)
        elif not parts:  # an unknown compound is its parts
            rows.extend(self._pieces(whole))
        for part in parts:
            known = self._find(part)
            rows.extend(self._pieces(part) if known is None else (known,))
        return rows

    def _find(self, word: str) -> int | None:
        place = bisect_left(self._vocabulary, word)
        return place if place < len(self._vocabulary) and self._vocabulary[place] == word else None

    def _pieces(self, word: str) -> list[int]:
        if not word:
            return []
        marked = f"<{word}>"
        count = min(max(len(marked) - PIECE + 1, 1), MAX_PIECES)
        first = len(self._vocabulary)
        return [first + crc32(marked[i : i + PIECE].encode()) % self._buckets for i in range(count)]

    def counts(self, text: str) -> Counter[int]:
        """How often a text uses each row of the table."""
        raw = text.encode("utf-8", "replace").translate(tokens._BLANK_PUNCTUATION)
        return Counter(chain.from_iterable(map(self.__getitem__, raw.decode("utf-8", "replace").split())))

    def document_counts(self, text: str) -> Counter[int]:
        """The same for a document, whose first line counts for more."""
        heading, _, rest = text.partition("\n")
        if not rest:
            return self.counts(heading)
        found = self.counts(rest)
        for row, often in self.counts(heading).items():
            found[row] += HEADING * often
        return found

    def row(self, text: str) -> tuple[Any, Any]:
        """A text as training sees it: the rows it uses and their dampened counts."""
        import numpy as np

        found = self.counts(text)
        values = np.sqrt(np.fromiter(found.values(), dtype=np.float32, count=len(found)))
        return np.fromiter(found.keys(), dtype=np.uint16, count=len(found)), values.astype(np.float16)


class _Model(NamedTuple):
    """A model file, opened. ``rows`` stays on disk until it is read."""

    rows: Array  # int8, one row per word and bucket
    query_scale: Array  # what a row is multiplied by in a question, quantisation included
    document_scale: Array
    words: Words


class StaticEmbedder:
    """Embeds with a table that ships with the package. Opened at first use; safe to use from several threads."""

    def __init__(self, path: Path = MODEL) -> None:
        self._path = path

    @cached_property
    def _header(self) -> dict[str, Any]:
        try:
            with open(self._path, "rb") as file:
                if file.read(len(MAGIC)) != MAGIC:
                    raise SettingsError(f"'{self._path}' is not a static embedding model")
                return dict(json.loads(file.readline()))
        except OSError as error:
            raise SettingsError(f"the model '{self._path}' cannot be read: {error.strerror}") from error

    @property
    def name(self) -> str:
        """Says which table and which tokenizer made a vector."""
        header = self._header
        return f"static-{header['dimensions']}-{header['hash'][:12]}-{tokens.VERSION}"

    @cached_property
    def _model(self) -> _Model:
        import numpy as np

        at, count = self._header["offsets"], self._header["rows"]
        mapped = np.memmap(self._path, np.int8, "r", at["rows"], (count, self._header["dimensions"]))
        rows = mapped.view(np.ndarray)  # indexing the subclass costs a third more
        with open(self._path, "rb") as file:
            file.seek(at["query_scale"])
            query_scale = np.frombuffer(file.read(4 * count), dtype="<f4")
            file.seek(at["document_scale"])
            document_scale = np.frombuffer(file.read(4 * count), dtype="<f4")
            file.seek(at["vocabulary"])
            vocabulary = file.read(at["end"] - at["vocabulary"]).decode().split("\n")
        words = Words(vocabulary, count - len(vocabulary))
        return _Model(rows, query_scale, document_scale, words)

    def embed_documents(self, texts: Sequence[str]) -> Matrix:
        """One row per text."""
        import numpy as np

        model = self._model
        vectors = np.zeros((len(texts), self._header["dimensions"]), dtype=np.float32)
        for place, text in enumerate(texts):
            vectors[place] = _embed(model.rows, model.document_scale, model.words.document_counts(text))
        return vectors

    def embed_query(self, text: str) -> Sequence[float]:
        """The vector of a question."""
        model = self._model
        vector: list[float] = _embed(model.rows, model.query_scale, model.words.counts(text)).tolist()
        return vector


def _embed(rows: Array, scale: Array, counts: Counter[int]) -> Array:
    """The weighted sum of the rows, of length one; nothing where there is no word."""
    import numpy as np

    ids = np.fromiter(counts.keys(), dtype=np.int64, count=len(counts))
    often = np.fromiter(counts.values(), dtype=np.float32, count=len(counts))
    summed = (np.sqrt(often) * scale[ids]) @ rows[ids].astype(np.float32)
    length = np.sqrt(summed @ summed)
    return summed / length if length > 0 else summed


def write_model(
    path: Path, vocabulary: Sequence[str], rows: Array, query_scale: Array, document_scale: Array
) -> None:
    """Write a table as a model file: header, then the arrays, each aligned."""
    import hashlib

    parts = {
        "rows": rows.astype("i1").tobytes(),
        "query_scale": query_scale.astype("<f4").tobytes(),
        "document_scale": document_scale.astype("<f4").tobytes(),
        "vocabulary": "\n".join(vocabulary).encode(),
    }
    digest = hashlib.sha256(b"".join(parts.values())).hexdigest()
    header: dict[str, Any] = {
        "dimensions": rows.shape[1],
        "rows": rows.shape[0],
        "hash": digest,
        "offsets": {},
    }
    size = 1024  # room for the header
    for name, data in parts.items():
        header["offsets"][name] = size
        size += len(data) + -len(data) % ALIGNMENT
    header["offsets"]["end"] = header["offsets"]["vocabulary"] + len(parts["vocabulary"])
    head = MAGIC + json.dumps(header).encode() + b"\n"
    path.parent.mkdir(parents=True, exist_ok=True)
    with open(path, "wb") as file:
        file.write(head.ljust(1024, b" "))
        for name, data in parts.items():
            file.seek(header["offsets"][name])
            file.write(data)
