"""ONNX embeddings: transformer models (sentence-transformers, Hugging Face) run on the CPU with onnxruntime.

A folder with ``tokenizer.json`` and ``model.onnx`` or ``onnx/model.onnx``, or the path of an ``.onnx`` file. Pooling,
prefixes and maximum length come from the sentence-transformers files beside it, or from ``presets``.
"""

from __future__ import annotations

import threading
from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from dowse.embedders.model_files import (
    TOKENIZER,
    load_tokenizer,
    missing_package_error,
    read_json,
    require_file,
)
from dowse.embedders.model_hash import hash_files
from dowse.embedders.presets import AUTO, ModelPreset, find_preset, resolve_prefixes
from dowse.embedders.vectors import to_model_text, validate_rows
from dowse.errors import EmbedderError, SettingsError

if TYPE_CHECKING:
    import numpy as np
    from onnxruntime import InferenceSession
    from tokenizers import Encoding, Tokenizer

    from dowse.embedders.embedder import Matrix

    Array = np.ndarray[Any, Any]

EXTRA_NAME = "onnx"

WEIGHT_FILES = ("model.onnx", "onnx/model.onnx", "onnx/model_quantized.onnx", "onnx/model_int8.onnx")
"""Where the weights are looked for, most precise first; then any other ``.onnx`` file."""

MAX_TOKENS = 512
"""Tokens of a text that are read at the most: a chunk has fewer, and time grows with the square."""

MAX_CHARACTERS = 10 * MAX_TOKENS

RUN_TOKENS = 4096
"""Tokens, padding included, that go through the model at a time: more takes memory and saves no time."""

POOLINGS = ("mean", "cls", "last")

POOLED_OUTPUT = "sentence_embedding"
"""The output of models that pool by themselves."""


class _OnnxModel(NamedTuple):
    """A model, loaded."""

    session: InferenceSession
    inputs: frozenset[str]
    output: str
    tokenizer: Tokenizer
    padding: int


class OnnxEmbedder:
    """Embeds with a model in a directory. Loaded at first use; safe to use from several threads."""

    def __init__(
        self, path: Path, *, batch: int = 64, query_prefix: str = AUTO, document_prefix: str = AUTO
    ) -> None:
        self._weights = _find_weights(path)
        self._home = _find_home(self._weights)
        self._batch = batch
        preset = _read_preset(self._home)
        self._pooling = preset.pooling
        self._query_prefix, self._document_prefix = resolve_prefixes(preset, query_prefix, document_prefix)
        self._limit = _read_token_limit(self._home)
        self._loading = threading.Lock()
        self._loaded_model: _OnnxModel | None = None

    @cached_property
    def name(self) -> str:
        """Says which weights made a vector, and how they were used."""
        used = (self._pooling, self._limit, self._query_prefix, self._document_prefix)
        weight_parts = sorted(
            self._weights.parent.glob(f"{self._weights.name}[._]*")
        )  # weights in files of their own
        model_hash = hash_files([self._weights, *weight_parts, self._home / TOKENIZER], repr(used))
        dimensions = read_json(self._home / "config.json").get("hidden_size", "")
        return f"onnx-{dimensions}-{model_hash}"

    def embed_documents(self, texts: Sequence[str]) -> Matrix:
        """Embed texts, one row for each."""
        return self._embed([to_model_text(text, self._document_prefix, MAX_CHARACTERS) for text in texts])

    def embed_query(self, text: str) -> Sequence[float]:
        """Embed a query."""
        vector: list[float] = self._embed([to_model_text(text, self._query_prefix, MAX_CHARACTERS)])[
            0
        ].tolist()
        return vector

    def _embed(self, texts: list[str]) -> Matrix:
        import numpy as np

        model = self._model
        if not texts:
            return self._embed([to_model_text("", self._document_prefix, MAX_CHARACTERS)])[:0]
        encoded = model.tokenizer.encode_batch_fast(texts)
        lengths = [len(one.ids) for one in encoded]
        pooled: list[Array | None] = [None] * len(texts)
        for indexes in _plan_runs(lengths, self._batch):
            for index, row in zip(indexes, self._run(model, [encoded[i] for i in indexes]), strict=True):
                pooled[index] = np.asarray(row)
        return validate_rows(pooled, len(texts), 0, f"the model {self._weights}")

    def _run(self, model: _OnnxModel, encoded: Sequence[Encoding]) -> Array:
        """Run some texts through the model at once, one row for each."""
        import numpy as np

        shape = (len(encoded), max(len(one.ids) for one in encoded))
        ids, mask = np.full(shape, model.padding, dtype=np.int64), np.zeros(shape, dtype=np.int64)
        for row, one in enumerate(encoded):
            ids[row, : len(one.ids)] = one.ids
            mask[row, : len(one.ids)] = 1
        inputs = {
            "input_ids": ids,
            "attention_mask": mask,
            "token_type_ids": np.zeros(shape, dtype=np.int64),
            "position_ids": np.broadcast_to(np.arange(shape[1], dtype=np.int64), shape),
        }
        try:
            (found,) = model.session.run([model.output], {name: inputs[name] for name in model.inputs})
        except _list_runtime_errors() as error:
            raise EmbedderError(f"the model {self._weights} failed: {_first_line(error)}") from error
        values = np.asarray(found, dtype=np.float32)
        return values if values.ndim == 2 else _pool(values, mask, self._pooling)

    @property
    def _model(self) -> _OnnxModel:
        with self._loading:
            if self._loaded_model is None:
                self._loaded_model = self._load()
            return self._loaded_model

    def _load(self) -> _OnnxModel:
        try:
            import onnxruntime
        except ImportError as error:
            raise missing_package_error("onnxruntime", EXTRA_NAME) from error
        tokenizer = load_tokenizer(self._home / TOKENIZER, EXTRA_NAME)
        padding = _find_padding_token(tokenizer)
        tokenizer.no_padding()
        tokenizer.enable_truncation(self._limit)
        options = onnxruntime.SessionOptions()
        options.log_severity_level = (
            3  # errors, which are raised as well; warnings are for the model's author
        )
        try:
            session = onnxruntime.InferenceSession(
                str(self._weights), options, providers=["CPUExecutionProvider"]
            )
        except _list_runtime_errors() as error:
            raise EmbedderError(
                f"the model {self._weights} cannot be loaded ({_first_line(error)}): download it again"
            ) from error
        inputs = frozenset(one.name for one in session.get_inputs())
        if unknown := inputs - {"input_ids", "attention_mask", "token_type_ids", "position_ids"}:
            raise EmbedderError(
                f"the model {self._weights} asks for '{min(unknown)}': choose one that turns text into vectors"
            )
        output = _choose_output([one.name for one in session.get_outputs()])
        return _OnnxModel(session, inputs, output, tokenizer, padding)


