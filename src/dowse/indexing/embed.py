"""Embedding stage of indexing: compute the vectors of chunks in batches, deduplicated by a hash of their text.

Equal texts are embedded once, in whatever file, and the cached vectors of unchanged texts are reused. This can be the
slowest stage and the one that fails: finished files are handed on to be stored every half a minute, and also when the
embedder fails, so that the next run resumes from there.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import blake2b
from typing import TYPE_CHECKING, Any

from dowse.code import chunk_fields
from dowse.embedders.embedder import Embedder, PretokenizingEmbedder
from dowse.errors import EmbedderError
from dowse.types.discovered import KEY_BYTES, ChunkVector, PreparedChunk, SourceFile

if TYPE_CHECKING:
    from dowse.embedders.embedder import Matrix

CALL_TEXTS = 256
"""New texts that are embedded at a time: enough for a model to sort them by length, little to lose."""

STORE_SECONDS = 30.0
"""What took this long to embed is stored: a kill loses no more."""


@dataclass
class EmbeddingRun:
    """The embedding stage of one run: with which embedder, whether to go on without it, and how it went."""

    embedder: Embedder | None
    load_vectors: Callable[[Sequence[bytes]], Mapping[bytes, bytes]]  # those of earlier runs, by key
    progress: Callable[[str, int, int], None]
    optional: bool = False
    total: int = 0  # bytes of all the files that there will be
    problem: str = ""  # why the embedder failed
    files_without_vectors: int = 0  # because of that
    _vectors: dict[bytes, bytes] = field(default_factory=dict)
    _done: int = 0  # bytes of the files that went through
    _length: int = 0  # dimensions of the vectors, once there is one

    def __post_init__(self) -> None:
        self._prepares = isinstance(
            self.embedder, PretokenizingEmbedder
        )  # isinstance is slow with a protocol

    def embed(self, files: list[SourceFile]) -> Iterator[list[SourceFile]]:
        """Add vectors to files; yield them in portions to store, and raise an error of the embedder after the last."""
        if self.embedder is None:
            yield files
            return
        self._vectors.clear()
        ready: list[SourceFile] = []
        since = time.monotonic()
        for group in self._group(files):
            self.progress("embed", min(self._done, self.total), self.total)
            failure = self._embed_missing(group)
            if failure and not self.optional:
                if ready:
                    yield ready
                raise failure
            ready += map(self._attach_vectors, group)
            self._done += sum(len(file.content) for file in group)
            if time.monotonic() - since >= STORE_SECONDS:
                yield ready
                ready, since = [], time.monotonic()
        if ready:
            yield ready

    def _group(self, files: Iterable[SourceFile]) -> Iterator[list[SourceFile]]:
        """Group files so that each group has about as many new texts as are embedded at a time."""
        group: list[SourceFile] = []
        new = 0
        for file in files if self._prepares else map(self._prepare_texts, files):
            unknown = [chunk.key for chunk in file.prepared if chunk.key not in self._vectors]
            self._add_vectors(self.load_vectors(unknown))
            group.append(file)
            new += sum(key not in self._vectors for key in unknown)
            if new >= CALL_TEXTS:
                yield group
                group, new = [], 0
        if group:
            yield group

    def _prepare_texts(self, file: SourceFile) -> SourceFile:
        """Prepare the chunks of a file for an embedder that reads plain text."""
        assert self.embedder is not None
        model = self.embedder.name
        texts = chunk_fields.build_embedding_texts(file.path, file.content, file.parsed, file.definitions)
        documents = [text.encode("utf-8", "replace") for text in texts]
        return file._replace(prepared=tuple([PreparedChunk(_key(model, text), text) for text in documents]))

    def _embed_missing(self, group: list[SourceFile]) -> EmbedderError | None:
        """Embed the texts of a group whose hash has no vector yet; return the error if that failed, now or earlier."""
        missing = {
            chunk.key: chunk.document
            for file in group
            for chunk in file.prepared
            if chunk.key not in self._vectors
        }
        if not missing:
            return None
        if self.problem:
            return EmbedderError(self.problem)
        try:
            embedder: Any = self.embedder
            rows: Matrix
            if self._prepares:
                rows = embedder.embed_pretokenized([*missing.values()])
            else:
                rows = embedder.embed_documents([document.decode() for document in missing.values()])
            data, size = rows.astype("<f4").tobytes(), 4 * rows.shape[1]
            starts = range(0, len(data), size)
            self._add_vectors({key: data[at : at + size] for key, at in zip(missing, starts, strict=True)})
        except EmbedderError as error:
            self.problem = str(error)
            return error
        return None

    def _add_vectors(self, vectors: Mapping[bytes, bytes]) -> None:
        """Keep vectors for the files that need them; raise an error if their dimensions differ."""
        lengths = {len(vector) // 4 for vector in vectors.values()} | ({self._length} - {0})
        if len(lengths) > 1:
            raise EmbedderError(
                f"the embedder returns vectors of different dimensions ({', '.join(map(str, sorted(lengths)))}): "
                "its model was replaced; run 'dowse index --rebuild'"
            )
        self._length = max(lengths, default=0)
        self._vectors |= vectors

    def _attach_vectors(self, file: SourceFile) -> SourceFile:
        """Add the vectors of its chunks to a file, or mark it as one that waits for them."""
        if any(chunk.key not in self._vectors for chunk in file.prepared):
            self.files_without_vectors += 1
            return file._replace(awaits_vectors=True, prepared=())
        vectors = tuple([ChunkVector(chunk.key, self._vectors[chunk.key]) for chunk in file.prepared])
        return file._replace(vectors=vectors, prepared=())


def prepare_chunks(
    embedder: PretokenizingEmbedder, path: str, content: bytes, passages: Sequence[chunk_fields.Passage]
) -> tuple[PreparedChunk, ...]:
    """Do the part of embedding that needs only the words of a file, where the file is analyzed."""
    model = embedder.name
    documents = map(embedder.pretokenize, chunk_fields.build_documents(path, content, passages))
    return tuple([PreparedChunk(_key(model, document), document) for document in documents])


def _key(model: str, text: bytes) -> bytes:
    return blake2b(b"%b\n%b" % (model.encode(), text), digest_size=KEY_BYTES).digest()
