"""What only HTTP has: the token, sessions side by side, folders that a stranger names."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import anyio
import httpx2
from mcp_types import ListRootsResult, Root

from tests.agents.clients import http_server, make_tree, run

HELLO = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {
        "protocolVersion": "2025-06-18",
        "capabilities": {},
        "clientInfo": {"name": "x", "version": "1"},
    },
}
ACCEPT = {"accept": "application/json, text/event-stream"}


def test_token_host_and_bad_bodies(tree: Path, home: Path) -> None:
    with http_server(tree, home) as server, httpx2.Client(timeout=20) as http:
        assert server.url.startswith("http://127.0.0.1:")
        assert http.post(server.url, json=HELLO, headers=ACCEPT).status_code == 401
        wrong = ACCEPT | {"authorization": "Bearer wrong"}
        assert http.post(server.url, json=HELLO, headers=wrong).status_code == 401
        right = ACCEPT | {"authorization": f"Bearer {server.token}"}
        assert http.post(server.url, json=HELLO, headers=right).status_code == 200
        elsewhere = right | {"host": "evil.example:80"}
        assert http.post(server.url, json=HELLO, headers=elsewhere).status_code in (400, 403, 421)
        assert http.post(server.url, content=b"{not json", headers=right | JSON).status_code == 400
        assert http.post(server.url, content=b"x" * 5_000_000, headers=right | JSON).status_code == 413
        stranger = right | {"mcp-session-id": "nobody"}
        assert http.post(server.url, json=HELLO | {"method": "ping"}, headers=stranger).status_code == 404
        assert http.post(server.url, json=HELLO, headers=right).status_code == 200


JSON = {"content-type": "application/json"}


def test_sessions_have_their_own_memory(tree: Path, home: Path) -> None:
    async def work() -> None:
        asked = {"query": "retry with backoff", "limit": 1}
        with http_server(tree, home) as server:
            async with server.client(mode="legacy") as one, server.client(mode="legacy") as two:
                await one.call_tool("search", asked)
                again = await one.call_tool("search", asked)
                first = await two.call_tool("search", asked)
                assert "sent_before" in again.structured_content["hits"][0]
                assert "text" in first.structured_content["hits"][0]

    run(work)


def test_folders_outside_cannot_be_named(tree: Path, home: Path, tmp_path: Path) -> None:
    other = make_tree(tmp_path / "other")
    (other / "src/retry.py").write_text("def not_for_you():\n    pass\n")
    (tree / "dowse.toml").write_text(f'[repositories]\nother = "{other.as_posix()}"\n')

    async def roots(context: Any) -> ListRootsResult:
        return ListRootsResult(roots=[Root.model_validate({"uri": other.as_uri()})])

    async def work() -> None:
        with http_server(tree, home) as server:
            async with server.client(mode="legacy", list_roots_callback=roots) as client:
                found = await client.call_tool("search", {"query": "not_for_you retry"})
                assert "def not_for_you" not in str(found.content)
                named = await client.call_tool("search", {"query": "retry", "repo": "other"})
                assert named.is_error
        assert not (other / ".dowse").exists()

    run(work)


def test_many_calls_at_once_with_edits(tree: Path, home: Path) -> None:
    async def work() -> None:
        with http_server(tree, home) as server:

            async def session(number: int) -> None:
                async with server.client(mode="legacy") as client:
                    for round in range(4):
                        if number == 0:
                            (tree / "src/fresh.py").write_text(
                                f"def round_{round}_marker():\n    return {round}\n"
                            )
                        found = await client.call_tool("search", {"query": "retry with backoff"})
                        assert not found.is_error
                        assert found.structured_content["hits"][0]["fresh"]

            async with anyio.create_task_group() as group:
                for number in range(8):
                    group.start_soon(session, number)
            async with server.client() as client:
                found = await client.call_tool("search", {"query": "round_3_marker"})
                assert found.structured_content["hits"][0]["name"] == "round_3_marker"

    run(work)
