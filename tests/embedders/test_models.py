"""Models in directories: that their files are read as they are meant, and what is said of those that cannot be."""

from __future__ import annotations

import json
import os
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from dowse import embedders
from dowse.embedders import model_hash as digests
from dowse.embedders.embedder import Embedder
from dowse.embedders.model2vec import Model2VecEmbedder
from dowse.embedders.model_hash import hash_files
from dowse.embedders.onnx import OnnxEmbedder
from dowse.embedders.presets import ModelPreset, find_preset
from dowse.embedders.vectors import BLANK_TEXT, normalize_rows, to_model_text, validate_rows
from dowse.errors import EmbedderError, SettingsError
from tests.embedders import models
from tests.embedders.models import VOCABULARY, Array, table


def ids(text: str) -> list[int]:
    return [VOCABULARY.index(word) for word in text.split()]


def unit(row: Array) -> Array:
    scaled: Array = row / np.linalg.norm(row)
    return scaled


# --- Model2Vec ---


def test_a_text_is_the_mean_of_its_tokens(tmp_path: Path) -> None:
    embedder = Model2VecEmbedder(models.model2vec(tmp_path))
    rows = table()[ids("refresh the token")]
    expected = unit((rows[0] + rows[1] + rows[2]) / 3)
    assert embedder.embed_documents(["Refresh the TOKEN"])[0] == pytest.approx(expected, abs=1e-6)
    assert embedder.embed_query("refresh the token") == pytest.approx(expected, abs=1e-6)


def test_an_unknown_word_counts_nothing(tmp_path: Path) -> None:
    embedder = Model2VecEmbedder(models.model2vec(tmp_path))
    with_it, without = embedder.embed_documents(["refresh zyxw token", "refresh token"])
    assert np.array_equal(with_it, without)
    assert not embedder.embed_documents(["zyxw"]).any()


def test_tokens_can_have_weights_and_share_rows(tmp_path: Path) -> None:
    weights = np.linspace(0.1, 2.0, len(VOCABULARY)).astype(np.float32)
    mapping = np.arange(len(VOCABULARY), dtype=np.int64) % 10
    arrays = {"embeddings": table()[:10], "weights": weights, "mapping": mapping}
    embedder = Model2VecEmbedder(models.model2vec(tmp_path, arrays))
    one, two = ids("refresh token")
    expected = unit(weights[one] * table()[one % 10] + weights[two] * table()[two % 10])
    assert embedder.embed_query("refresh token") == pytest.approx(expected, abs=1e-6)


@pytest.mark.parametrize(("dtype", "tolerance"), [("float16", 1e-3), ("int8", 0.05)])
def test_weights_can_be_smaller_numbers(tmp_path: Path, dtype: str, tolerance: float) -> None:
    small = (table() * 30).clip(-127, 127).astype(dtype)
    embedder = Model2VecEmbedder(models.model2vec(tmp_path, {"embeddings": small}))
    expected = unit(table()[ids("refresh the token")].mean(axis=0))
    assert embedder.embed_query("refresh the token") == pytest.approx(expected, abs=tolerance)


def test_the_table_may_have_the_name_of_sentence_transformers(tmp_path: Path) -> None:
    embedder = Model2VecEmbedder(models.model2vec(tmp_path, {"embedding.weight": table()}))
    assert len(embedder.embed_query("token")) == models.DIMENSIONS
    assert f"-{models.DIMENSIONS}-" in embedder.name


@pytest.mark.parametrize(
    "corruption",
    [
        b"",
        b"\0" * 4,
        b"\xff" * 100,
        (10).to_bytes(8, "little") + b"not json!!",
        (2).to_bytes(8, "little") + b"[]",
        (2).to_bytes(8, "little") + b"{}",
        (18).to_bytes(8, "little") + b'{"embeddings": {}}',
    ],
)
def test_weights_that_cannot_be_read_are_named(tmp_path: Path, corruption: bytes) -> None:
    folder = models.model2vec(tmp_path)
    (folder / "model.safetensors").write_bytes(corruption)
    embedder = Model2VecEmbedder(folder)
    with pytest.raises(SettingsError, match=r"model\.safetensors is corrupt \(.*\): download it again"):
        _ = embedder.name
    with pytest.raises(SettingsError, match="is corrupt"):
        embedder.embed_query("token")


