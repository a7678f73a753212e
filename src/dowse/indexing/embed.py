"""Gives files the vectors of their chunks. A vector that was computed before, for whatever file, is not computed again.

Embedding can be by far the slowest part of a run and the one that fails: what is done is handed on for storing after
half a minute at the latest, and also when the embedder fails, so that the next run goes on from there.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import blake2b
from typing import TYPE_CHECKING, Any, NamedTuple

from dowse.code import chunk_fields
from dowse.embedders.embedder import Embedder, Preparing
from dowse.errors import EmbedderError
from dowse.types import KEY_BYTES, ChunkVector, PreparedChunk, SourceFile

if TYPE_CHECKING:
    from dowse.embedders.embedder import Matrix

CALL_TEXTS = 256
"""New texts that are embedded at a time: enough for a model to sort them by length, little to lose."""

STORE_SECONDS = 30.0
"""What took this long to embed is stored: a kill loses no more."""


Text = str | bytes
"""What is embedded: bytes where the embedder prepares."""


class _Texts(NamedTuple):
    """A file, and the texts of its chunks by the keys of their vectors."""

    file: SourceFile
    keys: tuple[bytes, ...]
    texts: Sequence[Text]


@dataclass
class Embedding:
    """The embedding of one run: with which embedder, whether to go on without it, and how it went."""

    embedder: Embedder | None
    stored: Callable[[Sequence[bytes]], Mapping[bytes, bytes]]  # vectors of earlier runs
    progress: Callable[[str, int, int], None]
    optional: bool = False
    total: int = 0  # bytes of all the files that there will be
    problem: str = ""  # why the embedder failed
    left_out: int = 0  # files that have no vectors because of that
    _fresh: dict[bytes, bytes] = field(default_factory=dict)
    _done: int = 0  # bytes of the files that went through
    _length: int = 0  # dimensions of the vectors, once there is one

    def __post_init__(self) -> None:
        self._prepares = isinstance(self.embedder, Preparing)  # asked for every file, and slow to find out

    def embedded(self, files: list[SourceFile]) -> Iterator[list[SourceFile]]:
        """The files with vectors, in portions to store; raises what the embedder raised after the last of them."""
        if self.embedder is None:
            yield files
            return
        self._fresh.clear()
        ready: list[SourceFile] = []
        since = time.monotonic()
        for group in self._groups(files):
            self.progress("embed", min(self._done, self.total), self.total)
            failed = self._embed(group)
            if failed and not self.optional:
                if ready:
                    yield ready
                raise failed
            ready += map(self._finished, group)
            self._done += sum(len(one.file.content) for one in group)
            if time.monotonic() - since >= STORE_SECONDS:
                yield ready
                ready, since = [], time.monotonic()
        if ready:
            yield ready

    def _groups(self, files: Iterable[SourceFile]) -> Iterator[list[_Texts]]:
        """The files in groups with about as many new texts as are embedded at a time."""
        group: list[_Texts] = []
        new = 0
        for file in files:
            texts, keys = self._texts(file)
            unknown = [key for key in keys if key not in self._fresh]
            self._keep(self.stored(unknown))
            group.append(_Texts(file, keys, texts))
            new += sum(key not in self._fresh for key in unknown)
            if new >= CALL_TEXTS:
                yield group
                group, new = [], 0
        if group:
            yield group

    def _texts(self, file: SourceFile) -> tuple[Sequence[Text], tuple[bytes, ...]]:
        """What is to be embedded of a file, and the keys of the vectors."""
        assert self.embedder is not None
        if self._prepares:
            return [one.document for one in file.prepared], tuple([one.key for one in file.prepared])
        model = self.embedder.name
        texts = chunk_fields.embedded_texts(file.path, file.content, file.parsed, file.definitions)
        return texts, tuple([_key(model, text.encode("utf-8", "replace")) for text in texts])

    def _embed(self, group: list[_Texts]) -> EmbedderError | None:
        """Compute the vectors that a group lacks; the error if that failed, now or earlier in this run."""
        missing = {key: text for one in group for key, text in zip(one.keys, one.texts, strict=True)}
        missing = {key: text for key, text in missing.items() if key not in self._fresh}
        if not missing:
            return None
        if self.problem:
            return EmbedderError(self.problem)
        assert self.embedder is not None
        try:
            rows = self._rows(list(missing.values()))
            data, size = rows.astype("<f4").tobytes(), 4 * rows.shape[1]
            starts = range(0, len(data), size)
            self._keep({key: data[at : at + size] for key, at in zip(missing, starts, strict=True)})
        except EmbedderError as error:
            self.problem = str(error)
            return error
        return None

    def _rows(self, texts: list[Any]) -> Matrix:
        """A row for each text."""
        embedder: Any = self.embedder
        embed = embedder.embed_prepared if self._prepares else embedder.embed_documents
        rows: Matrix = embed(texts)
        return rows

    def _keep(self, vectors: Mapping[bytes, bytes]) -> None:
        """Have vectors at hand for the files that need them; all are of one length."""
        lengths = {len(vector) // 4 for vector in vectors.values()} | ({self._length} - {0})
        if len(lengths) > 1:
            raise EmbedderError(
                f"the embedder returns vectors of different dimensions ({', '.join(map(str, sorted(lengths)))}): "
                "its model was replaced; run 'dowse index --rebuild'"
            )
        self._length = max(lengths, default=0)
        self._fresh |= vectors

    def _finished(self, one: _Texts) -> SourceFile:
        """The file with its vectors, or marked as one that waits for them."""
        if any(key not in self._fresh for key in one.keys):
            self.left_out += 1
            return one.file._replace(awaits_vectors=True)
        vectors = tuple(ChunkVector(key, self._fresh[key]) for key in one.keys)
        return one.file._replace(vectors=vectors, prepared=())


def prepared(
    embedder: Preparing, path: str, content: bytes, passages: Sequence[chunk_fields.Passage]
) -> tuple[PreparedChunk, ...]:
    """The chunks of a file as far as they can be embedded where it is taken apart."""
    model = embedder.name
    ready = map(embedder.prepared, chunk_fields.documents(path, content, passages))
    return tuple([PreparedChunk(_key(model, document), document) for document in ready])


def _key(model: str, text: bytes) -> bytes:
    return blake2b(b"%b\n%b" % (model.encode(), text), digest_size=KEY_BYTES).digest()
