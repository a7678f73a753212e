"""Models small enough to be made by a test: real files in the real formats."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper
from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors

SPECIAL = ["[PAD]", "[UNK]", "[CLS]", "[SEP]"]
WORDS = """
refresh refresh_token token user sign the return def class httpserver http server listen port where is that can on a
größe 日本語 import os query passage search_query search_document retry with backoff call attempts session
""".split()
VOCABULARY = [*SPECIAL, *WORDS]
DIMENSIONS = 64

Array = np.ndarray[Any, np.dtype[Any]]


def table(seed: int = 1, dimensions: int = DIMENSIONS) -> Array:
    """A vector for each token: random, so that no two are alike; of the special ones, only padding has weight."""
    rows = np.random.default_rng(seed).normal(size=(len(VOCABULARY), dimensions)).astype(np.float32)
    rows[1 : len(SPECIAL)] *= 0.1
    return rows


def write_tokenizer(folder: Path, *, special: bool) -> Tokenizer:
    """Whole words, in lower case; with the tokens around a text that neural models know."""
    tokenizer = Tokenizer(models.WordLevel({word: id for id, word in enumerate(VOCABULARY)}, "[UNK]"))
    tokenizer.normalizer = normalizers.Lowercase()
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    if special:
        tokenizer.post_processor = processors.TemplateProcessing(
            single="[CLS] $A [SEP]", special_tokens=[("[CLS]", 2), ("[SEP]", 3)]
        )
    folder.mkdir(parents=True, exist_ok=True)
    tokenizer.save(str(folder / "tokenizer.json"))
    return tokenizer


def write_safetensors(path: Path, arrays: Mapping[str, Array]) -> None:
    """The length of the header, the header, the arrays one after the other."""
    names = {"float32": "F32", "float16": "F16", "int8": "I8", "int64": "I64"}
    header: dict[str, object] = {"__metadata__": {"format": "np"}}
    at = 0
    for name, array in arrays.items():
        header[name] = {
            "dtype": names[array.dtype.name],
            "shape": list(array.shape),
            "data_offsets": [at, at + array.nbytes],
        }
        at += array.nbytes
    head = json.dumps(header).encode()
    path.write_bytes(len(head).to_bytes(8, "little") + head + b"".join(a.tobytes() for a in arrays.values()))


def model2vec(folder: Path, arrays: Mapping[str, Array] | None = None) -> Path:
    """A directory as Model2Vec writes it."""
    write_tokenizer(folder, special=False)
    write_safetensors(folder / "model.safetensors", arrays or {"embeddings": table()})
    (folder / "config.json").write_text(json.dumps({"model_type": "model2vec", "normalize": True}))
    return folder


def onnx_model(
    folder: Path,
    *,
    rows: Array | None = None,
    weights: str = "onnx/model.onnx",
    inputs: Sequence[str] = ("input_ids", "attention_mask", "token_type_ids"),
    pooled: bool = False,
) -> Path:
    """A directory as Hugging Face has it: a network that looks up a row for each token, and no more."""
    rows = table() if rows is None else rows
    write_tokenizer(folder, special=True)
    nodes = [helper.make_node("Gather", ["table", "input_ids"], ["last_hidden_state"])]
    shape: list[str | int] = ["batch", "tokens", rows.shape[1]]
    outputs = [helper.make_tensor_value_info("last_hidden_state", TensorProto.FLOAT, shape)]
    if pooled:  # the largest value of each column, which no pooling of ours gives
        nodes.append(
            helper.make_node("ReduceMax", ["last_hidden_state"], ["sentence_embedding"], axes=[1], keepdims=0)
        )
        outputs.append(
            helper.make_tensor_value_info("sentence_embedding", TensorProto.FLOAT, [shape[0], shape[2]])
        )
    graph = helper.make_graph(
        nodes,
        "lookup",
        [helper.make_tensor_value_info(name, TensorProto.INT64, ["batch", "tokens"]) for name in inputs],
        outputs,
        [numpy_helper.from_array(rows, "table")],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8)
    (folder / weights).parent.mkdir(parents=True, exist_ok=True)
    onnx.save(model, str(folder / weights))
    (folder / "config.json").write_text(json.dumps({"hidden_size": rows.shape[1]}))
    return folder
