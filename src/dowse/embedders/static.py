"""The built-in embedding model: static word vectors, memory-mapped, with no neural network and no download.

A text is the weighted sum of its words' vectors, normalized. Words outside of the vocabulary are hashed by character
n-grams (as in fastText). Documents and queries weight words differently; both weights are learned. ``docs/model.md``
describes the training.
"""

from __future__ import annotations

import hashlib
import json
import math
import mmap
import struct
import sys
from array import array
from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache, cached_property
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any
from zlib import crc32

from dowse.code import tokens
from dowse.code.chunk_fields import Document
from dowse.embedders.query_map import QueryMap, load_query_map
from dowse.embedders.word_match import match_rows
from dowse.errors import SettingsError

if TYPE_CHECKING:
    import numpy as np

    from dowse.embedders.embedder import Matrix

    Array = np.ndarray[Any, Any]

MODEL = Path(__file__).parent / "data" / "static.bin"
MAGIC = b"dowse static embedding 1\n"
ALIGNMENT = 64
"""Arrays in the file begin at multiples of this, so that they can be used where they lie."""

NGRAM_LENGTH = 4
"""Characters of the n-grams that stand for an unknown word."""

MAX_NGRAMS = 10
"""N-grams of one word at the most: a long unknown word is data."""

PART_WEIGHTS = (6, 3, 1)
"""How often a word counts: in a document's heading, which says where a chunk stands; in the line after it, by which a
definition says its name and what it takes; in the rest. Chosen on queries with and without identifiers together: a
heading of 12 or more is better for the former only, a line of 7 for neither."""

WEIGHT_SCALE = 2.0**10
"""Weights are rounded to multiples of 1 / this: finer than the table is, and the sums of their products with int8 are
whole numbers that float32 holds."""

MAX_COMPONENT = 2.0**21
"""The largest component before the length is taken: the squares of up to 1,024 such still add up exactly."""

ROW_BYTES = 2
"""Bytes of the number of a row in a document that is prepared."""

BATCH_DOCUMENTS = 16
"""Documents whose words are looked up in the table at a time: what they give just fits in a processor's cache."""

LANE_BYTES = 8
"""Bytes for a component while a query's rows are added up."""

INT8_TO_UINT8 = bytes(byte ^ 0x80 for byte in range(256))
"""int8 plus 128, for ``bytes.translate``."""

MAX_MEMO_WORDS = 200_000
"""Distinct words cached at a time: about 40 MB at the most."""


class WordRows(dict[str, bytes]):
    """Vocabulary lookup: maps each run of letters to rows of the embedding table, cached, two bytes a row.

    The vocabulary is sorted. For a query it is searched by bisection, since a dictionary of it would take longer to
    build than all its words take to find; ``prepare`` makes one, for documents.
    """

    def __init__(self, vocabulary: Sequence[str], buckets: int) -> None:
        super().__init__()
        self._vocabulary = vocabulary
        self._buckets = buckets
        self._tokens: dict[
            str, bytes
        ] = {}  # the rows of tokens: compound words have the same parts again and again
        self._find: Callable[[str], int | None] = self._bisect
        self._is_prepared = False

    def prepare(self) -> None:
        """Get ready for many words."""
        if not self._is_prepared:
            self._find = {word: index for index, word in enumerate(self._vocabulary)}.get
            self._is_prepared = True

    def __missing__(self, run: str) -> bytes:
        if len(self) >= MAX_MEMO_WORDS:
            self.clear()
            self._tokens.clear()
        rows = self[run] = b"".join(map(self._word_rows, tokens.tokenize_run(run)))
        return rows

    def _word_rows(self, word: list[str]) -> bytes:
        """Find the rows of one word's tokens: the whole first, then its parts if it has several."""
        if len(word) > 1:
            whole = self._find(word[0])  # an unknown compound is its parts
            parts = b"".join(map(self._token_rows, word[1:]))
            return parts if whole is None else whole.to_bytes(ROW_BYTES, sys.byteorder) + parts
        return self._token_rows(word[0]) if word else b""

    def _token_rows(self, token: str) -> bytes:
        """Find the row of a token, or those of the n-grams of an unknown one."""
        rows = self._tokens.get(token)
        if rows is None:
            known = self._find(token)
            found = self._ngram_rows(token) if known is None else [known]
            rows = self._tokens[token] = array("H", found).tobytes()
        return rows

    def _bisect(self, word: str) -> int | None:
        index = bisect_left(self._vocabulary, word)
        return index if index < len(self._vocabulary) and self._vocabulary[index] == word else None

    def _ngram_rows(self, word: str) -> list[int]:
        if not word:
            return []
        marked = f"<{word}>"
        count = min(max(len(marked) - NGRAM_LENGTH + 1, 1), MAX_NGRAMS)
        first = len(self._vocabulary)
        return [first + crc32(marked[i : i + NGRAM_LENGTH].encode()) % self._buckets for i in range(count)]

    def find_known(self, token: str) -> int | None:
        """Find the row of a token of the vocabulary."""
        return self._find(token)

    def rows(self, runs: Iterable[str]) -> bytes:
        """Find the rows of a text, one for each of its tokens."""
        return b"".join(map(self.__getitem__, runs))

    def counts(self, text: str) -> dict[int, int]:
        """Count how often a text uses each row of the table."""
        return Counter(array("H", self.rows(tokens.split_runs(text))))

    def row(self, text: str) -> tuple[Any, Any]:
        """Return a text as training sees it: the rows it uses and their dampened counts."""
        import numpy as np

        found = self.counts(text)
        values = np.sqrt(np.fromiter(found.values(), dtype=np.float32, count=len(found)))
        return np.fromiter(found.keys(), dtype=np.uint16, count=len(found)), values.astype(np.float16)


