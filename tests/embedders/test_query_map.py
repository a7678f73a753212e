"""The query map: what is learned about how questions are worded moves the vector of a query, and nothing else."""

import math
from pathlib import Path

import numpy as np
import pytest

from dowse.embedders.query_map import load_query_map, write_query_map
from dowse.embedders.static import StaticEmbedder, load_built_in
from dowse.errors import SettingsError

SIZE = 16


def unit(seed: int, size: int = SIZE) -> list[float]:
    vector = np.random.default_rng(seed).normal(size=size)
    made: list[float] = (vector / np.linalg.norm(vector)).tolist()
    return made


def test_a_map_adds_its_matrix_times_the_query(tmp_path: Path) -> None:
    matrix = np.random.default_rng(0).normal(size=(SIZE, SIZE)).astype(np.float32) * 0.2
    write_query_map(tmp_path / "map.bin", matrix)
    query = unit(1)
    expected = np.array(query) + matrix @ np.array(query)
    found = load_query_map(tmp_path / "map.bin").apply(query)
    assert found == pytest.approx((expected / np.linalg.norm(expected)).tolist(), abs=0.02)
    assert math.fsum(x * x for x in found) == pytest.approx(1.0)


def test_a_map_of_nothing_changes_nothing(tmp_path: Path) -> None:
    write_query_map(tmp_path / "map.bin", np.zeros((SIZE, SIZE), dtype=np.float32))
    same = load_query_map(tmp_path / "map.bin")
    assert same.apply(unit(2)) == pytest.approx(unit(2))
    assert same.apply([0.0] * SIZE) == [0.0] * SIZE


def test_a_file_that_is_no_map_is_refused(tmp_path: Path) -> None:
    matrix = np.zeros((SIZE, SIZE), dtype=np.float32)
    write_query_map(tmp_path / "map.bin", matrix)
    whole = (tmp_path / "map.bin").read_bytes()
    for content in (b"", b"something else", whole[:-1], whole + b"x", b"x" + whole[1:]):
        (tmp_path / "bad.bin").write_bytes(content)
        with pytest.raises(SettingsError, match="is not a query map"):
            load_query_map(tmp_path / "bad.bin")
    with pytest.raises(SettingsError, match="cannot be read"):
        load_query_map(tmp_path / "none.bin")


def test_the_built_in_model_maps_queries_and_not_documents() -> None:
    built_in, plain = load_built_in(), StaticEmbedder()
    text = "where are sessions expired"
    assert built_in.query_map is not None
    assert built_in.embed_words(text) == plain.embed_query(text)
    assert built_in.embed_query(text) == built_in.query_map.apply(plain.embed_query(text))
    assert (built_in.embed_documents([text]) == plain.embed_documents([text])).all()
    assert not any(built_in.embed_query(""))
