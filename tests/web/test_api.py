"""The HTTP API: answers that equal the command line's, their description, pages, errors, limits."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import click
import httpx2
import pytest
from jsonschema import Draft202012Validator

from dowse.interfaces.cli import cli
from dowse.interfaces.http.api_description import describe_api
from dowse.interfaces.http.operations import Operation, list_operations
from tests.agents.clients import environment, make_tree
from tests.web.serving import TOKEN, serve_here

API = "/api/v1"

DIFF = "--- a/src/retry.py\n+++ b/src/retry.py\n@@ -5 +5 @@\n-x\n+y\n"

SAME: tuple[tuple[str, dict[str, Any], list[str]], ...] = (
    ("search", {"query": "retry with backoff"}, ["search", "retry with backoff"]),
    ("search", {"query": "Token.refresh", "limit": 2}, ["search", "Token.refresh", "-n", "2"]),
    ("search", {"query": "retry lang:py -path:tests"}, ["search", "retry lang:py -path:tests"]),
    ("search", {"query": "retry", "kind": ["class"]}, ["search", "retry", "--kind", "class"]),
    ("search", {"query": "retry", "tests": "false"}, ["search", "retry", "--no-tests"]),
    ("search", {"query": "retry", "text": "false"}, ["search", "retry", "--files"]),
    ("search", {"query": "retry", "budget": 200}, ["search", "retry", "--budget", "200"]),
    ("search", {"query": "retry", "budget": 200, "detail": "ids"},
     ["search", "retry", "--budget", "200", "--detail", "ids"]),
    ("search", {"query": "retry", "before": 1, "after": 2}, ["search", "retry", "-B", "1", "-A", "2"]),
    ("search", {"query": "retry", "deps": "true"}, ["search", "retry", "--with", "deps"]),
    ("search", {"query": "retry", "near": "src/session.py:4"}, ["search", "retry", "--near", "src/session.py:4"]),
    ("search", {"query": "retry", "hybrid": "off"}, ["search", "retry", "--hybrid", "off"]),
    ("search", {"query": "zebra quagga okapi", "show_low_confidence": "true"},
     ["search", "zebra quagga okapi", "--all"]),
    ("search", {"query": "retry", "profile": "locagent"}, ["search", "retry", "--profile", "locagent"]),
    ("search", {"query": "retry", "refresh": "false", "cache": "off"},
     ["search", "retry", "--no-refresh", "--no-cache"]),
    ("search", {"query": "retry", "term_graph": "off"}, ["search", "retry", "--term-graph", "off"]),
    ("search", {"query": "retry", "path": ["src/**"], "not_path": ["**/session.py"], "lang": ["py"]},
     ["search", "retry", "--path", "src/**", "--not-path", "**/session.py", "-l", "py"]),
    ("search", {"query": "retry", "name": ["retry*"]}, ["search", "retry", "--name", "retry*"]),
    ("search", {"query": "kind:class"}, ["search", "kind:class"]),
    ("search", {"query": 'retry "never written like this"'}, ["search", 'retry "never written like this"']),
    ("search", {"query": "retry", "min_relevance": 0.5}, ["search", "retry", "--min-relevance", "0.5"]),
    ("explain", {"query": "retry", "place": "src/retry.py:4"}, ["explain", "retry", "src/retry.py:4"]),
    ("explain", {"query": "retry", "place": "src/missing.py"}, ["explain", "retry", "src/missing.py"]),
    ("related", {"place": "src/retry.py"}, ["related", "src/retry.py"]),
    ("entities", {"query": "retry*"}, ["entities", "retry*"]),
    ("show", {"id": ["src/retry.py:retry_with_backoff"]}, ["show", "src/retry.py:retry_with_backoff"]),
    ("graph/callers", {"target": "retry_with_backoff"}, ["callers", "retry_with_backoff"]),
    ("graph/callees", {"target": "retry_with_backoff", "external": "true"},
     ["callees", "retry_with_backoff", "--external"]),
    ("graph/deps", {"target": "tests/test_retry.py"}, ["deps", "tests/test_retry.py"]),
    ("graph/impact", {"target": "src/retry.py"}, ["impact", "src/retry.py"]),
    ("graph/traverse", {"id": ["src/retry.py"], "direction": "both", "depth": 1},
     ["traverse", "src/retry.py", "--direction", "both", "--depth", "1"]),
    ("graph/hierarchy", {"target": "Token"}, ["hierarchy", "Token"]),
    ("graph/path", {"target": "test_retry_gives_up", "to": "retry_with_backoff"},
     ["path", "test_retry_gives_up", "retry_with_backoff"]),
    ("graph/hubs", {"limit": 5}, ["hubs", "-n", "5"]),
    ("graph/cycles", {}, ["cycles"]),
    ("affected", {}, ["affected"]),
    ("history", {"query": "first"}, ["history", "first"]),
    ("history", {"path": ["src/retry.py"], "author": "a", "since": "2020-01-01", "limit": 1},
     ["history", "--path", "src/retry.py", "--author", "a", "--since", "2020-01-01", "-n", "1"]),
    ("blame", {"target": "src/retry.py:retry_with_backoff"}, ["blame", "src/retry.py:retry_with_backoff"]),
    ("status", {}, ["status"]),
    ("why", {"path": "src/retry.py"}, ["status", "--why", "src/retry.py"]),
    ("files", {}, ["list"]),
    ("skipped", {}, ["list", "--skipped"]),
    ("languages", {}, ["languages"]),
    ("languages", {"name": "py"}, ["languages", "py"]),
)  # fmt: skip
"""Operation, parameters, and the command that says the same."""

TIMES = ("milliseconds", "stages", "cached", "seconds", "size_bytes")


def drop_times(values: Any) -> Any:
    """Values without what differs from run to run."""
    if isinstance(values, dict):
        return {key: drop_times(value) for key, value in values.items() if key not in TIMES}
    return [drop_times(value) for value in values] if isinstance(values, list) else values


def run_command(tree: Path, home: Path, args: list[str]) -> dict[str, Any]:
    done = subprocess.run(
        [sys.executable, "-m", "dowse", *args, "--json"],
        check=False,
        cwd=tree,
        env=environment(home) | {name: os.environ[name] for name in ("DOWSE_STATE_DIR", "DOWSE_CACHE_DIR")},
        capture_output=True,
        encoding="utf-8",
        timeout=60,
    )
    assert done.returncode in (0, 1), done.stderr
    values: dict[str, Any] = json.loads(done.stdout)
    return values


@pytest.mark.parametrize(("path", "parameters", "args"), SAME, ids=[" ".join(args) for *_, args in SAME])
def test_the_api_answers_as_the_command_line(
    client: httpx2.Client, tree: Path, home: Path, path: str, parameters: dict[str, Any], args: list[str]
) -> None:
    answered = client.get(f"{API}/{path}", params=parameters)
    assert answered.status_code == 200, answered.text
    assert drop_times(answered.json()) == drop_times(run_command(tree, home, args))


ONLY_OF_A_TERMINAL = {
    "search": {
        "repos",
        "full",
        "explain",
        "web",
        "opened",
        "no_server",
        "context",
    },  # ``context`` is ``before`` and ``after``
    "related": {"explain"},
    "deps": {"transitive"},  # ``depth`` says it
    "affected": {"tests_only"},
    "history": {"no_patch"},
    "list": {"skipped"},  # an operation of its own, as ``why`` is
    "status": {"why"},
    "index": {
        "path",
        "workers",
        "include",
        "exclude",
        "max_file_size",
        "chunk_size",
        "allow_missing_vectors",
        "wait",
    },
}
"""Options that choose the operation, or how it is printed; and how to index, which those who run the server decide."""

EVERYWHERE = {"root", "index_dir", "store", "embedder", "allow_home", "as_json", "color", "pager", "debug",
              "layout"}  # fmt: skip
"""Options that say what is searched, and how it is printed: a server is told at its start."""

OTHER_NAMES = {"languages": "lang", "paths": "path", "not_paths": "not_path", "kinds": "kind", "names": "name",
               "attached": "deps", "words": "query", "files_only": "text", "ids": "id", "relations": "relation",
               "span": "range", "symbol": "target", "file": "target", "start": "target", "end": "to", "why": "path",
               "offset": "cursor"}  # fmt: skip


@pytest.mark.parametrize("operation", [one for one in list_operations() if one.command and one.path != "/evaluation"],
                         ids=lambda one: one.name)  # fmt: skip
def test_the_api_has_every_option_of_the_command(operation: Operation) -> None:
    name = operation.command.split()[1]
    command = cli.get_command(click.Context(cli), name)
    assert command is not None
    options = {str(one.name) for one in command.params} - EVERYWHERE - ONLY_OF_A_TERMINAL.get(name, set())
    known = {one.name for one in operation.parameters}
    assert {one for one in options if one not in known} <= {
        one for one in options if OTHER_NAMES.get(one) in known
    }


def test_every_operation_with_a_command_is_compared() -> None:
    compared = {f"/{path}" for path, *_ in SAME}
    with_command = {one.path for one in list_operations() if one.command}
    assert with_command - compared == {"/index", "/evaluation"}  # compared below


@pytest.mark.parametrize(("path", "parameters", "args"), SAME, ids=[" ".join(args) for *_, args in SAME])
def test_answers_are_as_described(
    client: httpx2.Client, path: str, parameters: dict[str, Any], args: list[str]
) -> None:
    description = client.get("/api/openapi.json").json()
    ok = description["paths"][f"{API}/{path}"]["get"]["responses"]["200"]
    schema = ok["content"]["application/json"]["schema"] | {"components": description["components"]}
    Draft202012Validator(schema).validate(client.get(f"{API}/{path}", params=parameters).json())


def test_index_is_as_the_command_and_only_if_allowed(tree: Path, home: Path, client: httpx2.Client) -> None:
    assert client.post(f"{API}/index", json={}).status_code == 403
    with serve_here(tree, allow_index=True) as other:
        answered = other.post(f"{API}/index", json={})
        assert drop_times(answered.json()) == drop_times(run_command(tree, home, ["index"]))
        streamed = other.post(f"{API}/index", json={"rebuild": True}, headers={"Accept": "text/event-stream"})
        events = [event.partition("\n")[0] for event in streamed.text.strip().split("\n\n")]
        assert events[-1] == "event: done" and set(events[:-1]) <= {"event: progress"}
        assert other.get(f"{API}/index").status_code == 405
    with serve_here(tree, allow_index=True, read_only=True) as reader:
        assert reader.post(f"{API}/index", json={}).status_code == 403


def test_a_saved_evaluation_is_as_the_command_saved_it(tree: Path, home: Path, tmp_path: Path) -> None:
    saved = tmp_path / "runs" / "first.json"
    values = run_command(tree, home, ["eval", "--mine", "5", "--save", str(saved)])
    with serve_here(tree, evaluations=str(saved.parent)) as client:
        assert client.get(f"{API}/evaluations").json()["evaluations"] == ["first"]
        answered = client.get(f"{API}/evaluation", params={"name": "first"}).json()
        assert drop_times(answered) == drop_times(values)
        for name in ("second", "../first", "/etc/passwd", "..%2ffirst"):
            assert client.get(f"{API}/evaluation", params={"name": name}).status_code == 404


def test_read_and_outline(client: httpx2.Client) -> None:
    targets = ["src/retry.py:1-3", "Token.refresh"]
    found = client.get(f"{API}/read", params={"target": targets}).json()["results"]
    assert [(hit["path"], hit["start_line"]) for hit in found] == [("src/retry.py", 1), ("src/session.py", 4)]
    listed = client.get(f"{API}/outline", params={"file": "src/session.py"}).json()["results"]
    assert [hit["entity"] for hit in listed] == ["Token", "Token.refresh"]


def test_pages_follow_each_other(client: httpx2.Client) -> None:
    whole = client.get(
        f"{API}/search", params={"query": "retry", "limit": 3, "show_low_confidence": True}
    ).json()
    url = f"{API}/search?query=retry&limit=1&show_low_confidence=true"
    found: list[dict[str, Any]] = []
    while url and len(found) < 3:
        answered = client.get(url)
        found += answered.json()["results"]
        url = answered.links.get("next", {}).get("url", "")
    assert [hit["path"] for hit in found] == [hit["path"] for hit in whole["results"]]
    assert client.get(f"{API}/search", params={"query": "retry", "cursor": "x"}).status_code == 400


def test_an_answer_that_is_still_right_is_not_sent_again(tree: Path) -> None:
    with serve_here(tree) as client:
        first = client.get(f"{API}/entities?query=Token")
        known = {"If-None-Match": first.headers["etag"]}
        assert client.get(f"{API}/entities?query=Token", headers=known).status_code == 304
        assert client.get(f"{API}/entities?query=retry", headers=known).status_code == 200
        (tree / "src/fresh.py").write_text("class Token:\n    pass\n")
        try:
            again = client.get(f"{API}/entities?query=Token", headers=known)
            assert again.status_code == 200 and len(again.json()["entities"]) > len(first.json()["entities"])
        finally:
            (tree / "src/fresh.py").unlink()
        assert "etag" not in client.get(f"{API}/search", params={"query": "retry changed:1d"}).headers


def test_a_body_has_room_for_long_texts(client: httpx2.Client) -> None:
    trace = (
        "Traceback (most recent call last):\n"
        + '  File "src/retry.py", line 8, in retry_with_backoff\n' * 500
    )
    answered = client.post(f"{API}/search", json={"query": trace, "limit": 1})
    assert answered.json()["results"][0]["path"] == "src/retry.py"
    changed = client.post(f"{API}/affected", json={"diff": DIFF}).json()
    assert [test["path"] for test in changed["tests"]] == ["tests/test_retry.py"]


ERRORS: tuple[tuple[str, dict[str, Any], int, str | None], ...] = (
    ("search", {}, 400, "UsageError"),
    ("search", {"query": ""}, 400, "UsageError"),
    ("search", {"query": "x", "limit": 0}, 400, "UsageError"),
    ("search", {"query": "x", "limit": "9" * 4000}, 400, "UsageError"),
    ("search", {"query": "x", "langauge": "py"}, 400, "UsageError"),
    ("search", {"query": "x", "lang": "klingon"}, 400, "UsageError"),
    ("search", {"query": "x", "tests": "maybe"}, 400, "UsageError"),
    ("search", {"query": "x\0y"}, 400, "UsageError"),
    ("search", {"query": "/(/"}, 400, "UsageError"),
    ("search", {"query": "x", "repository": ["other"]}, 404, "RootError"),
    ("graph/callers", {"target": "nobody_here"}, 404, "EntityNotFound"),
    ("affected", {"since": "--output=/tmp/x"}, 400, "UsageError"),
    ("nothing", {}, 404, None),
)


@pytest.mark.parametrize(("path", "parameters", "status", "error"), ERRORS)
def test_errors_are_problem_details(
    client: httpx2.Client, path: str, parameters: dict[str, Any], status: int, error: str | None
) -> None:
    answered = client.get(f"{API}/{path}", params=parameters)
    problem = answered.json()
    assert answered.status_code == problem["status"] == status
    assert answered.headers["content-type"] == "application/problem+json"
    assert problem.get("error") == error and problem["detail"] and problem["title"]


def test_malformed_bodies_are_refused(client: httpx2.Client) -> None:
    url, kind = f"{API}/search", {"Content-Type": "application/json"}
    for body in (
        b"{",
        b"[]",
        b'"x"',
        b"\xff",
        b"[" * 100_000,
        b'{"query": 1}',
        b'{"query": "x", "lang": "py"}',
    ):
        assert client.post(url, content=body, headers=kind).status_code == 400, body[:20]
    assert client.post(url, content=b" " * 5_000_000, headers=kind).status_code == 413
    assert client.post(url, data={"query": "x"}).status_code == 415
    assert client.get(url, params={"query": "retry"}).status_code == 200


def test_several_repositories(tree: Path, tmp_path: Path) -> None:
    other = make_tree(tmp_path / "other")
    with serve_here(tree, other) as client:
        listed = client.get(f"{API}/repositories").json()["repositories"]
        assert [row["name"] for row in listed] == ["project", "other"]
        found = client.get(f"{API}/search", params={"query": "retry"}).json()
        assert {hit["repository"] for hit in found["results"]} == {"project", "other"}
        one = client.get(f"{API}/search", params={"query": "retry", "repository": "other"}).json()
        assert one["root"] == str(other) and not one["repositories"]
        assert client.get(f"{API}/outline", params={"file": "src/retry.py"}).status_code == 400
        assert client.get(f"{API}/outline", params={"file": "src/retry.py", "repository": "other"}).is_success
        (tmp_path / "other").rename(tmp_path / "gone")
        assert client.get(f"{API}/status", params={"repository": "other"}).status_code == 404
        assert client.get(f"{API}/search", params={"query": "retry"}).is_success


def test_metrics_and_health(client: httpx2.Client) -> None:
    client.get(f"{API}/search", params={"query": "retry"})
    text = client.get(f"{API}/metrics").text
    assert 'dowse_requests_total{operation="search",status="200"}' in text
    assert 'dowse_index_files{repository="project"} 3' in text
    assert httpx2.get(f"{client.base_url}{API}/health").json()["status"] == "ok"


def test_the_description_names_what_there_is() -> None:
    described = describe_api(list_operations())
    assert set(described["paths"]) >= {f"{API}{one.path}" for one in list_operations()}
    ids = [method["operationId"] for path in described["paths"].values() for method in path.values()]
    assert len(ids) == len(set(ids))


def test_many_searches_at_once_all_have_a_clear_answer(client: httpx2.Client) -> None:
    statuses: list[int] = []

    def ask(number: int) -> None:
        with httpx2.Client(base_url=client.base_url, headers={"Authorization": f"Bearer {TOKEN}"}) as one:
            statuses.append(
                one.get(f"{API}/search", params={"query": f"retry {number}"}, timeout=60).status_code
            )

    threads = [threading.Thread(target=ask, args=(number,)) for number in range(100)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(statuses) == 100 and set(statuses) <= {200, 429, 503} and 200 in statuses
    assert client.get(f"{API}/health").is_success
