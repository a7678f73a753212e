"""The built-in model: its file, its vectors, and that they mean something."""

from __future__ import annotations

import math
import subprocess
import sys
import time
from array import array
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest

from dowse.embedders import create, static
from dowse.embedders.static import WEIGHT_SCALE, StaticEmbedder, WordRows, write_model
from dowse.errors import SettingsError

MAX_BYTES = 16_000_000


@pytest.fixture(scope="module")
def model() -> StaticEmbedder:
    return StaticEmbedder()


@pytest.fixture
def tiny(tmp_path: Path) -> Path:
    """Two words and one bucket in two dimensions."""
    path = tmp_path / "tiny.bin"
    rows = np.array([[127, 0], [0, 127], [90, 90]], dtype=np.int8)
    write_model(path, ["add", "user"], rows, np.array([1, 1, 0.5]), np.array([1, 3, 0.5]))
    return path


def test_is_in_the_table() -> None:
    assert isinstance(create("static"), StaticEmbedder)


def test_a_document_is_the_weighted_sum_of_its_words(tiny: Path) -> None:
    vector = StaticEmbedder(tiny).embed_documents(["add add user"])[0]
    # sqrt(2) times add with weight 1, once user with weight 3, then length one
    x, y = math.sqrt(2) * 1 * 127, 1 * 3 * 127
    assert vector == pytest.approx([x / math.hypot(x, y), y / math.hypot(x, y)], abs=1 / WEIGHT_SCALE)


def test_a_question_has_weights_of_its_own(tiny: Path) -> None:
    assert StaticEmbedder(tiny).embed_query("add user") == pytest.approx([math.sqrt(0.5)] * 2, abs=1e-6)


def test_the_first_line_of_a_document_counts_for_more(tiny: Path) -> None:
    vector = StaticEmbedder(tiny).embed_documents(["add\nadd user"])[0]
    x, y = math.sqrt(6 + 3) * 1, math.sqrt(3) * 3
    assert vector == pytest.approx([x / math.hypot(x, y), y / math.hypot(x, y)], abs=1 / WEIGHT_SCALE)


def test_the_line_after_the_first_counts_for_more_than_the_rest(tiny: Path) -> None:
    vector = StaticEmbedder(tiny).embed_documents(["\n\n  add\nadd user"])[0]
    x, y = math.sqrt(3 + 1) * 1, 1 * 3
    assert vector == pytest.approx([x / math.hypot(x, y), y / math.hypot(x, y)], abs=1e-6)


def rows(words: WordRows, run: str) -> list[int]:
    return array("H", words[run]).tolist()


def test_an_unknown_compound_is_its_parts() -> None:
    assert rows(WordRows(["add", "user"], buckets=4), "addUser") == [0, 1]
    assert rows(WordRows(["add", "adduser", "user"], buckets=4), "addUser") == [1, 0, 2]


def test_an_unknown_word_is_its_pieces() -> None:
    words = WordRows(["add"], buckets=1000)
    pieces = rows(words, "zyxwv")
    assert len(pieces) == len("<zyxwv>") - static.NGRAM_LENGTH + 1
    assert all(1 <= piece < 1001 for piece in pieces)
    assert set(pieces) & set(rows(words, "zyxwvu"))


@pytest.mark.parametrize(
    "text", ["ユーザーを削除する", "удалить пользователя", "διαγραφή", "حذف المستخدم", "🙂 x", "ß"]
)
def test_any_script_gives_a_vector(model: StaticEmbedder, text: str) -> None:
    assert math.hypot(*model.embed_query(text)) == pytest.approx(1, abs=1e-4)


@pytest.mark.parametrize("text", ["", "   \n", "(){};"])
def test_a_text_without_words_gives_nothing(model: StaticEmbedder, text: str) -> None:
    assert set(model.embed_query(text)) == {0.0}
    assert not model.embed_documents([text]).any()


def test_vectors_have_length_one(model: StaticEmbedder) -> None:
    vectors = model.embed_documents(["def read(path): return open(path).read()", "class Session: pass"])
    assert vectors.dtype == np.float32
    assert np.linalg.norm(vectors, axis=1) == pytest.approx([1, 1], abs=1e-5)


def test_no_texts_give_no_rows(model: StaticEmbedder) -> None:
    assert model.embed_documents([]).shape[0] == 0


