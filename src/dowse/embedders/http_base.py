"""Base class of remote embedding APIs over HTTP: query and document prefixes, batching, validation of the vectors."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from hashlib import blake2b
from typing import TYPE_CHECKING, ClassVar, Self

from dowse.embedders.presets import AUTO, find_preset, resolve_prefixes
from dowse.embedders.vectors import to_model_text, validate_rows
from dowse.errors import EmbedderError

if TYPE_CHECKING:
    from dowse.embedders.embedder import Matrix
    from dowse.services.http_client import Client

MAX_CHARACTERS = 4000
"""Characters of a text that are sent: a chunk has fewer, and in no script are these more tokens than models read."""

BATCH_CHARACTERS = 100_000
"""Characters of a request: well below what services accept (300,000 tokens at OpenAI)."""


@dataclass(frozen=True)
class HttpEmbedder(ABC):
    """Embeds by calling a service. Nothing is sent before the first text; safe to use from several threads."""

    provider: ClassVar[str]

    client: Client
    model: str
    dimensions: int = 0  # 0: as many as the model has
    batch: int = 64
    query_prefix: str = AUTO
    document_prefix: str = AUTO

    @property
    def name(self) -> str:
        """Name of the model and of how it is used: other name, other vectors."""
        used = blake2b(repr((*self._prefixes, self._model_source())).encode(), digest_size=4).hexdigest()
        return f"{self.provider}-{self.model}-{self._expected_dimensions or 'any'}-{used}"

    def embed_documents(self, texts: Sequence[str]) -> Matrix:
        """Embed texts, one row for each."""
        import numpy as np

        prefix = self._prefixes[1]
        batches = _split_batches([to_model_text(text, prefix, MAX_CHARACTERS) for text in texts], self.batch)
        matrices = [self._embed(batch, self.client) for batch in batches]
        if not matrices:
            return np.zeros((0, self._expected_dimensions or len(self.embed_query(""))), dtype=np.float32)
        if len({matrix.shape[1] for matrix in matrices}) > 1:
            raise EmbedderError(
                f"{self.client.url} returned vectors of different dimensions: check the model"
            )
        return np.concatenate(matrices)

    def embed_query(self, text: str) -> Sequence[float]:
        """Embed a query; somebody waits for it."""
        texts = [to_model_text(text, self._prefixes[0], MAX_CHARACTERS)]
        vector: list[float] = self._embed(texts, self._deadline_client)[0].tolist()
        return vector

    def with_deadline(self) -> Self:
        """Return this embedder with a short deadline, for work that somebody waits for."""
        return replace(self, client=self._deadline_client)

    @cached_property
    def _deadline_client(self) -> Client:
        return self.client.with_deadline()

    @abstractmethod
    def _request_vectors(self, texts: list[str], client: Client) -> Sequence[object]:
        """Ask the service for the vectors of some texts, and return them as it sends them."""

    def _model_source(self) -> str:
        """Return what else tells one model from another of the same name."""
        return ""

    @property
    def _expected_dimensions(self) -> int:
        return self.dimensions or find_preset(self.model).dimensions

    @property
    def _prefixes(self) -> tuple[str, str]:
        return resolve_prefixes(find_preset(self.model), self.query_prefix, self.document_prefix)

    def _embed(self, texts: list[str], client: Client) -> Matrix:
        rows = self._request_vectors(texts, client)
        return validate_rows(rows, len(texts), self._expected_dimensions, self.client.url)


def _split_batches(texts: list[str], most: int) -> Iterator[list[str]]:
    """Split texts, in order, into batches that are small enough by number and by size."""
    batch: list[str] = []
    size = 0
    for text in texts:
        if batch and (len(batch) >= most or size + len(text) > BATCH_CHARACTERS):
            yield batch
            batch, size = [], 0
        batch.append(text)
        size += len(text)
    if batch:
        yield batch