def test_weights_that_are_cut_off_are_named(tmp_path: Path) -> None:
    weights = models.model2vec(tmp_path) / "model.safetensors"
    weights.write_bytes(weights.read_bytes()[:-1])
    with pytest.raises(SettingsError, match="'embeddings' is not complete"):
        _ = Model2VecEmbedder(tmp_path).name


def test_fewer_vectors_than_tokens_are_an_error(tmp_path: Path) -> None:
    embedder = Model2VecEmbedder(models.model2vec(tmp_path, {"embeddings": table()[:10]}))
    with pytest.raises(EmbedderError, match="fewer vectors than"):
        embedder.embed_query("token")


def test_a_vector_of_no_numbers_is_an_error(tmp_path: Path) -> None:
    broken = table()
    broken[VOCABULARY.index("token"), 3] = np.nan
    embedder = Model2VecEmbedder(models.model2vec(tmp_path, {"embeddings": broken}))
    assert len(embedder.embed_query("user")) == models.DIMENSIONS
    with pytest.raises(EmbedderError, match="not a number"):
        embedder.embed_query("token")


# --- ONNX ---


def test_by_default_tokens_are_averaged(tmp_path: Path) -> None:
    embedder = OnnxEmbedder(models.onnx_model(tmp_path))
    expected = unit(table()[ids("[CLS] refresh the token [SEP]")].mean(axis=0))
    assert embedder.embed_query("refresh the token") == pytest.approx(expected, abs=1e-6)


@pytest.mark.parametrize(
    ("pooling", "token"), [("cls_token", "[CLS]"), ("lasttoken", "[SEP]")]
)  # fmt: skip
def test_the_model_says_how_to_pool(tmp_path: Path, pooling: str, token: str) -> None:
    models.onnx_model(tmp_path)
    plain = OnnxEmbedder(tmp_path).name
    (tmp_path / "1_Pooling").mkdir()
    modes = {
        "pooling_mode_mean_tokens": False,
        f"pooling_mode_{pooling}": True,
        "word_embedding_dimension": 64,
    }
    (tmp_path / "1_Pooling" / "config.json").write_text(json.dumps(modes))
    embedder = OnnxEmbedder(tmp_path)
    expected = unit(table()[VOCABULARY.index(token)])
    rows = embedder.embed_documents(["refresh the token", "user"])
    assert rows[0] == pytest.approx(expected, abs=1e-6)
    assert rows[1] == pytest.approx(expected, abs=1e-6)
    assert embedder.name != plain


def test_a_pooling_that_is_not_known_is_an_error(tmp_path: Path) -> None:
    models.onnx_model(tmp_path)
    (tmp_path / "1_Pooling").mkdir()
    (tmp_path / "1_Pooling" / "config.json").write_text('{"pooling_mode_max_tokens": true}')
    with pytest.raises(SettingsError, match="wants 'max_tokens' pooling"):
        OnnxEmbedder(tmp_path)


def test_a_model_that_pools_by_itself_is_left_to(tmp_path: Path) -> None:
    embedder = OnnxEmbedder(models.onnx_model(tmp_path, pooled=True))
    expected = unit(table()[ids("[CLS] refresh the token [SEP]")].max(axis=0))
    assert embedder.embed_query("refresh the token") == pytest.approx(expected, abs=1e-6)


@pytest.mark.parametrize(
    "inputs", [("input_ids",), ("input_ids", "attention_mask"), ("input_ids", "position_ids")]
)
def test_a_model_gets_the_inputs_it_asks_for(tmp_path: Path, inputs: tuple[str, ...]) -> None:
    embedder = OnnxEmbedder(models.onnx_model(tmp_path, inputs=inputs))
    assert embedder.embed_documents(["user", "refresh the token"]).shape == (2, models.DIMENSIONS)