class StaticEmbedder:
    """Embeds with the built-in table of word vectors. Opened at first use; safe to use from several threads.

    A query needs no numpy, whose import would take longer than the search. Both ways count in whole numbers until
    the last step, so that every platform gives the same vectors.
    """

    def __init__(self, path: Path = MODEL, query_map: QueryMap | None = None) -> None:
        self._path = path
        self.query_map = query_map

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
        """Says which table, which tokenizer, which counts of a document's parts and which weights made a vector."""
        header, counts = self._header, ".".join(map(str, PART_WEIGHTS))
        return f"static-{header['dimensions']}-{header['hash'][:12]}-{tokens.VERSION}-{counts}-{WEIGHT_SCALE:.0f}"

    @cached_property
    def _data(self) -> mmap.mmap:
        self._header  # noqa: B018 - says what is wrong with the file
        with open(self._path, "rb") as file:
            return mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)

    @cached_property
    def _words(self) -> WordRows:
        at = self._header["offsets"]
        vocabulary = self._data[at["vocabulary"] : at["end"]].decode().split("\n")
        return WordRows(vocabulary, self._header["rows"] - len(vocabulary))

    def embed_query(self, text: str) -> Sequence[float]:
        """Embed a query, and map it towards what answers such queries."""
        vector = self.embed_words(text)
        return self.query_map.apply(vector) if self.query_map else vector

    def embed_words(self, text: str) -> Sequence[float]:
        """Embed the words of a query, without the map."""
        sums = self._sum_weighted_rows(self._words.counts(text))
        largest = max(map(abs, sums))
        if not largest:
            return [0.0] * len(sums)
        factor = MAX_COMPONENT / largest
        whole = [round(component * factor) for component in sums]
        length = math.sqrt(sum(component * component for component in whole))
        return [component / length for component in whole]

    def match_words(self, words: Sequence[str], texts: Sequence[bytes]) -> Mapping[str, Sequence[float]]:
        """Match words with texts: how near the nearest word of each text is, from 0 to 1; unknown words are missing."""
        size, at, data = self._header["dimensions"], self._header["offsets"]["rows"], self._data
        found = self._words
        known = {word: row for word in words if (row := found.find_known(word)) is not None}
        rows = [frozenset(array("H", found.rows(tokens.split_runs(text)))) for text in texts]
        matched = match_rows(
            list(known.values()), rows, size, lambda row: data[at + row * size : at + (row + 1) * size]
        )
        return {word: matched[row] for word, row in known.items()}

    def _sum_weighted_rows(self, counts: Mapping[int, int]) -> list[int]:
        """Add up the rows of a query, each times its weight.

        A row is read as one long number with a component in every eight bytes, so that one multiplication and one
        addition serve them all; components are raised by 128 before, and lowered after, to be positive.
        """
        size, at, data = self._header["dimensions"], self._header["offsets"], self._data
        total = weights = 0
        lanes = bytearray(LANE_BYTES * size)
        for row, count in counts.items():
            start = at["rows"] + row * size
            lanes[::LANE_BYTES] = data[start : start + size].translate(INT8_TO_UINT8)
            (scale,) = struct.unpack_from("<f", data, at["query_scale"] + 4 * row)
            weight = round(math.sqrt(count) * scale * WEIGHT_SCALE)
            total += int.from_bytes(lanes, "little") * weight
            weights += weight
        summed = struct.unpack(f"<{size}Q", total.to_bytes(LANE_BYTES * size, "little"))
        return [component - 128 * weights for component in summed]

    @cached_property
    def _document_scale(self) -> Array:
        import numpy as np

        count, at = self._header["rows"], self._header["offsets"]["document_scale"]
        return np.frombuffer(self._data, dtype="<f4", count=count, offset=at).astype(np.float64)

    @cached_property
    def _table(self) -> Array:
        import numpy as np

        shape = (self._header["rows"], self._header["dimensions"])
        at = self._header["offsets"]["rows"]
        return np.frombuffer(self._data, dtype=np.int8, count=math.prod(shape), offset=at).reshape(shape)

    def embed_documents(self, texts: Sequence[str]) -> Matrix:
        """Embed texts, one row for each."""
        return self.embed_pretokenized([self.pretokenize(_split_document(text)) for text in texts])

    def pretokenize(self, document: Document) -> bytes:
        """Find the rows of the table that a document uses, each as often as it does."""
        words = self._words
        words.prepare()
        return b"".join(
            [words.rows(part) * count for part, count in zip(document, PART_WEIGHTS, strict=True)]
        )

    def embed_pretokenized(self, documents: Sequence[bytes]) -> Matrix:
        """Embed documents that were prepared, one row for each."""
        import numpy as np

        table = self._table
        used = np.frombuffer(b"".join(documents), dtype=np.uint16)
        number = np.min_scalar_type((len(documents) + 1) * len(table))  # the smaller, the sooner it is sorted
        firsts = np.arange(len(documents), dtype=number) * number.type(len(table))
        owners = np.repeat(firsts, [len(document) // ROW_BYTES for document in documents])
        pairs, count = _count_values(owners + used)
        rows = (pairs % number.type(len(table))).astype(np.intp)
        weights = np.rint(np.sqrt(count) * self._document_scale[rows] * WEIGHT_SCALE).astype(np.float32)
        sums = np.zeros((len(documents), table.shape[1]), dtype=np.float32)
        bounds = [*np.searchsorted(pairs, firsts).tolist(), len(pairs)]
        for index in range(0, len(documents), BATCH_DOCUMENTS):
            some = bounds[index : index + BATCH_DOCUMENTS + 1]
            values = table.take(rows[some[0] : some[-1]], axis=0).astype(np.float32)
            for total, (start, end) in zip(sums[index:], pairwise(some), strict=False):
                np.dot(weights[start:end], values[start - some[0] : end - some[0]], out=total)
        return _normalize(sums.astype(np.float64))

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle the path of the file, not what was read of it."""
        return (load_built_in, ()) if self._path == MODEL else (StaticEmbedder, (self._path,))


@cache
def load_built_in() -> StaticEmbedder:
    """Return the model of this package: one for all trees of a process, with the words it has met."""
    return StaticEmbedder(MODEL, load_query_map())


def _split_document(text: str) -> Document:
    """Split a text into its parts; one of a single line has no heading."""
    heading, _, body = text.partition("\n")
    opening, _, rest = body.lstrip().partition("\n")
    parts = (heading, opening, rest) if opening else ("", "", heading)
    return Document(*map(tokens.split_runs, parts))


def _count_values(numbers: Array) -> tuple[Array, Array]:
    """Count equal numbers: each once, ascending, and how often it was there; sorts them in place."""
    import numpy as np

    numbers.sort()
    is_first = np.ones(len(numbers), dtype=np.bool_)
    np.not_equal(numbers[1:], numbers[:-1], out=is_first[1:])
    indexes = np.flatnonzero(is_first)
    return numbers[indexes], np.diff(indexes, append=len(numbers))


def _normalize(sums: Array) -> Matrix:
    """Bring rows to length one, rounded so that neither order of adding nor platform shows; zeros stay zeros."""
    import numpy as np

    largest = np.abs(sums).max(axis=1, keepdims=True, initial=0)
    whole = np.rint(sums * (MAX_COMPONENT / np.where(largest > 0, largest, 1)))
    length = np.sqrt((whole * whole).sum(axis=1, keepdims=True))
    normalised: Matrix = (whole / np.where(length > 0, length, 1)).astype(np.float32)
    return normalised


def write_model(
    path: Path, vocabulary: Sequence[str], rows: Array, query_scale: Array, document_scale: Array
) -> None:
    """Write a table as a model file: header, then the arrays, each aligned."""
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
