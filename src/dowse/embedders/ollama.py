"""Ollama embeddings: models that an Ollama server provides by ``/api/embed``, on this machine or another."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from dowse.embedders.http_base import HttpEmbedder
from dowse.errors import EmbedderError

if TYPE_CHECKING:
    from dowse.services.http_client import Client

DEFAULT_URL = "http://localhost:11434"
DEFAULT_MODEL = "nomic-embed-text"
START_ADVICE = "start it with 'ollama serve', or set embedder_url to where it runs"


class OllamaEmbedder(HttpEmbedder):
    """Embeds with Ollama. What is longer than the model can read is cut by Ollama."""

    provider = "ollama"

    def _request_vectors(self, texts: list[str], client: Client) -> Sequence[object]:
        body: dict[str, object] = {"model": self.model, "input": texts, "truncate": True}
        if self.dimensions:
            body["dimensions"] = self.dimensions
        rows = client.post("/api/embed", body).get("embeddings")
        if not isinstance(rows, list):
            raise EmbedderError(f"{client.url} returned no embeddings: update Ollama (0.3 or newer)")
        return rows


def advice(model: str) -> dict[int, str]:
    """Return what to do about each HTTP status that Ollama answers with."""
    return {404: f"get the model with 'ollama pull {model}'", 400: "is this a model that makes embeddings?"}