def test_a_batch_gives_what_its_texts_give_alone(model: StaticEmbedder) -> None:
    texts = ["open a file", "close the connection", "open a file"]
    together = model.embed_documents(texts)
    alone = [model.embed_documents([text])[0] for text in texts]
    assert np.array_equal(together, np.array(alone))


def test_threads_agree(model: StaticEmbedder) -> None:
    texts = [f"function number {i} reads the configuration" for i in range(50)]
    expected = model.embed_documents(texts)
    fresh = StaticEmbedder()
    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(lambda text: fresh.embed_documents([text])[0], texts))
    assert np.array_equal(expected, np.array(found))


MEANING = {
    "remove a user from the database": "def delete_account(db, uid):\n"
    "    db.execute('DELETE FROM accounts WHERE id = ?')",
    "retry with exponential backoff": "except OSError:\n    attempt += 1\n    sleep(delay * 2 ** attempt)",
    "parse command line arguments": "parser = argparse.ArgumentParser()\nparser.add_argument('--verbose')",
    "encrypt the password": "def hash_secret(secret, salt):\n    return pbkdf2_hmac('sha256', secret, salt, 1000)",
    "draw a circle on the canvas": "ctx.beginPath(); ctx.arc(x, y, radius, 0, 2 * Math.PI); ctx.stroke();",
    "send an email": "smtp.sendmail(sender, [recipient], message.as_string())",
}


def test_a_question_finds_code_that_says_it_in_other_words(model: StaticEmbedder) -> None:
    documents = model.embed_documents(list(MEANING.values()))
    for place, question in enumerate(MEANING):
        scores = documents @ np.array(model.embed_query(question), dtype=np.float32)
        assert scores.argmax() == place, question


def test_fits_its_budget() -> None:
    assert static.MODEL.stat().st_size <= MAX_BYTES


def test_loads_and_answers_fast() -> None:
    """Generous bounds: several times what is meant, so that a busy machine passes and a mistake does not."""
    started = time.process_time()
    fresh = StaticEmbedder()
    fresh.embed_query("warm up")
    assert time.process_time() - started < 0.3
    started = time.process_time()
    for _ in range(100):
        fresh.embed_query("where is the session token refreshed")
    assert (time.process_time() - started) / 100 < 0.005


def test_name_changes_with_the_table(tmp_path: Path, tiny: Path) -> None:
    other = tmp_path / "other.bin"
    rows = np.array([[127, 0], [0, 127], [90, 91]], dtype=np.int8)
    write_model(other, ["add", "user"], rows, np.array([1, 1, 0.5]), np.array([1, 3, 0.5]))
    assert StaticEmbedder(tiny).name != StaticEmbedder(other).name


def test_a_missing_or_foreign_file_is_a_clear_error(tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match="cannot be read"):
        _ = StaticEmbedder(tmp_path / "none.bin").name
    (tmp_path / "foreign.bin").write_bytes(b"something else")
    with pytest.raises(SettingsError, match="not a static embedding"):
        _ = StaticEmbedder(tmp_path / "foreign.bin").name


def test_a_question_is_added_up_as_a_document_is(tmp_path: Path) -> None:
    """Two ways of computing, with and without numpy, that must not differ in a single bit."""
    random = np.random.default_rng(5)
    vocabulary = sorted({f"word{i}" for i in range(50)} | {"add", "user"})
    rows = random.integers(-127, 128, (len(vocabulary) + 16, 32)).astype(np.int8)
    scale = random.random(len(rows)).astype(np.float32)
    write_model(tmp_path / "model.bin", vocabulary, rows, scale, scale)
    embedder = StaticEmbedder(tmp_path / "model.bin")
    long = " ".join(vocabulary * 3)
    for text in (
        "add user",
        "addUser word3 word3 word49",
        "unknown words only",
        "word1",
        "日本語 addUser",
        long,
    ):
        asked = np.asarray(embedder.embed_query(text), dtype=np.float32)
        assert np.array_equal(embedder.embed_documents([text])[0], asked), text


def test_a_question_needs_no_numpy() -> None:
    code = (
        "import sys; from dowse.embedders.static import load_built_in; load_built_in().embed_query('where is it'); "
        "sys.exit('numpy' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