def test_a_model_for_something_else_is_an_error(tmp_path: Path) -> None:
    embedder = OnnxEmbedder(models.onnx_model(tmp_path, inputs=("input_ids", "pixel_values")))
    with pytest.raises(
        EmbedderError, match="asks for 'pixel_values': choose one that turns text into vectors"
    ):
        embedder.embed_query("token")


def test_only_as_much_is_read_as_the_model_can(tmp_path: Path) -> None:
    models.onnx_model(tmp_path)
    longest = OnnxEmbedder(tmp_path).name
    (tmp_path / "tokenizer_config.json").write_text('{"model_max_length": 4}')
    embedder = OnnxEmbedder(tmp_path)
    one, two = embedder.embed_documents(["refresh token", "refresh token user user user"])
    assert np.array_equal(one, two)
    assert embedder.name != longest


@pytest.mark.parametrize(
    "weights", ["model.onnx", "onnx/model.onnx", "onnx/model_quantized.onnx", "onnx/x.onnx"]
)
def test_weights_are_found_where_they_usually_are(tmp_path: Path, weights: str) -> None:
    OnnxEmbedder(models.onnx_model(tmp_path, weights=weights)).embed_query("token")


def test_one_of_several_weights_can_be_chosen(tmp_path: Path) -> None:
    models.onnx_model(tmp_path, weights="onnx/model_other.onnx", rows=table(2))
    models.onnx_model(tmp_path)
    chosen = embedders.create(f"onnx:{tmp_path / 'onnx' / 'model_other.onnx'}")
    assert chosen is not None
    expected = unit(table(2)[ids("[CLS] token [SEP]")].mean(axis=0))
    assert chosen.embed_query("token") == pytest.approx(expected, abs=1e-6)


def test_weights_beside_the_model_are_part_of_its_name(tmp_path: Path) -> None:
    models.onnx_model(tmp_path)
    before = OnnxEmbedder(tmp_path).name
    (tmp_path / "onnx" / "model.onnx_data").write_bytes(b"weights")
    assert OnnxEmbedder(tmp_path).name != before


def test_prefixes_come_from_the_files_of_a_model(tmp_path: Path) -> None:
    models.onnx_model(tmp_path)
    prompts = {"prompts": {"query": "query ", "passage": "passage "}}
    (tmp_path / "config_sentence_transformers.json").write_text(json.dumps(prompts))
    embedder = OnnxEmbedder(tmp_path)
    plain = OnnxEmbedder(tmp_path, query_prefix="", document_prefix="")
    assert embedder.embed_query("token") == plain.embed_query("query token")
    assert np.array_equal(embedder.embed_documents(["token"]), plain.embed_documents(["passage token"]))
    assert embedder.name != plain.name


@pytest.mark.parametrize("named", ["directory", "config"])
def test_prefixes_of_a_known_model(tmp_path: Path, named: str) -> None:
    folder = models.onnx_model(tmp_path / ("e5-small-v2" if named == "directory" else "x"))
    if named == "config":
        (folder / "config.json").write_text('{"_name_or_path": "intfloat/e5-small-v2"}')
    plain = OnnxEmbedder(folder, query_prefix="", document_prefix="")
    assert OnnxEmbedder(folder).embed_query("token") == plain.embed_query("query: token")


def test_weights_that_cannot_be_loaded_are_named(tmp_path: Path) -> None:
    (models.onnx_model(tmp_path) / "onnx" / "model.onnx").write_bytes(b"not a model")
    embedder = OnnxEmbedder(tmp_path)
    with pytest.raises(EmbedderError, match=r"model\.onnx cannot be loaded \(.*\): download it again"):
        embedder.embed_query("token")


def test_a_model_that_fails_is_an_error(tmp_path: Path) -> None:
    embedder = OnnxEmbedder(models.onnx_model(tmp_path, rows=table()[:3]))
    with pytest.raises(EmbedderError, match=r"model\.onnx failed: "):
        embedder.embed_query("token")


