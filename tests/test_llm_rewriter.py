"""Rewriting of queries, against a real server that does not always behave."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from dowse.engine import Engine
from dowse.errors import SettingsError
from dowse.search.query import llm_rewriter
from dowse.settings import ResolvedSettings, Settings
from tests.embedders.services import (
    Asked,
    Behaviour,
    Handler,
    Service,
    content,
    hangs_up,
    huge,
    running,
    status,
)

LIMIT = 0.6
"""Seconds that the model has in these tests."""


def says(text: object) -> Behaviour:
    """Answers a chat with a text, in the protocol it was asked in."""

    def behave(handler: Handler, asked: Asked) -> None:
        message = {"role": "assistant", "content": text}
        ollama = {"message": message, "done": True}
        body = ollama if asked.path == "/api/chat" else {"choices": [{"index": 0, "message": message}]}
        handler.answer(200, json.dumps(body).encode())

    return behave


def late(handler: Handler, asked: Asked) -> None:
    """Answers well, but too late."""
    time.sleep(LIMIT * 3)
    try:
        says("retry with backoff")(handler, asked)
    except OSError:
        return


def trickles(handler: Handler, asked: Asked) -> None:
    """Sends a byte now and then, always in time for the next, for much longer than the limit."""
    handler.send_response(200)
    handler.send_header("Content-Length", "1000")
    handler.end_headers()
    try:
        for _ in range(40):
            handler.wfile.write(b" ")
            time.sleep(LIMIT / 4)
    except OSError:
        return


@pytest.fixture
def service() -> Iterator[Service]:
    with running() as started:
        yield started


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    (tmp_path / "retry.py").write_text("def retry_with_backoff(call):\n    return call()\n", encoding="utf-8")
    (tmp_path / "other.py").write_text("def unrelated():\n    return 1\n", encoding="utf-8")
    return tmp_path


def engine(tree: Path, service: Service, provider: str = "ollama", **settings: Any) -> Engine:
    url = service.url + ("/v1" if provider == "openai" else "")
    given = {"rewriter": f"{provider}:tiny", "rewriter_url": url, "rewriter_timeout": LIMIT, **settings}
    return Engine.open(tree, **given)


@pytest.mark.parametrize(("provider", "path"), [("ollama", "/api/chat"), ("openai", "/v1/chat/completions")])
def test_a_question_is_searched_for_in_other_words(
    tree: Path, service: Service, provider: str, path: str
) -> None:
    service.behaviour = says('"retry_with_backoff"\n')
    with engine(tree, service, provider) as opened:
        response = opened.search("call it again until it works lang:py")
    assert response.results[0].path == "retry.py"
    wording = response.query.rewrite
    assert (wording.original, wording.rewritten) == ("call it again until it works", "retry_with_backoff")
    assert (wording.rewriter, wording.why_not) == (f"{provider}:tiny", "")
    assert response.query.text == "call it again until it works lang:py"
    asked = service.requests[0]
    assert asked.path == path
    assert asked.body["model"] == "tiny"
    assert asked.body["messages"][-1]["content"] == "call it again until it works", "filters are not sent"


@pytest.mark.parametrize(
    ("behaviour", "said"),
    [
        (late, "no answer within"),
        (trickles, "no answer within"),
        (status(500, "broken"), "status 500"),
        (status(429, "busy", {"Retry-After": "30"}), "status 429"),
        (status(401, "who are you"), "status 401"),
        (content(b"<html>not json</html>"), "not JSON"),
        (content(b'{"message": '), "cut off or corrupt"),
        (content(b'{"other": 1}'), "has no text"),
        (content(b"[1]"), "not a JSON object"),
        (says({"a": 1}), "has no text"),
        (says("   \n\n"), "said nothing"),
        (says("word " * 400), "not a query"),
        (hangs_up, "broke"),
        (huge, ""),
    ],
)
def test_a_model_that_misbehaves_costs_little_and_is_named(
    tree: Path, service: Service, behaviour: Behaviour, said: str
) -> None:
    service.behaviour = behaviour
    with engine(tree, service) as opened:
        opened.index()
        started = time.monotonic()
        response = opened.search("retry_with_backoff")
        took = time.monotonic() - started
    assert took < LIMIT * 6, "the limit is for all of it"
    assert response.results[0].path == "retry.py", "the query itself is searched for"
    assert response.query.rewrite.rewritten == response.query.rewrite.original
    assert said in response.query.rewrite.why_not
    assert any("not rewritten by ollama:tiny" in note for note in response.notes)


def test_nothing_answers(tree: Path, service: Service) -> None:
    service.stop()
    with engine(tree, service) as opened:
        assert "ollama serve" in opened.search("retry").query.rewrite.why_not


def test_no_model_is_asked_unless_one_is_set(tree: Path, service: Service) -> None:
    with Engine.open(tree, rewriter_url=service.url) as opened:
        wording = opened.search("retry").query.rewrite
    assert service.requests == []
    assert (wording.rewriter, wording.rewritten) == ("", "retry")


def test_terms_come_after_rewriting(tree: Path, service: Service) -> None:
    service.behaviour = says("try once more")
    terms = {"entries": [{"canonical": "retry_with_backoff", "synonyms": ["once more"]}]}
    (tree / "terms.json").write_text(json.dumps(terms), encoding="utf-8")
    with engine(tree, service, term_graph="terms.json") as opened:
        wording = opened.search("do it a second time").query.rewrite
    assert wording.original == "do it a second time"
    assert wording.rewritten == "try once more"
    assert wording.enriched == "try once more retry_with_backoff"


def test_a_key_goes_only_where_it_belongs(
    tree: Path, service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DOWSE_REWRITER_KEY", "sk-mine")
    monkeypatch.setenv("OPENAI_API_KEY", "sk-openai")
    service.behaviour = says("retry")
    with engine(tree, service, "openai") as opened:
        opened.search("again")
    monkeypatch.delenv("DOWSE_REWRITER_KEY")
    with engine(tree, service, "openai") as opened:
        opened.search("again")
    assert [asked.headers.get("authorization") for asked in service.requests] == ["Bearer sk-mine", None]


@pytest.mark.parametrize("setting", ["rewriter", "rewriter_url"])
def test_a_tree_cannot_send_questions_elsewhere(setting: str) -> None:
    url = "https://example.org/v1" if setting == "rewriter_url" else ""
    settings = Settings(rewriter="openai:x", rewriter_url=url)
    with pytest.raises(SettingsError, match="for you to decide"):
        llm_rewriter.create_rewriter(ResolvedSettings(settings, {setting: "dowse.toml"}))
    assert llm_rewriter.create_rewriter(ResolvedSettings(settings, {setting: "environment"}))


def test_an_unknown_rewriter_is_an_error() -> None:
    with pytest.raises(SettingsError, match="known are none, ollama, openai"):
        llm_rewriter.create_rewriter(ResolvedSettings(Settings(rewriter="magic:8"), {}))
