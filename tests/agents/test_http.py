"""What only HTTP has: the token, sessions side by side, folders that a stranger names."""

from __future__ import annotations

import gc
import threading
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import anyio
import httpx2
import uvicorn
from mcp import Client
from mcp_types import ListRootsResult, Root

from dowse.interfaces.mcp.http_server import build_app
from dowse.interfaces.mcp.service import Service
from dowse.interfaces.workspace import ServerScope
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


def test_clients_that_are_gone_in_mid_call_leave_the_server_to_others(tree: Path, home: Path) -> None:
    body = "\n".join(f"def function_{i}(argument):\n    return argument * {i}\n" for i in range(200))
    for number in range(80):
        (tree / f"src/many{number}.py").write_text(f"# {number}\n{body}")
    call = {
        "jsonrpc": "2.0",
        "id": 2,
        "method": "tools/call",
        "params": {"name": "search", "arguments": {"query": "function"}},
    }

    async def work() -> None:
        with http_server(tree, home) as server:
            headers = ACCEPT | {"authorization": f"Bearer {server.token}"}
            for _ in range(3):
                async with httpx2.AsyncClient(headers=headers, timeout=20) as http:
                    hello = await http.post(server.url, json=HELLO)
                    named = {"mcp-session-id": hello.headers["mcp-session-id"]}
                    with anyio.move_on_after(0.5):  # and then the connection is closed without a word
                        await http.post(server.url, json=call, headers=named)
            async with server.client(mode="legacy") as client:
                found = await client.call_tool("search", {"query": "retry_with_backoff"})
                assert found.structured_content["hits"][0]["name"] == "retry_with_backoff"
            assert server.process.poll() is None

    run(work)


@contextmanager
def served_here(tree: Path) -> Iterator[str]:
    """The address of a server in this process, whose objects can be counted."""
    service = Service(ServerScope(roots=(str(tree),), trust_client=False))
    server = uvicorn.Server(uvicorn.Config(build_app(service, "127.0.0.1", ""), port=0, log_config=None))
    thread = threading.Thread(target=server.run)
    thread.start()
    try:
        while not server.started:
            time.sleep(0.01)
        yield f"http://127.0.0.1:{server.servers[0].sockets[0].getsockname()[1]}/mcp"
    finally:
        server.should_exit = True
        thread.join(20)
        service.close()


def objects() -> Counter[str]:
    """What there is of our classes and of those that carry sessions."""
    gc.collect()
    kinds = Counter(type(thing) for thing in gc.get_objects())
    ours = ("dowse.", "mcp.", "uvicorn.", "sqlite3", "tantivy")
    return Counter(
        {f"{k.__module__}.{k.__name__}": n for k, n in kinds.items() if str(k.__module__).startswith(ours)}
    )


def test_nothing_is_left_of_sessions_that_ended_and_of_old_generations(tree: Path) -> None:
    async def session(url: str, number: int) -> None:
        (tree / "src/fresh.py").write_text(f"def marker_{number}():\n    pass\n")
        async with Client(url, mode="legacy") as client:
            for query in ("retry with backoff", f"marker_{number}"):
                found = await client.call_tool("search", {"query": query})
                assert not found.is_error and found.structured_content["hits"][0]["fresh"]
            assert found.structured_content["hits"][0]["name"] == f"marker_{number}"

    with served_here(tree) as url:
        for number in range(3):
            run(partial(session, url, number))
        before = objects()
        assert before["dowse.interfaces.mcp.http_server._Handlers"] == 1
        for number in range(3, 9):  # each in a loop of its own: a loop keeps what its cancelled timers hold
            run(partial(session, url, number))
        for _ in range(20):  # connections are closed a little later
            left = {kind: more for kind, more in (objects() - before).items() if more >= 6}
            if not left:
                break
            time.sleep(0.05)
        assert not left  # of each session and generation something
