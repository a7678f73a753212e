"""What every embedder does: run over the table of embedders."""

import json
import math
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np
import pytest

from dowse import embedders, settings
from dowse.embedders import static
from dowse.embedders.embedder import Embedder
from dowse.errors import SettingsError
from tests.embedders import models, services

TEXTS = [
    "def refresh_token(user): return sign(user)",
    "class HttpServer { listen(port) {} }",
    "größe = 日本語",
    "import os",
    "x" * 5000,
]


class Sample(NamedTuple):
    """An embedder as a user asks for it: the setting, and the settings beside it."""

    spec: str
    given: Mapping[str, Any] = MappingProxyType({})

    def make(self, root: Path) -> Embedder:
        made = embedders.create(self.spec, settings.resolve(root, self.given), root)
        assert made is not None
        return made


def with_service(spec: str, path: str = "") -> Callable[[Path, services.Service], Sample]:
    return lambda folder, service: Sample(spec, {"embedder_url": service.url + path, "embedder_batch": 2})


SAMPLES: dict[str, Callable[[Path, services.Service], Sample]] = {
    "static": lambda folder, service: Sample("static"),
    "hashing": lambda folder, service: Sample("hashing"),
    "model2vec": lambda folder, service: Sample(f"model2vec:{models.model2vec(folder / 'm')}"),
    "onnx": lambda folder, service: Sample(f"onnx:{models.onnx_model(folder / 'm')}", {"embedder_batch": 2}),
    "ollama": with_service("ollama:nomic-embed-text"),
    "openai": with_service("openai:some-model", "/v1"),
}

OTHERS: dict[str, Callable[[Path, Sample], Sample]] = {
    "model2vec": lambda folder, sample: Sample(
        f"model2vec:{models.model2vec(folder / 'other', {'embeddings': models.table(2)})}"
    ),
    "onnx": lambda folder, sample: Sample(
        f"onnx:{models.onnx_model(folder / 'other', rows=models.table(2))}"
    ),
    "ollama": lambda folder, sample: Sample("ollama:all-minilm", sample.given),
    "openai": lambda folder, sample: Sample("openai:other-model", sample.given),
}
"""Another model of the same kind."""


@pytest.fixture(scope="module")
def running_service() -> Iterator[services.Service]:
    with services.running() as running:
        yield running


@pytest.fixture(params=[name for name in embedders.NAMES if name != "none"])
def kind(request: pytest.FixtureRequest) -> str:
    if request.param == "static" and not static.MODEL.exists():
        pytest.skip("the built-in model is not part of this checkout")
    return str(request.param)


@pytest.fixture
def sample(kind: str, tmp_path: Path, running_service: services.Service) -> Sample:
    assert kind in SAMPLES, "every embedder of the table is held to this"
    return SAMPLES[kind](tmp_path, running_service)


@pytest.fixture
def embedder(sample: Sample, tmp_path: Path) -> Embedder:
    return sample.make(tmp_path)


def length(vector: Sequence[float]) -> float:
    return math.sqrt(sum(float(value) ** 2 for value in vector))


def cosine(one: Sequence[float], two: Sequence[float]) -> float:
    return sum(float(a) * float(b) for a, b in zip(one, two, strict=True))


def test_one_row_of_length_one_for_each_text(embedder: Embedder) -> None:
    matrix = embedder.embed_documents(TEXTS)
    assert matrix.dtype == np.float32
    assert matrix.shape[0] == len(TEXTS)
    for row, text in zip(matrix, TEXTS, strict=True):
        assert length(row) == pytest.approx(1.0, abs=1e-4) or text.startswith("x"), text


def test_questions_and_documents_live_in_one_space(embedder: Embedder) -> None:
    matrix = embedder.embed_documents(TEXTS)
    question = embedder.embed_query("where is the http server that can listen on a port")
    assert len(question) == matrix.shape[1]
    assert length(question) == pytest.approx(1.0, abs=1e-4)
    scores = [cosine(question, row) for row in matrix]
    assert scores.index(max(scores)) == 1


def test_a_text_alone_gives_what_it_gives_among_others(embedder: Embedder) -> None:
    matrix = embedder.embed_documents(TEXTS)
    for text, row in zip(TEXTS, matrix, strict=True):
        (alone,) = embedder.embed_documents([text])
        assert alone.tolist() == pytest.approx(row.tolist(), abs=1e-6)


