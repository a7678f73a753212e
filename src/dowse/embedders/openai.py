"""OpenAI-compatible embeddings API (``/embeddings``): OpenAI itself, and the many servers that imitate it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from dowse.embedders.http_base import HttpEmbedder
from dowse.errors import EmbedderError
from dowse.services.http_client import host
from dowse.settings import OPENAI_HOST

if TYPE_CHECKING:
    from dowse.services.http_client import Client

DEFAULT_URL = "https://api.openai.com/v1"
DEFAULT_MODEL = "text-embedding-3-small"

ADVICE = {
    401: "put a valid key into DOWSE_EMBEDDER_KEY (or OPENAI_API_KEY for OpenAI itself)",
    403: "the key is not allowed to do this: check its permissions",
    404: "check the model, and embedder_url: it usually ends in /v1",
    413: "set embedder_batch or chunk_size lower",
}


class OpenAIEmbedder(HttpEmbedder):
    """Embeds with a service that is compatible with OpenAI's."""

    provider = "openai"

    def _request_vectors(self, texts: list[str], client: Client) -> Sequence[object]:
        if host(client.url) == OPENAI_HOST and not client.find_key():
            raise EmbedderError("there is no key for OpenAI: put it into OPENAI_API_KEY in your environment")
        body: dict[str, object] = {"model": self.model, "input": texts}
        if self.dimensions:
            body["dimensions"] = self.dimensions
        data = client.post("/embeddings", body).get("data")
        try:
            return _sort_vectors(data, len(texts))
        except (TypeError, KeyError, ValueError) as error:
            raise EmbedderError(
                f"{client.url} did not return an embedding for each text ({error}): is it the right service?"
            ) from error

    def _model_source(self) -> str:
        """Return the address: servers name models as they like, and the same name elsewhere may be another model."""
        return self.client.url


def _sort_vectors(data: object, count: int) -> list[object]:
    """Put the vectors into the order of their texts, which each answer names by ``index``."""
    if not isinstance(data, list) or len(data) != count:
        raise ValueError(f"{len(data)} for {count}" if isinstance(data, list) else "no data")
    rows: dict[int, object] = {item["index"]: item["embedding"] for item in data}
    return [rows[index] for index in range(count)]