def test_many_texts_of_many_lengths_keep_their_places(tmp_path: Path) -> None:
    embedder = OnnxEmbedder(models.onnx_model(tmp_path), batch=3)
    texts = [" ".join(["token"] * n + ["user"] * (20 - n) + ["the"] * (n * 7 % 11)) for n in range(20)]
    together = embedder.embed_documents(texts)
    alone = [embedder.embed_documents([text])[0] for text in texts]
    assert together == pytest.approx(np.array(alone), abs=1e-6)


# --- both ---


@pytest.mark.parametrize("kind", ["model2vec", "onnx"])
def test_a_directory_that_is_not_there_is_named(tmp_path: Path, kind: str) -> None:
    with pytest.raises(SettingsError, match=f"needs a directory: '{kind}:/path/to/the/model'"):
        embedders.create(f"{kind}:")
    with pytest.raises(SettingsError, match=r"there is no model at .*nowhere: check the path"):
        embedders.create(f"{kind}:{tmp_path / 'nowhere'}")
    with pytest.raises(SettingsError, match=r"lacks model\.safetensors|no model\.onnx in"):
        embedders.create(f"{kind}:{tmp_path}")


@pytest.mark.parametrize("kind", ["model2vec", "onnx"])
def test_a_directory_may_be_relative_to_the_tree_or_the_home_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: str
) -> None:
    (models.model2vec if kind == "model2vec" else models.onnx_model)(tmp_path / "models" / "small")
    monkeypatch.setenv("HOME", str(tmp_path / "models"))
    monkeypatch.setenv("USERPROFILE", str(tmp_path / "models"))
    relative = embedders.create(f"{kind}:models/small", root=tmp_path)
    home = embedders.create(f"{kind}:~/small", root=tmp_path)
    assert relative is not None and home is not None
    assert relative.name == home.name


def both(folder: Path) -> list[Embedder]:
    return [
        Model2VecEmbedder(models.model2vec(folder / "static")),
        OnnxEmbedder(models.onnx_model(folder / "neural")),
    ]


def test_the_tokenizer_is_needed(tmp_path: Path) -> None:
    both(tmp_path)
    for folder, kind in ((tmp_path / "static", Model2VecEmbedder), (tmp_path / "neural", OnnxEmbedder)):
        (folder / "tokenizer.json").write_text("{}")
        with pytest.raises(EmbedderError, match=r"tokenizer\.json cannot be used"):
            kind(folder).embed_query("token")
        (folder / "tokenizer.json").unlink()
        with pytest.raises(SettingsError, match=r"lacks tokenizer\.json: download it completely"):
            kind(folder)


@pytest.mark.parametrize("package", ["tokenizers", "onnxruntime"])
def test_a_missing_package_is_named_with_the_command(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, package: str
) -> None:
    monkeypatch.setitem(sys.modules, package, None)  # as if it were not installed
    static, neural = both(tmp_path)
    assert static.name and neural.name
    with pytest.raises(EmbedderError, match=rf"'{package}' is needed .* pip install 'dowse\[onnx\]'"):
        neural.embed_query("token")
    if package == "tokenizers":
        with pytest.raises(EmbedderError, match=r"pip install 'dowse\[model2vec\]'"):
            static.embed_documents(["token"])


def test_the_name_is_that_of_the_content_wherever_it_lies(tmp_path: Path) -> None:
    here, there = both(tmp_path / "here"), both(tmp_path / "there")
    assert [one.name for one in here] == [one.name for one in there]
    tokenizer = tmp_path / "there" / "static" / "tokenizer.json"
    tokenizer.write_text(tokenizer.read_text().replace('"token"', '"tokens"'))
    assert Model2VecEmbedder(tokenizer.parent).name != here[0].name


def test_a_configuration_that_is_no_json_is_named(tmp_path: Path) -> None:
    models.onnx_model(tmp_path)
    (tmp_path / "config.json").write_text("{")
    with pytest.raises(SettingsError, match=r"config\.json cannot be read"):
        OnnxEmbedder(tmp_path)


# --- hashes of large files ---