def test_the_same_text_always_gives_the_same(embedder: Embedder) -> None:
    assert np.array_equal(embedder.embed_documents(TEXTS), embedder.embed_documents(TEXTS))
    assert list(embedder.embed_query(TEXTS[0])) == list(embedder.embed_query(TEXTS[0]))


@pytest.mark.parametrize("text", ["", " \n", "!?.,", "\0", "😀", "\udcff"])
def test_a_text_without_words_has_a_vector_too(embedder: Embedder, text: str) -> None:
    (row,) = embedder.embed_documents([text])
    assert all(math.isfinite(value) for value in row)
    assert length(row) <= 1.0001
    assert all(math.isfinite(value) for value in embedder.embed_query(text))


def test_a_very_long_text_is_one_vector(embedder: Embedder) -> None:
    text = "refresh the token " * 60_000
    (row,) = embedder.embed_documents([text])
    assert length(row) == pytest.approx(1.0, abs=1e-4)
    assert len(embedder.embed_query(text)) == len(row)


def test_no_texts_no_rows(embedder: Embedder) -> None:
    matrix = embedder.embed_documents([])
    assert matrix.shape == (0, len(embedder.embed_query("x")))


def test_the_same_words_in_other_letters_and_layout_are_near(embedder: Embedder) -> None:
    one, two = embedder.embed_documents(["refresh the token", "Refresh\n  the TOKEN"])
    assert cosine(one, two) == pytest.approx(1.0, abs=0.05)


def test_threads_get_what_one_gets(sample: Sample, tmp_path: Path, embedder: Embedder) -> None:
    expected = embedder.embed_documents(TEXTS)
    fresh = sample.make(tmp_path)  # the first use is by several at once
    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(lambda text: fresh.embed_documents([text])[0], TEXTS * 3))
    assert np.array(found) == pytest.approx(np.concatenate([expected] * 3), abs=1e-6)


def test_a_process_of_its_own_gives_the_same(sample: Sample, tmp_path: Path, embedder: Embedder) -> None:
    """Vectors are stored: nothing in them may hang on the process that made them."""
    code = (
        "import json, sys\n"
        "from pathlib import Path\n"
        "from dowse import embedders, settings\n"
        f"made = embedders.create({sample.spec!r}, settings.resolve(Path(), {dict(sample.given)!r}))\n"
        "print(json.dumps([made.name, list(map(float, made.embed_query('refresh the token')))]))"
    )
    ran = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=tmp_path
    )
    name, vector = json.loads(ran.stdout)
    assert name == embedder.name
    assert vector == pytest.approx([float(v) for v in embedder.embed_query("refresh the token")])


def test_the_name_says_which_vectors_these_are(sample: Sample, tmp_path: Path, embedder: Embedder) -> None:
    assert embedder.name
    assert embedder.name == sample.make(tmp_path).name
    assert len(embedder.embed_query("x")) == len(embedder.embed_query("refresh the token"))


@pytest.mark.parametrize("kind", OTHERS)
def test_another_model_has_another_name(sample: Sample, kind: str, tmp_path: Path) -> None:
    assert OTHERS[kind](tmp_path, sample).make(tmp_path).name != sample.make(tmp_path).name


def test_making_it_and_asking_its_name_is_light(
    sample: Sample, tmp_path: Path, running_service: services.Service
) -> None:
    """``dowse status`` does as much: no model is loaded, and nobody is asked anything."""
    before = len(running_service.requests)
    code = (
        "import sys\n"
        "from pathlib import Path\n"
        "from dowse import embedders, settings\n"
        f"embedders.create({sample.spec!r}, settings.resolve(Path(), {dict(sample.given)!r})).name\n"
        "heavy = {'numpy', 'onnxruntime', 'tokenizers', 'urllib.request', 'http.client', 'ssl'}\n"
        "print(sorted(heavy & sys.modules.keys()))"
    )
    ran = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=tmp_path
    )
    assert ran.stdout.strip() == "[]"
    assert len(running_service.requests) == before


def test_none_is_no_embedder() -> None:
    assert embedders.create("none") is None


def test_an_unknown_embedder_is_named() -> None:
    with pytest.raises(SettingsError, match="unknown embedder 'gpt': known are none,"):
        embedders.create("gpt")


@pytest.mark.parametrize("spec", ["none:x", "static:x", "hashing:256"])
def test_what_takes_no_argument_gets_none(spec: str) -> None:
    with pytest.raises(SettingsError, match="takes nothing after it"):
        embedders.create(spec)