def _find_weights(path: Path) -> Path:
    if path.is_file():
        return path
    for candidate in (
        *(path / name for name in WEIGHT_FILES),
        *sorted(path.glob("*.onnx")),
        *sorted(path.glob("onnx/*.onnx")),
    ):
        if candidate.is_file():
            return candidate
    raise SettingsError(f"there is no model.onnx in {path}: download the model in ONNX format")


def _find_home(weights: Path) -> Path:
    """Find the directory of a model: with its weights, or above them."""
    home = next(
        (folder for folder in (weights.parent, weights.parent.parent) if (folder / TOKENIZER).is_file()), None
    )
    return home or require_file(weights.parent / TOKENIZER).parent


def _read_preset(home: Path) -> ModelPreset:
    """Read how the model wants to be used: as its files say, or as is known of it."""
    config = read_json(home / "config.json")
    by_name = (find_preset(name) for name in (str(config.get("_name_or_path", "")), home.resolve().name))
    preset = next((found for found in by_name if found != ModelPreset()), ModelPreset())
    prompts = read_json(home / "config_sentence_transformers.json").get("prompts")
    if isinstance(prompts, dict) and any(prompts.values()):
        document = prompts.get("document", prompts.get("passage", preset.document))
        preset = preset._replace(query=str(prompts.get("query", preset.query)), document=str(document))
    if pooling := _parse_pooling(read_json(home / "1_Pooling" / "config.json")):
        preset = preset._replace(pooling=pooling)
    if preset.pooling not in POOLINGS:
        raise SettingsError(
            f"the model at {home} wants '{preset.pooling}' pooling: choose one with {', '.join(POOLINGS)}"
        )
    return preset


def _parse_pooling(config: dict[str, Any]) -> str:
    """Parse the pooling, ``pooling_mode_cls_token: true`` -> ``cls``; empty if nothing is said."""
    names = {"mean_tokens": "mean", "cls_token": "cls", "lasttoken": "last"}
    modes = [
        key.removeprefix("pooling_mode_")
        for key, value in config.items()
        if key.startswith("pooling_mode_") and value is True
    ]
    return " and ".join(names.get(mode, mode) for mode in modes)


def _read_token_limit(home: Path) -> int:
    """Read how many tokens the model can take, as far as its files say so."""
    declared = (
        read_json(home / "sentence_bert_config.json").get("max_seq_length"),
        read_json(home / "tokenizer_config.json").get("model_max_length"),
        read_json(home / "config.json").get("max_position_embeddings"),
    )
    return min([MAX_TOKENS, *(limit for limit in declared if isinstance(limit, int) and limit > 0)])


def _find_padding_token(tokenizer: Tokenizer) -> int:
    """Find the token that fills up shorter texts: some models number positions by it."""
    if tokenizer.padding:
        return int(tokenizer.padding["pad_id"])
    found = (tokenizer.token_to_id(token) for token in ("[PAD]", "<pad>", "<|endoftext|>"))
    return next((id for id in found if id is not None), 0)


def _choose_output(names: Sequence[str]) -> str:
    """Choose the output to use: the text as a whole if the model offers it, otherwise its tokens."""
    return next(
        (name for name in (POOLED_OUTPUT, "last_hidden_state", "token_embeddings") if name in names), names[0]
    )


def _plan_runs(lengths: Sequence[int], batch: int) -> Iterator[list[int]]:
    """Plan which texts go through the model together: those of like length, so that little is padding."""
    indexes: list[int] = []
    for index in sorted(range(len(lengths)), key=lengths.__getitem__):
        if indexes and (len(indexes) >= batch or (len(indexes) + 1) * lengths[index] > RUN_TOKENS):
            yield indexes
            indexes = []
        indexes.append(index)
    if indexes:
        yield indexes


def _pool(states: Array, mask: Array, pooling: str) -> Array:
    """Pool one row per token to one row per text."""
    import numpy as np

    rows: Array
    if pooling == "cls":
        rows = states[:, 0]
    elif pooling == "last":
        rows = states[np.arange(len(states)), mask.sum(axis=1) - 1]
    else:
        weights = mask[:, :, None].astype(np.float32)
        rows = (states * weights).sum(axis=1) / weights.sum(axis=1)
    return rows


def _list_runtime_errors() -> tuple[type[Exception], ...]:
    """List everything that onnxruntime raises; its errors have no common base."""
    from onnxruntime.capi import onnxruntime_pybind11_state as state

    found: Iterable[object] = vars(state).values()
    return tuple(one for one in found if isinstance(one, type) and issubclass(one, Exception))


def _first_line(error: Exception) -> str:
    return str(error).strip().partition("\n")[0][:200]
