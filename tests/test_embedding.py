"""Vectors from end to end: what is embedded and what is not again, and what happens when the embedder fails."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from dowse import Engine
from dowse.errors import EmbedderError
from dowse.indexing import embed
from dowse.services import http_client
from dowse.types.answers import ChannelReport, SearchResponse
from dowse.types.stored import IndexState
from tests.embedders import services
from tests.embedders.services import Service

FILES = 12


@pytest.fixture(autouse=True)
def small_steps(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Two texts at a time, short pauses, nothing of the user's own."""
    monkeypatch.setattr(embed, "CALL_TEXTS", 2)
    monkeypatch.setattr(http_client, "FIRST_PAUSE_SECONDS", 0.005)
    monkeypatch.setenv("DOWSE_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)


@pytest.fixture
def service() -> Iterator[Service]:
    with services.running() as running:
        yield running


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    folder = tmp_path / "tree"
    folder.mkdir()
    for number in range(FILES):
        (folder / f"file{number:02}.py").write_text(f"def load_{number}():\n    return {number}\n")
    settle(folder)
    return folder


def settle(folder: Path) -> None:
    """Let an hour pass since the last change, so that searches do not look twice."""
    for path in (*folder.iterdir(), folder):
        os.utime(path, (time.time() - 3600, time.time() - 3600))


@pytest.fixture(params=["embedded", "memory"])
def opened(request: pytest.FixtureRequest, tree: Path, service: Service) -> Iterator[Callable[..., Engine]]:
    """Engines on the tree that ask the service; those in memory are one and the same."""
    engines: list[Engine] = []

    def open_engine(**given: Any) -> Engine:
        settings = {"embedder": "ollama:some-model", "embedder_url": service.url, "workers": 1, **given}
        if request.param == "memory" and engines:
            engines[0].settings = Engine.open(tree, store="memory", **settings).settings
            return engines[0]
        engines.append(Engine.open(tree, store=request.param, **settings))
        return engines[-1]

    yield open_engine
    for engine in engines:
        engine.close()


def channel(response: SearchResponse, name: str = "dense") -> ChannelReport:
    return next(channel for channel in response.channels if channel.name == name)


def die_after(service: Service, requests: int) -> None:
    """Well for some requests, then never again."""
    service.script.extend([services.well] * requests)
    service.behaviour = services.status(500, "out of memory")


def test_what_was_embedded_is_not_embedded_again(
    opened: Callable[..., Engine], service: Service, tree: Path
) -> None:
    engine = opened()
    assert engine.index().without_vectors == 0
    assert len(service.texts) == FILES
    assert len(set(service.texts)) == FILES
    service.requests.clear()
    opened().index()
    assert service.requests == []
    (tree / "file03.py").write_text("def save():\n    pass\n")
    (tree / "again").mkdir()
    (tree / "again" / "file04.py").write_text("def other():\n    return None\n")
    opened().index()
    assert len(service.texts) == 2


def test_a_text_that_is_there_twice_is_embedded_once(
    opened: Callable[..., Engine], service: Service, tree: Path
) -> None:
    for folder in ("a-b", "a_b"):  # the same words in the path
        (tree / folder).mkdir()
        for name in ("x.py", "x.pyi"):
            (tree / folder / name).write_text("def same():\n    pass\n")
    opened().index()
    assert len(service.texts) == len(set(service.texts)) == FILES + 1


def test_dense_hits_are_found(opened: Callable[..., Engine], service: Service) -> None:
    engine = opened()
    engine.index()
    response = engine.search("load 7")
    assert channel(response).ran
    assert channel(response).hits == FILES
    assert any(reason.name == "dense" for result in response.results for reason in result.reasons)


# --- the embedder fails while indexing ---


def test_a_run_that_fails_keeps_what_is_done_and_the_next_goes_on(
    opened: Callable[..., Engine], service: Service
) -> None:
    die_after(service, 3)
    engine = opened()
    with pytest.raises(EmbedderError) as raised:
        engine.index()
    assert "status 500: out of memory (5 attempts); what was indexed is kept: run 'dowse index' again" in str(
        raised.value
    )
    assert engine.status().files == 6
    assert engine.status().state is IndexState.MISSING
    done = service.texts[:6]
    assert len(service.requests) == 3 + http_client.FAULT_ATTEMPTS
    service.requests.clear()
    service.behaviour = services.well
    report = opened().index()
    assert (report.indexed, report.unchanged, report.added, report.without_vectors) == (FILES, 6, 6, 0)
    assert len(service.requests) == 3, "two texts at a time"
    assert len(service.texts) == FILES - 6
    assert not set(service.texts) & set(done)
    assert channel(opened().search("load 7")).hits == FILES


def test_what_took_long_is_stored_at_once(
    opened: Callable[..., Engine], monkeypatch: pytest.MonkeyPatch
) -> None:
    engine = opened()
    engine.index()
    assert engine.status().generation == 1
    monkeypatch.setattr(embed, "STORE_SECONDS", 0.0)
    engine.index(rebuild=True)
    assert engine.status().generation == FILES / 2


def test_without_vectors_if_told_to(opened: Callable[..., Engine], service: Service) -> None:
    service.behaviour = services.status(400, "no such model")
    report = opened(allow_missing_vectors=True).index()
    assert (report.indexed, report.without_vectors) == (FILES, FILES)
    assert "status 400: no such model" in report.why_without
    assert len(service.requests) == 1, "an embedder that failed is not asked again in the same run"
    engine = opened(allow_missing_vectors=True)
    assert engine.status().state is IndexState.CURRENT
    kept = engine.status().report
    assert kept is not None and kept.without_vectors == FILES
    response = engine.search("load 7")
    assert response.results[0].entity == "load_7"
    assert not channel(response).ran
    service.behaviour = services.well
    service.requests.clear()
    report = opened().index()
    assert (report.changed, report.without_vectors, report.why_without) == (FILES, 0, "")
    assert len(service.texts) == FILES
    assert opened().index().unchanged == FILES


def test_an_index_without_vectors_says_so(opened: Callable[..., Engine], service: Service) -> None:
    service.behaviour = services.status(400)
    opened(allow_missing_vectors=True).index()
    service.behaviour = services.well
    response = opened(allow_missing_vectors=True, refresh=False).search("load 7")
    assert channel(response).why_not == "the index has no vectors: 'dowse index' makes them"
    assert response.results


def test_some_files_with_vectors_and_some_without(opened: Callable[..., Engine], service: Service) -> None:
    die_after(service, 3)
    report = opened(allow_missing_vectors=True).index()
    assert (report.indexed, report.without_vectors) == (FILES, FILES - 6)
    service.behaviour = services.well
    assert channel(opened(allow_missing_vectors=True, refresh=False).search("load 7")).hits == 6
    service.requests.clear()
    assert opened().index().without_vectors == 0
    assert len(service.texts) == FILES - 6
    assert channel(opened().search("load 7")).hits == FILES


def test_the_first_search_says_what_is_without_vectors(
    opened: Callable[..., Engine], service: Service
) -> None:
    service.behaviour = services.status(400, "no such model")
    response = opened(allow_missing_vectors=True).search("load 7")
    assert response.results
    assert f"{FILES} without vectors: " in response.notes[0]


def test_a_model_that_was_replaced_is_noticed(
    opened: Callable[..., Engine], service: Service, tree: Path
) -> None:
    opened().index()
    service.behaviour = services.altered(lambda rows: [row[:99] for row in rows])
    (tree / "file03.py").write_text("def load_3():\n    return 3\n\n\n# longer\n")
    (tree / "file04.py").write_text("def load_4():\n    return 4\n")
    (tree / "file05.py").write_text((tree / "file05.py").read_text() + "\n" * 3)
    with pytest.raises(EmbedderError, match=r"different dimensions \(99, 256\): .*--rebuild"):
        opened().index()


# --- the embedder fails while searching ---


def test_a_search_goes_on_without_the_service(opened: Callable[..., Engine], service: Service) -> None:
    opened().index()
    service.stop()
    response = opened().search("load 7")
    assert response.results[0].entity == "load_7"
    assert not channel(response).ran
    assert "nothing answers there; start it with 'ollama serve'" in channel(response).why_not
    assert channel(response, "lexical").ran


def test_changed_files_are_left_as_they_were_without_the_service(
    opened: Callable[..., Engine], service: Service, tree: Path
) -> None:
    opened().index()
    service.stop()
    (tree / "file07.py").write_text("def load_7():\n    return 'another seven'\n")
    engine = opened()
    engine.force_check()
    response = engine.search("load_7")
    assert any(note.startswith("answered from the index as it was: ") for note in response.notes)
    stale = {result.path for result in response.results if not result.fresh}
    assert stale == {"file07.py"}


def test_a_service_that_hangs_does_not_hold_up_a_search_for_long(
    opened: Callable[..., Engine], service: Service, tree: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened().index()
    monkeypatch.setattr(http_client, "DEADLINE_SECONDS", 0.2)
    service.behaviour = services.slow(10.0)
    (tree / "file07.py").write_text("def load_7():\n    return 'another seven'\n")
    engine = opened()
    engine.force_check()
    started = time.monotonic()
    response = engine.search("load seven")
    assert time.monotonic() - started < 6.0
    assert response.results
    assert "no answer within 0.2 s" in channel(response).why_not


@pytest.mark.parametrize(
    ("hybrid", "question", "why_not"),
    [
        ("auto", "another seven", ""),
        ("auto", "load_7", "the query is a symbol, not words"),
        ("auto", "file07.py", "the query is a file, not words"),
        ("on", "load_7", ""),
        ("off", "another seven", "hybrid search is switched off"),
    ],
)
def test_whether_meaning_counts(tree: Path, hybrid: str, question: str, why_not: str) -> None:
    with Engine.open(tree, embedder="hashing", hybrid=hybrid, store="memory") as engine:
        dense = channel(engine.search(question))
    assert (dense.ran, dense.why_not, dense.failed) == (not why_not, why_not, False)


# --- the command line ---


def dowse(tree: Path, *args: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "dowse", *args],
        capture_output=True,
        text=True,
        cwd=tree,
        timeout=60,
        check=False,
    )


@pytest.fixture
def configured(tree: Path, service: Service) -> Path:
    (tree / "dowse.toml").write_text(f'embedder_url = "{service.url}"\n')
    settle(tree)
    return tree


OLLAMA = ("--embedder", "ollama:nomic-embed-text")


def test_the_command_line_from_index_to_search(configured: Path, service: Service) -> None:
    indexed = dowse(configured, "index", *OLLAMA)
    assert indexed.returncode == 0, indexed.stderr
    sent = service.texts
    assert len(sent) == FILES + 1
    assert all(text.startswith("search_document: ") for text in sent)
    found = dowse(configured, "search", "load 7", "--explain", *OLLAMA)
    assert found.returncode == 0
    assert "load_7" in found.stdout
    assert f"channel  dense: {FILES + 1} hits" in found.stdout
    assert service.texts[-1] == "search_query: load 7"
    service.stop()
    found = dowse(configured, "search", "load 7", "--json", *OLLAMA)
    assert found.returncode == 0
    answer = json.loads(found.stdout)
    assert answer["results"][0]["entity"] == "load_7"
    (dense,) = (one for one in answer["channels"] if one["name"] == "dense")
    assert not dense["ran"] and "nothing answers there" in dense["why_not"]
    assert dowse(configured, "status", *OLLAMA).returncode == 0


def test_the_command_line_when_the_embedder_fails(configured: Path, service: Service) -> None:
    service.behaviour = services.status(404, "model not found")
    indexed = dowse(configured, "index", *OLLAMA)
    assert indexed.returncode == 4
    assert "get the model with 'ollama pull nomic-embed-text'" in indexed.stderr
    assert "or with --allow-missing-vectors to go on without this embedder" in indexed.stderr
    assert "Traceback" not in indexed.stderr
    indexed = dowse(configured, "index", "--allow-missing-vectors", *OLLAMA)
    assert indexed.returncode == 0
    assert f"without vectors {FILES + 1} files: " in indexed.stdout
    assert f"without vectors {FILES + 1} files: " in dowse(configured, "status", *OLLAMA).stdout
    values = json.loads(dowse(configured, "status", "--json", *OLLAMA).stdout)
    assert values["report"]["without_vectors"] == FILES + 1


def test_the_doctor_tries_the_embedder(configured: Path, service: Service) -> None:
    with (configured / "dowse.toml").open("a") as file:
        file.write('embedder = "ollama"\n')
    assert "ok   embedder: ollama, 768 dimensions\n" in dowse(configured, "doctor").stdout
    service.stop()
    assert (
        f"fail embedder: {service.url}: nothing answers there; start it" in dowse(configured, "doctor").stdout
    )
