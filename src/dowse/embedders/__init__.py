"""Embedding model registry: create the embedder that a setting names (static, ONNX, Model2Vec, Ollama, OpenAI, none).

Adding one is one file and one row in the table ``EMBEDDERS``. Also has the cache of query embeddings.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dowse.embedders.embedder import Embedder, SupportsTimeout
from dowse.errors import EmbedderError, SettingsError
from dowse.lru import LruCache
from dowse.settings import ResolvedSettings, Settings, read_service_key

if TYPE_CHECKING:
    from dowse.services.http_client import Client

DEFAULTS = ResolvedSettings(Settings(), {})

MAX_VECTORS = 64
"""Queries whose vectors are kept: the cache and the dense channel ask for the same one."""

RETRY_SECONDS = 1.0
"""Seconds after which an embedder that failed is asked the same again: not twice for one answer."""


def create(spec: str, resolved: ResolvedSettings = DEFAULTS, root: Path = Path()) -> Embedder | None:
    """Create the embedder that a setting like ``onnx:/path`` names; ``none`` switches the dense channel off.

    Nothing is loaded and nothing is sent yet. A relative path is relative to ``root``.
    """
    name, _, rest = spec.partition(":")
    if name not in EMBEDDERS:
        raise SettingsError(f"unknown embedder '{name}': known are {', '.join(NAMES)}")
    if rest and name in ("none", "static", "hashing"):
        raise SettingsError(f"the embedder '{name}' takes nothing after it: write '{name}', not '{spec}'")
    return EMBEDDERS[name](rest, resolved, root)


def with_deadline(embedder: Embedder | None) -> Embedder | None:
    """Return an embedder for work that somebody waits for: it gives up early rather than late."""
    return embedder.with_deadline() if isinstance(embedder, SupportsTimeout) else embedder


class CachingEmbedder:
    """An embedder that does not embed the same query twice, nor fail at it twice in a row."""

    def __init__(self, embedder: Embedder, clock: Callable[[], float] = time.monotonic) -> None:
        self._embedder = embedder
        self._clock = clock
        self._vectors: LruCache[str, Sequence[float]] = LruCache(MAX_VECTORS)
        self._failure: tuple[str, EmbedderError, float] | None = None

    @property
    def name(self) -> str:
        """The name of the model."""
        return self._embedder.name

    def embed_documents(self, texts: Sequence[str]) -> Any:
        """Embed documents, without a cache."""
        return self._embedder.embed_documents(texts)

    def embed_query(self, text: str) -> Sequence[float]:
        """Embed a query, or return the vector from the last time."""
        if (known := self._vectors.get(text)) is not None:
            return known
        failure = self._failure
        if failure and failure[0] == text and self._clock() < failure[2]:
            raise failure[1]
        try:
            vector = self._embedder.embed_query(text)
        except EmbedderError as error:
            self._failure = (text, error, self._clock() + RETRY_SECONDS)
            raise
        self._vectors.put(text, vector)
        return vector


def _create_none(rest: str, resolved: ResolvedSettings, root: Path) -> None:
    return None


def _create_static(rest: str, resolved: ResolvedSettings, root: Path) -> Embedder:
    from dowse.embedders.static import load_built_in

    return load_built_in()


def _create_hashing(rest: str, resolved: ResolvedSettings, root: Path) -> Embedder:
    from dowse.embedders.hashing import HashingEmbedder

    return HashingEmbedder()


def _create_model2vec(path: str, resolved: ResolvedSettings, root: Path) -> Embedder:
    from dowse.embedders.model2vec import Model2VecEmbedder
    from dowse.embedders.model_files import find_model_directory

    _require_own_model("model2vec", path, resolved)
    return Model2VecEmbedder(find_model_directory(path, root, "model2vec"))


def _create_onnx(path: str, resolved: ResolvedSettings, root: Path) -> Embedder:
    from dowse.embedders.model_files import find_model_directory
    from dowse.embedders.onnx import OnnxEmbedder

    _require_own_model("onnx", path, resolved)
    s = resolved.settings
    return OnnxEmbedder(
        find_model_directory(path, root, "onnx"),
        batch=s.embedder_batch,
        query_prefix=s.embedder_query_prefix,
        document_prefix=s.embedder_document_prefix,
    )


def _require_own_model(provider: str, path: str, resolved: ResolvedSettings) -> None:
    """Raise an error if a tree names the model: native code would read the file of a stranger."""
    spec = f"{provider}:{path}"
    resolved.require_user("embedder", f"load the model {spec}", f"DOWSE_EMBEDDER={spec}")


def _create_ollama(model: str, resolved: ResolvedSettings, root: Path) -> Embedder:
    from dowse.embedders import ollama

    model = model or ollama.DEFAULT_MODEL
    client = _create_client(
        resolved, ollama.DEFAULT_URL, start=ollama.START_ADVICE, advice=ollama.advice(model)
    )
    return ollama.OllamaEmbedder(client, model, **_request_options(resolved.settings))


def _create_openai(model: str, resolved: ResolvedSettings, root: Path) -> Embedder:
    from dowse.embedders import openai

    may_send_key = resolved.may_send_key("embedder_url")
    refused = "no key is sent to an address that a tree names: set DOWSE_EMBEDDER_URL if you want that"
    advice = openai.ADVICE if may_send_key else {**openai.ADVICE, 401: refused, 403: refused}
    key = partial(read_service_key, "embedder") if may_send_key else None
    client = _create_client(resolved, openai.DEFAULT_URL, advice=advice, key=key)
    return openai.OpenAIEmbedder(client, model or openai.DEFAULT_MODEL, **_request_options(resolved.settings))


def _request_options(s: Settings) -> dict[str, Any]:
    return {
        "dimensions": s.embedder_dimensions,
        "batch": s.embedder_batch,
        "query_prefix": s.embedder_query_prefix,
        "document_prefix": s.embedder_document_prefix,
    }


def _create_client(resolved: ResolvedSettings, default: str, **how: Any) -> Client:
    """Create a client of the service. Text leaves the machine only if the user says so: a file in the tree cannot."""
    from dowse.services.http_client import Client, is_local, validate_url

    s = resolved.settings
    url = validate_url(s.embedder_url or default)
    if not is_local(url):
        decided_by = "embedder_url" if s.embedder_url else "embedder"
        request = f"send the text of this tree to {url}"
        resolved.require_user(decided_by, request, f"DOWSE_EMBEDDER_URL={url}")
    return Client(url, s.embedder_timeout, **how)


EMBEDDERS: dict[str, Callable[[str, ResolvedSettings, Path], Embedder | None]] = {
    "none": _create_none,
    "static": _create_static,
    "hashing": _create_hashing,
    "model2vec": _create_model2vec,
    "onnx": _create_onnx,
    "ollama": _create_ollama,
    "openai": _create_openai,
}
"""What may stand before the colon of the setting ``embedder``, and what makes an embedder of the rest."""

NAMES = tuple(EMBEDDERS)