@pytest.fixture
def large(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A file that counts as large, and is not of just now."""
    monkeypatch.setattr(digests, "MIN_CACHED_BYTES", 10)
    path = tmp_path / "weights"
    path.write_bytes(b"0123456789abc")
    old = time.time() - 100
    os.utime(path, (old, old))
    return path


def memory(tmp_path: Path) -> Path:
    return tmp_path / "cache" / digests.CACHE_FILE


def test_the_hash_of_a_large_file_is_remembered(large: Path, tmp_path: Path) -> None:
    first = hash_files([large])
    entries = json.loads(memory(tmp_path).read_text())
    assert list(entries) == [str(large.resolve())]
    entries[str(large.resolve())][-1] = "remembered"
    memory(tmp_path).write_text(json.dumps(entries))
    assert hash_files([large]) != first, "the file was not read again"


def test_a_changed_file_is_hashed_again(large: Path) -> None:
    first = hash_files([large])
    status = large.stat()
    large.write_bytes(b"cba9876543210")
    assert hash_files([large]) != first
    large.write_bytes(b"0123456789abc")
    os.utime(large, ns=(status.st_atime_ns, status.st_mtime_ns))
    assert hash_files([large]) == first


def test_a_file_of_just_now_is_not_remembered(large: Path, tmp_path: Path) -> None:
    os.utime(large)
    hash_files([large])
    assert not memory(tmp_path).exists()


@pytest.mark.parametrize("corruption", ["", "[]", "{", '{"x": 3}', "\0"])
def test_a_damaged_memory_is_no_harm(large: Path, tmp_path: Path, corruption: str) -> None:
    first = hash_files([large])
    memory(tmp_path).write_text(corruption)
    assert hash_files([large]) == first


def test_a_memory_that_cannot_be_written_is_no_harm(
    large: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").write_text("in the way")
    monkeypatch.setenv("DOWSE_CACHE_DIR", str(tmp_path / "file"))
    assert hash_files([large]) == hash_files([large])


def test_a_hash_tells_order_and_use(tmp_path: Path) -> None:
    one, two = tmp_path / "one", tmp_path / "two"
    one.write_bytes(b"1")
    two.write_bytes(b"2")
    assert (
        len({hash_files([one, two]), hash_files([two, one]), hash_files([one]), hash_files([one], "other")})
        == 4
    )
    with pytest.raises(SettingsError, match="gone cannot be read"):
        hash_files([tmp_path / "gone"])


# --- parts ---


@pytest.mark.parametrize(
    ("model", "query"),
    [
        ("nomic-embed-text", "search_query: "),
        ("nomic-embed-text:v1.5", "search_query: "),
        ("nomic-ai/nomic-embed-text-v1.5", "search_query: "),
        ("C:\\models\\multilingual-e5-large", "query: "),
        ("/models/e5-base/", "query: "),
        ("BAAI/bge-small-en-v1.5", "Represent this sentence for searching relevant passages: "),
        ("gte-small", ""),
        ("text-embedding-3-small", ""),
        ("", ""),
    ],
)
def test_what_is_known_of_a_model(model: str, query: str) -> None:
    assert find_preset(model).query == query


def test_what_is_not_known_is_plain() -> None:
    assert find_preset("whatever") == ModelPreset("", "", "mean", 0)


def test_rows_become_length_one_and_zeros_stay() -> None:
    assert normalize_rows(np.array([[3.0, 4.0], [0.0, 0.0]])).tolist() == [
        pytest.approx([0.6, 0.8]),
        [0.0, 0.0],
    ]


def test_large_numbers_are_no_problem() -> None:
    assert validate_rows([[3e200, 4e200]], 1, 2, "x")[0].tolist() == pytest.approx([0.6, 0.8])


def test_a_readable_text_is_never_empty_and_always_utf8() -> None:
    assert to_model_text("", "p: ", 10) == f"p: {BLANK_TEXT}"
    assert to_model_text(" \n", "", 10) == BLANK_TEXT
    assert to_model_text("abc\udcff" * 10, "", 4).encode() == b"abc?"
