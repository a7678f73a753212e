"""Embedders that ask a service, held against a real one that behaves and misbehaves."""

from __future__ import annotations

import shutil
import ssl
import subprocess
import time
from collections.abc import Callable
from email.message import Message
from email.utils import formatdate
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from dowse import embedders, settings
from dowse.embedders.embedder import Embedder
from dowse.errors import EmbedderError, SettingsError
from dowse.services import http_client
from dowse.services.http_client import Client, is_local, retry_after, validate_url
from tests.embedders import services
from tests.embedders.services import Behaviour, Service

KEY = "sk-very-secret-0123456789"

Make = Callable[..., Embedder]


@pytest.fixture(autouse=True)
def short_pauses(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(http_client, "FIRST_PAUSE_SECONDS", 0.005)


@pytest.fixture(params=["ollama", "openai"])
def make(request: pytest.FixtureRequest, service: Service, tmp_path: Path) -> Make:
    """Makes an embedder that asks the service."""
    path = {"ollama": "", "openai": "/v1"}[request.param]

    def made(model: str = "some-model", **given: Any) -> Embedder:
        given = {"embedder_url": service.url + path, "embedder_timeout": 5.0, **given}
        found = embedders.create(f"{request.param}:{model}", settings.resolve(tmp_path, given))
        assert found is not None
        return found

    return made


def error_of(embedder: Embedder, texts: list[str] | None = None) -> str:
    with pytest.raises(EmbedderError) as raised:
        embedder.embed_documents(texts or ["one", "two"])
    return str(raised.value)


# --- a service that behaves ---


def test_texts_go_out_in_batches_by_number(make: Make, service: Service) -> None:
    make(embedder_batch=3).embed_documents([f"text {i}" for i in range(8)])
    assert [len(asked.texts) for asked in service.requests] == [3, 3, 2]
    assert service.texts == [f"text {i}" for i in range(8)]


def test_texts_go_out_in_batches_by_size(make: Make, service: Service) -> None:
    make(embedder_batch=1000).embed_documents(["x" * 4000] * 60)
    sizes = [sum(map(len, asked.texts)) for asked in service.requests]
    assert sizes == [100_000, 100_000, 40_000]


def test_the_model_gets_the_prefixes_it_knows(make: Make, service: Service) -> None:
    embedder = make("nomic-embed-text")
    embedder.embed_documents(["one"])
    embedder.embed_query("two")
    assert service.texts == ["search_document: one", "search_query: two"]


def test_prefixes_can_be_set(make: Make, service: Service) -> None:
    given = {"embedder_query_prefix": "Q ", "embedder_document_prefix": ""}
    embedder = make("nomic-embed-text", **given)
    embedder.embed_documents(["one"])
    embedder.embed_query("two")
    assert service.texts == ["one", "Q two"]
    assert embedder.name != make("nomic-embed-text").name


def test_dimensions_can_be_asked_for(make: Make, service: Service) -> None:
    embedder = make(embedder_dimensions=32)
    assert embedder.embed_documents(["one"]).shape == (1, 32)
    assert service.requests[0].body["dimensions"] == 32
    assert embedder.name != make(embedder_dimensions=64).name
    assert "-32-" in embedder.name


def test_nothing_but_what_is_needed_is_sent(make: Make, service: Service) -> None:
    make().embed_documents(["one"])
    assert service.requests[0].body.keys() <= {"model", "input", "truncate"}
    assert "authorization" not in service.requests[0].headers


def test_ollama_has_a_model_of_its_own() -> None:
    embedder = embedders.create("ollama")
    assert embedder is not None
    assert embedder.name.startswith("ollama-nomic-embed-text-768-")


# --- a service that fails for a moment ---


@pytest.mark.parametrize(
    "behaviour",
    [
        services.status(429, headers={"Retry-After": "0"}),
        services.status(503),
        services.status(500),
        services.truncated,
        services.broken_off,
        services.hangs_up,
        services.content(b'{"embeddings": [[1, '),
    ],
    ids=["429", "503", "500", "truncated", "broken off", "hangs up", "corrupt"],
)
def test_what_passes_is_tried_again(make: Make, service: Service, behaviour: Behaviour) -> None:
    expected = make().embed_documents(["one", "two"])
    service.requests.clear()
    service.script.extend([behaviour, behaviour])
    assert np.array_equal(make().embed_documents(["one", "two"]), expected)
    assert len(service.requests) == 3
    assert len({tuple(asked.texts) for asked in service.requests}) == 1


def test_a_service_is_given_the_time_it_asks_for(make: Make, service: Service) -> None:
    service.script.append(services.status(429, headers={"Retry-After": "1"}))
    started = time.monotonic()
    make().embed_documents(["one"])
    assert 1.0 <= time.monotonic() - started < 8.0


def test_one_slow_answer_is_asked_for_again(make: Make, service: Service) -> None:
    service.script.append(services.slow(2.0))
    assert make(embedder_timeout=0.3).embed_documents(["one"]).shape[0] == 1
    assert len(service.requests) == 2


# --- a service that goes on failing ---


@pytest.mark.parametrize(
    ("behaviour", "attempts", "message"),
    [
        (
            services.status(429, "slow down", {"Retry-After": "0"}),
            http_client.BUSY_ATTEMPTS,
            "status 429: slow down (8 attempts)",
        ),
        (services.status(429, "later", {"Retry-After": "3600"}), 1, "status 429: later, and it asks to wait"),
        (services.status(429, "insufficient_quota"), 1, "status 429: insufficient_quota"),
        (services.status(500, "out of memory"), http_client.FAULT_ATTEMPTS, "status 500: out of memory (5 attempts)"),
        (services.status(400, "no such thing"), 1, "status 400: no such thing"),
        (services.status(401, "bad key"), 1, "status 401: bad key"),
        (services.status(301, headers={"Location": "http://example.org/"}), 1, "redirects"),
        (services.status(307, headers={"Location": "http://example.org/"}), 1, "redirects"),
        (services.truncated, http_client.FAULT_ATTEMPTS, "cut off or corrupt"),
        (services.broken_off, http_client.FAULT_ATTEMPTS, "(5 attempts)"),
        (services.hangs_up, http_client.FAULT_ATTEMPTS, "the connection broke"),
        (services.content(b"<html>Welcome!</html>"), 1, "the answer is not JSON; check embedder_url"),
        (services.content(b""), 1, "the answer is not JSON"),
        (services.content(b"[1, 2]"), 1, "the answer is not a JSON object"),
        (services.content(b"[" * 200_000), 1, "the answer is not JSON"),
        (services.content(b'{"something": "else"}'), 1, "return"),
        (services.huge, 1, "an answer of more than 64 MB"),
        (services.altered(lambda rows: rows[:1]), 1, "1"),
        (services.altered(lambda rows: [*rows, rows[0]]), 1, "3"),
        (services.altered(lambda rows: [rows[0], rows[1][:-1]]), 1, "other than a list of vectors"),
        (services.altered(lambda rows: [[], []]), 1, "other than a list of vectors"),
        (services.altered(lambda rows: [["a"], ["b"]]), 1, "other than a list of vectors"),
        (services.altered(lambda rows: [1.0, 2.0]), 1, "other than a list of vectors"),
        (services.altered(lambda rows: [rows[0], [float("nan")] * len(rows[1])]), 1, "not a number"),
        (services.altered(lambda rows: [rows[0], [float("inf")] * len(rows[1])]), 1, "not a number"),
        (services.altered(lambda rows: [rows[0], [None] * len(rows[1])]), 1, "not a number"),
        (services.altered(lambda rows: [rows[0], [0.0] * len(rows[1])]), 1, "a vector of zeros"),
    ],
)  # fmt: skip
def test_what_does_not_pass_is_an_error_that_says_so(
    make: Make, service: Service, behaviour: Behaviour, attempts: int, message: str
) -> None:
    service.behaviour = behaviour
    said = error_of(make())
    assert message in said
    assert service.url in said
    assert len(service.requests) == attempts


def test_dimensions_other_than_those_known_are_an_error(make: Make, service: Service) -> None:
    service.behaviour = services.altered(lambda rows: [row[:512] for row in rows])
    assert "vectors of 512 dimensions, not 768" in error_of(make("nomic-embed-text"))
    assert "vectors of 512 dimensions, not 600" in error_of(make(embedder_dimensions=600))


def test_dimensions_that_change_between_answers_are_an_error(make: Make, service: Service) -> None:
    service.script.append(services.altered(lambda rows: [row[:100] for row in rows]))
    assert "different dimensions" in error_of(make(embedder_batch=1))


def test_a_service_that_never_answers_is_given_up(make: Make, service: Service) -> None:
    service.behaviour = services.slow(10.0)
    started = time.monotonic()
    assert "no answer within 0.2 s (2 attempts)" in error_of(make(embedder_timeout=0.2))
    assert time.monotonic() - started < 6.0


def test_an_answer_that_trickles_in_is_given_up(make: Make, service: Service) -> None:
    service.behaviour = services.trickle
    started = time.monotonic()
    assert "no answer within 0.3 s" in error_of(make(embedder_timeout=0.3))
    assert time.monotonic() - started < 6.0


def test_where_nothing_answers_nobody_waits(make: Make, service: Service) -> None:
    embedder = make()
    service.stop()
    started = time.monotonic()
    assert "nothing answers there; " in error_of(embedder)
    assert time.monotonic() - started < 6.0


def test_ollama_says_how_to_get_a_model(service: Service, tmp_path: Path) -> None:
    service.behaviour = services.status(404, 'model "some-model" not found, try pulling it first')
    resolved = settings.resolve(tmp_path, {"embedder_url": service.url})
    embedder = embedders.create("ollama:some-model", resolved)
    assert embedder is not None
    assert "get the model with 'ollama pull some-model'" in error_of(embedder)


# --- for somebody who waits ---


def test_a_question_is_not_waited_for_long(make: Make, service: Service) -> None:
    service.behaviour = services.status(429, headers={"Retry-After": "30"})
    started = time.monotonic()
    with pytest.raises(EmbedderError, match="asks to wait"):
        make().embed_query("where")
    assert time.monotonic() - started < 6.0


def test_nobody_waits_twice_for_the_same_failure(
    make: Make, service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    embedder = make(embedder_timeout=0.2)
    service.behaviour = services.slow(1.0)
    hurried = embedders.with_deadline(embedder)
    assert hurried is not None
    with pytest.raises(EmbedderError):
        embedder.embed_query("where")
    asked = len(service.requests)
    with pytest.raises(EmbedderError):
        embedder.embed_query("where")
    with pytest.raises(EmbedderError):
        hurried.embed_documents(["there"])
    assert len(service.requests) == asked
    service.behaviour = services.well
    embedder.embed_documents(["indexing asks again"])
    monkeypatch.setattr(http_client, "FAILURE_CACHE_SECONDS", 0.0)
    embedder.embed_query("and so does a query after a while")
    assert len(service.requests) == asked + 2


def test_what_waits_for_nobody_is_not_hurried() -> None:
    embedder = embedders.create("hashing")
    assert embedders.with_deadline(embedder) is embedder
    assert embedders.with_deadline(None) is None


# --- the key ---


def openai(url: str, folder: Path) -> Embedder:
    found = embedders.create("openai:some-model", settings.resolve(folder, {"embedder_url": url}))
    assert found is not None
    return found


def test_the_key_goes_to_the_service_and_nowhere_else(
    service: Service, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DOWSE_EMBEDDER_KEY", KEY + "\n")
    embedder = openai(service.url + "/v1", tmp_path)
    embedder.embed_documents(["one"])
    assert service.requests[0].headers["authorization"] == f"Bearer {KEY}"
    service.behaviour = services.status(401, f"the key {KEY} is wrong\x1b[31m\n")
    said = error_of(embedder)
    assert "the key *** is wrong [31m" in said
    assert "DOWSE_EMBEDDER_KEY" in said
    assert KEY not in repr(embedder) + embedder.name


def test_the_key_for_openai_is_not_for_others(
    service: Service, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    openai(service.url + "/v1", tmp_path).embed_documents(["one"])
    assert "authorization" not in service.requests[0].headers
    assert settings.read_service_key("embedder", "api.openai.com") == KEY
    assert settings.read_service_key("embedder", "example.org") == ""


def test_no_key_for_openai_is_said_before_anything_is_sent() -> None:
    embedder = embedders.create("openai")
    assert embedder is not None
    assert "put it into OPENAI_API_KEY" in error_of(embedder)


def test_a_key_that_is_none_is_not_printed(
    service: Service, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DOWSE_EMBEDDER_KEY", f"{KEY}\nX-Other: 1")
    said = error_of(openai(service.url + "/v1", tmp_path))
    assert "characters that no key has" in said
    assert KEY not in said
    assert not service.requests


def test_a_key_is_not_sent_in_the_open(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DOWSE_EMBEDDER_KEY", KEY)
    assert "use https" in error_of(openai("http://embeddings.invalid/v1", tmp_path))


# --- where text may go ---


@pytest.mark.parametrize("name", ["dowse.toml", "pyproject.toml"])
@pytest.mark.parametrize(
    ("text", "url"),
    [
        ('embedder = "openai"\n', "https://api.openai.com/v1"),
        ('embedder = "ollama"\nembedder_url = "http://example.org:11434/"\n', "http://example.org:11434"),
    ],
)
def test_a_file_in_the_tree_cannot_send_its_text_away(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, text: str, url: str
) -> None:
    (tmp_path / name).write_text(text if name == "dowse.toml" else f"[tool.dowse]\n{text}")
    resolved = settings.resolve(tmp_path)
    with pytest.raises(SettingsError, match="for you to decide") as raised:
        embedders.create(resolved.settings.embedder, resolved)
    assert f"{name} asks to send the text of this tree to {url}," in str(raised.value)
    monkeypatch.setenv("DOWSE_EMBEDDER_URL", url)
    resolved = settings.resolve(tmp_path)
    assert embedders.create(resolved.settings.embedder, resolved) is not None


def test_a_file_in_the_tree_can_name_a_service_on_this_machine(tmp_path: Path) -> None:
    (tmp_path / "dowse.toml").write_text('embedder = "openai:x"\nembedder_url = "http://localhost:8080/v1"\n')
    resolved = settings.resolve(tmp_path)
    assert embedders.create(resolved.settings.embedder, resolved) is not None


@pytest.mark.parametrize(
    ("url", "message"),
    [
        ("localhost:11434", "must be like http"),
        ("ftp://example.org", "must be like http"),
        ("file:///etc/passwd", "must be like http"),
        ("http://", "must be like http"),
        ("http://host:99999999", "is not an address"),
        ("http://[::1", "is not an address"),
        ("https://user:password@example.org", "must not hold a password"),
        ("https://example.org/?key=1", "plain address"),
        ("https://example.org/#a", "plain address"),
        ("https://exa mple.org/", "plain address"),
        ("https://exämple.org/", "plain address"),
    ],
)
def test_an_address_that_is_none_is_a_setting_to_mend(url: str, message: str) -> None:
    with pytest.raises(SettingsError, match=message) as raised:
        validate_url(url)
    assert "password@" not in str(raised.value)


def test_an_address_may_end_in_a_slash() -> None:
    assert validate_url("https://example.org:8443/v1/") == "https://example.org:8443/v1"


@pytest.mark.parametrize(
    ("url", "local"),
    [
        ("http://localhost:1", True),
        ("http://127.0.0.1", True),
        ("http://127.1.2.3", True),
        ("http://[::1]:80/x", True),
        ("http://127.example.org", False),
        ("http://localhost.example.org", False),
        ("https://api.openai.com", False),
        ("http://10.0.0.1", False),
    ],
)
def test_what_is_this_machine(url: str, local: bool) -> None:
    assert is_local(url) is local


@pytest.mark.skipif(not shutil.which("openssl"), reason="makes a certificate with openssl")
def test_a_certificate_that_nobody_vouches_for_is_refused(service: Service, tmp_path: Path) -> None:
    pem = tmp_path / "both.pem"
    command = [
        "openssl",
        "req",
        "-x509",
        "-newkey",
        "rsa:2048",
        "-nodes",
        "-days",
        "2",
        "-subj",
        "/CN=localhost",
    ]
    subprocess.run(
        [*command, "-keyout", str(tmp_path / "key.pem"), "-out", str(pem)], check=True, capture_output=True
    )
    pem.write_text(pem.read_text() + (tmp_path / "key.pem").read_text())
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(pem)
    service.server.socket = context.wrap_socket(service.server.socket, server_side=True)
    service.server.handle_error = lambda *_: None  # type: ignore[method-assign]  # it would print that we hung up
    said = error_of(openai(service.url.replace("http:", "https:") + "/v1", tmp_path))
    assert "no safe connection" in said and "certificate" in said
    assert not service.requests


# --- parts ---


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({}, None),
        ({"Retry-After": "7"}, 7.0),
        ({"Retry-After": "0.5"}, 0.5),
        ({"Retry-After": f"Wed, {10**20}1 Oct 2015 07:28:00 GMT"}, None),
        ({"Retry-After": "-3"}, 0.0),
        ({"Retry-After": "soon"}, None),
        ({"Retry-After": "nan"}, None),
        ({"Retry-After": ""}, None),
        ({"retry-after-ms": "1500", "Retry-After": "2"}, 1.5),
        ({"Retry-After": "Wed, 21 Oct 2015 07:28:00 GMT"}, 0.0),
    ],
)
def test_how_long_to_wait(headers: dict[str, str], seconds: float | None) -> None:
    message = Message()
    for name, value in headers.items():
        message[name] = value
    assert retry_after(message) == seconds


def test_how_long_to_wait_until_a_moment() -> None:
    message = Message()
    message["Retry-After"] = formatdate(time.time() + 30, usegmt=True)
    found = retry_after(message)
    assert found is not None and 25 < found <= 30


def test_a_client_in_a_hurry_is_its_own() -> None:
    client = Client("http://localhost", timeout=60.0)
    assert client.with_deadline().timeout == http_client.DEADLINE_SECONDS
    assert client.with_deadline().with_deadline().attempts == http_client.DEADLINE_ATTEMPTS
    hurried = client.with_deadline()
    assert hurried.with_deadline() is hurried
    assert Client("http://localhost", timeout=1.0).with_deadline().timeout == 1.0
