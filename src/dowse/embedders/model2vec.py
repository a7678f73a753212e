"""Model2Vec embeddings: a static model with one vector per token, mean-pooled; no neural network is run.

Reads ``model.safetensors`` (memory-mapped), ``tokenizer.json`` and ``config.json`` from a local folder.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Mapping, Sequence
from functools import cached_property
from math import prod
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from dowse.embedders.model_files import TOKENIZER, load_tokenizer, read_json, require_file
from dowse.embedders.model_hash import hash_files
from dowse.embedders.vectors import normalize_rows
from dowse.errors import EmbedderError, SettingsError

if TYPE_CHECKING:
    import numpy as np
    from tokenizers import Tokenizer

    from dowse.embedders.embedder import Matrix

    Array = np.ndarray[Any, Any]

WEIGHTS_FILE = "model.safetensors"
EXTRA_NAME = "model2vec"

TABLE_NAMES = ("embeddings", "embedding.weight")
"""What the table is called by Model2Vec, and by sentence-transformers."""

MAX_TOKENS = 512
"""Tokens of a text that count: the default of Model2Vec."""

MAX_CHARACTERS = 20 * MAX_TOKENS
"""Characters that are cut into tokens: no text that is embedded has longer tokens throughout."""

MAX_HEADER_BYTES = 10_000_000
"""Bytes that a header can have at the most: a longer one is corrupt."""

DTYPES = {"F64": "<f8", "F32": "<f4", "F16": "<f2", "I64": "<i8", "I32": "<i4", "I8": "i1", "U8": "u1"}


class _Model2VecModel(NamedTuple):
    """A model, opened. ``weights`` (by token) and ``rows`` (token to row) are there in models with a shared table."""

    table: Array
    weights: Array | None
    rows: Array | None
    tokenizer: Tokenizer
    unknown: int | None


class Model2VecEmbedder:
    """Embeds with a static model in a directory. Opened at first use; safe to use from several threads."""

    def __init__(self, directory: Path) -> None:
        self._weights = require_file(directory / WEIGHTS_FILE)
        self._tokenizer = require_file(directory / TOKENIZER)
        self._opening = threading.Lock()
        self._opened_model: _Model2VecModel | None = None

    @cached_property
    def name(self) -> str:
        """Says which weights and tokenizer made a vector."""
        header, _ = read_header(self._weights)
        model_hash = hash_files([self._weights, self._tokenizer], f"{MAX_TOKENS}")
        return f"model2vec-{_find_table(header)['shape'][1]}-{model_hash}"

    @property
    def _model(self) -> _Model2VecModel:
        with self._opening:
            if self._opened_model is None:
                self._opened_model = self._open()
            return self._opened_model

    def _open(self) -> _Model2VecModel:
        tensors = open_tensors(self._weights)
        tokenizer = load_tokenizer(self._tokenizer, EXTRA_NAME)
        tokenizer.no_padding()
        tokenizer.enable_truncation(MAX_TOKENS)
        table = next(tensors[name] for name in TABLE_NAMES if name in tensors)
        rows, weights = tensors.get("mapping"), tensors.get("weights")
        if any(
            len(each) < tokenizer.get_vocab_size()
            for each in (table if rows is None else rows, weights)
            if each is not None
        ):
            raise EmbedderError(
                f"{self._weights} has fewer vectors than {self._tokenizer} has tokens: download both again"
            )
        return _Model2VecModel(
            table, weights, rows, tokenizer, _find_unknown_token(read_json(self._tokenizer), tokenizer)
        )

    def embed_documents(self, texts: Sequence[str]) -> Matrix:
        """Embed texts, one row for each."""
        import numpy as np

        model = self._model
        plain = [text[:MAX_CHARACTERS].encode("utf-8", "replace").decode() for text in texts]
        encoded = model.tokenizer.encode_batch_fast(plain, add_special_tokens=False)
        matrix = np.zeros((len(texts), model.table.shape[1]), dtype=np.float32)
        for index, encoding in enumerate(encoded):
            ids = [id for id in encoding.ids if id != model.unknown]
            if ids:
                matrix[index] = _mean(model, np.asarray(ids))
        if not np.isfinite(matrix).all():
            raise EmbedderError(f"{self._weights} has a value that is not a number: download it again")
        return normalize_rows(matrix)

    def embed_query(self, text: str) -> Sequence[float]:
        """Embed a query."""
        vector: list[float] = self.embed_documents([text])[0].tolist()
        return vector


def _mean(model: _Model2VecModel, ids: Array) -> Array:
    """Pool the vectors of tokens to their weighted mean."""
    rows = model.table[ids if model.rows is None else model.rows[ids]].astype("f4")
    if model.weights is not None:
        rows = rows * model.weights[ids].astype("f4")[:, None]
    mean: Array = rows.mean(axis=0)
    return mean


def _find_unknown_token(definition: Mapping[str, Any], tokenizer: Tokenizer) -> int | None:
    """Find the token that stands for what the vocabulary lacks: it means nothing."""
    model = definition.get("model", {})
    if isinstance(token := model.get("unk_token"), str):
        return tokenizer.token_to_id(token)
    unknown = model.get("unk_id")
    return unknown if isinstance(unknown, int) else None


def _find_table(header: Mapping[str, Any]) -> dict[str, Any]:
    return next(dict(header[name]) for name in TABLE_NAMES if name in header)


# --- the safetensors format: the length of a header, the header in JSON, then the arrays ---


def read_header(path: Path) -> tuple[dict[str, Any], int]:
    """Read and check which arrays a file declares, and where their data begins."""
    try:
        with open(path, "rb") as file:
            length = int.from_bytes(file.read(8), "little")
            if length > MAX_HEADER_BYTES:
                raise ValueError("its header is too long")
            header = json.loads(file.read(length))
        header.pop("__metadata__", None)
        _check_header(header, path.stat().st_size - 8 - length)
    except OSError as error:
        raise SettingsError(f"the model file {path} cannot be read: {error.strerror}") from error
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise SettingsError(f"the model file {path} is corrupt ({error}): download it again") from error
    return header, 8 + length


def _check_header(header: Mapping[str, Any], available: int) -> None:
    """Check that every array has a known type, and lies in the file as a whole."""
    for name, entry in header.items():
        begin, end = entry["data_offsets"]
        if not all(type(n) is int and n > 0 for n in entry["shape"]) or type(begin) is not int:
            raise ValueError(f"'{name}' has a shape that no array has")
        size = prod(entry["shape"]) * int(DTYPES[entry["dtype"]][-1])
        if not 0 <= begin < end <= available or end - begin != size:
            raise ValueError(f"'{name}' is not complete")
    if not any(name in header and len(header[name]["shape"]) == 2 for name in TABLE_NAMES):
        raise ValueError("it has no table of embeddings: is it a Model2Vec model?")


def open_tensors(path: Path) -> dict[str, Array]:
    """Map the arrays of a file into memory."""
    import numpy as np

    header, begin = read_header(path)
    return {
        name: np.memmap(
            path, DTYPES[entry["dtype"]], "r", begin + entry["data_offsets"][0], tuple(entry["shape"])
        )
        for name, entry in header.items()
    }
