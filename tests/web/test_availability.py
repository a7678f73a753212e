"""What the server answers while something is missing: a repository, an index, time, a free thread or connection."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import httpx2
import pytest

from dowse.engine import Engine
from dowse.interfaces.http import index_builds, request_threads
from dowse.managed_index import ManagedIndex
from tests.agents.clients import make_tree
from tests.web.serving import TOKEN, send_raw, serve_here

API = "/api/v1"


def test_a_repository_that_is_gone_is_named_and_the_others_answer(tree: Path, tmp_path: Path) -> None:
    other = make_tree(tmp_path / "other")
    with serve_here(tree, other) as client:
        other.rename(tmp_path / "gone")
        found = client.get(f"{API}/search", params={"query": "retry"}).json()
        assert {hit["repository"] for hit in found["results"]} == {"project"}
        assert "other could not be searched" in found["notes"][0] and "not there" in found["notes"][0]
        asked = client.get(f"{API}/search", params={"query": "retry", "repository": "other"})
        assert asked.status_code == 404 and "is not there any more" in asked.json()["detail"]
        rows = client.get(f"{API}/repositories").json()["repositories"]
        assert [(row["name"], bool(row["problem"])) for row in rows] == [("project", False), ("other", True)]
        assert 'repository="project"' in client.get(f"{API}/metrics").text
        for page in ("/", "/index", "/?q=retry", "/file/project/src/retry.py"):
            assert client.get(page).status_code == 200, page
        assert client.get("/file/other/src/retry.py").status_code == 404
        (tmp_path / "gone").rename(other)
        assert client.get(f"{API}/outline", params={"file": "src/retry.py", "repository": "other"}).is_success


def test_a_search_of_an_index_that_is_being_built_is_told_how_far_it_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(index_builds, "PATIENCE_SECONDS", 0.0)
    monkeypatch.setattr(index_builds, "LATE_PATIENCE_SECONDS", 0.0)
    tree = make_tree(tmp_path / "tree")
    html = {"Accept": "text/html"}
    with serve_here(tree) as client, Engine.open(tree) as writer:
        with writer.store.writer():
            answered = client.get(f"{API}/search", params={"query": "retry"})
            assert answered.status_code == 503 and int(answered.headers["retry-after"]) > 0
            assert "tree is being built" in answered.json()["detail"]
            page = client.get("/", params={"q": "retry"}, headers=html)
            assert page.status_code == 503 and 'id="building"' in page.text
            for path in ("status", "repositories", "why?path=src/retry.py", "health", "metrics"):
                assert client.get(f"{API}/{path}").status_code == 200, path
            assert client.get("/index", headers=html).status_code == 200
        while (answered := client.get(f"{API}/search", params={"query": "retry"})).status_code == 503:
            time.sleep(0.1)
        assert answered.json()["results"]


def test_indexing_takes_the_time_it_needs(tree: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(request_threads, "DEADLINE_SECONDS", 0.0)
    monkeypatch.setattr(request_threads, "POLL_SECONDS", 0.01)
    monkeypatch.setattr(Engine, "index", slow_index)
    with serve_here(tree, allow_index=True) as client:
        assert client.post(f"{API}/index", json={}).status_code == 200
        assert client.get(f"{API}/status").status_code in (200, 504)


@pytest.mark.parametrize("expect", ["", "Expect: 100-continue\r\n"])
def test_who_sends_too_much_sees_the_answer(tree: Path, expect: str) -> None:
    size = 20_000_000
    with serve_here(tree) as client:
        host = client.base_url.netloc.decode()
        head = (
            f"POST {API}/search HTTP/1.1\r\nHost: {host}\r\nAuthorization: Bearer {TOKEN}\r\n{expect}"
            f"Content-Type: application/json\r\nContent-Length: {size}\r\n\r\n"
        )
        answered = send_raw(client, head.encode() + (b"" if expect else b" " * size))
        assert answered.split()[1] == b"413" and b'"status":413' in answered


def test_another_method_is_told_which_there_are(client: httpx2.Client) -> None:
    answered = client.delete(f"{API}/search")
    assert (
        answered.status_code == 405
        and "GET" in answered.json()["detail"]
        and "POST" in answered.headers["allow"]
    )


def slow_index(engine: Engine, *args: Any, **more: Any) -> Any:
    time.sleep(0.2)
    return ManagedIndex.index(engine, *args, **more)
