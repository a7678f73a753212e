"""Real clients of real servers: the official SDK's client, and raw lines for what no client would send."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import threading
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from typing import Any, TypeVar

import anyio
import httpx2
from mcp import Client, StdioServerParameters
from mcp.client.streamable_http import streamable_http_client

T = TypeVar("T")

RETRY = '''"""Trying again."""


def retry_with_backoff(call, attempts=3):
    """Call again, with growing pauses, until it works."""
    for attempt in range(attempts):
        try:
            return call()
        except OSError:
            pause(2**attempt)
'''
SESSION = '''class Token:
    """What proves who you are."""

    def refresh(self):
        return self.renew()
'''
TEST = """from retry import retry_with_backoff


def test_retry_gives_up():
    assert retry_with_backoff(lambda: 1) == 1
"""


def make_tree(folder: Path) -> Path:
    """A small project."""
    files = {"src/retry.py": RETRY, "src/session.py": SESSION, "tests/test_retry.py": TEST}
    for path, text in files.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(text, encoding="utf-8")
    return folder


def environment(home: Path) -> dict[str, str]:
    """Nothing of the machine's own settings takes part."""
    kept = {key: value for key, value in os.environ.items() if not key.startswith("DOWSE_")}
    places = {
        "HOME": home,
        "USERPROFILE": home,
        "XDG_CONFIG_HOME": home / "config",
        "APPDATA": home / "config",
    }
    return (
        kept | {key: str(value) for key, value in places.items()} | {"DOWSE_CACHE_DIR": str(home / "cache")}
    )


def command(*args: str) -> list[str]:
    return [sys.executable, "-m", "dowse", "mcp", *args]


def run(work: Callable[[], Awaitable[T]]) -> T:
    """Run a test's coroutine, for a minute at most."""

    async def limited() -> T:
        with anyio.fail_after(60):
            return await work()

    return anyio.run(limited)


def stdio_client(folder: Path, home: Path, *args: str, **options: Any) -> Client:
    """The SDK's client of a server process in a folder."""
    first, *rest = command(*args)
    server = StdioServerParameters(command=first, args=rest, cwd=folder, env=environment(home))
    return Client(server, **options)


class HttpServer:
    """A server process that listens."""

    def __init__(self, folder: Path, home: Path, *args: str, token: str = "secret") -> None:
        env = environment(home) | {"DOWSE_MCP_TOKEN": token}
        words = command("--http", "--port", "0", *args)
        self.process = subprocess.Popen(words, cwd=folder, env=env, stderr=subprocess.PIPE, text=True)
        assert self.process.stderr
        self.token = token
        self.said = self.process.stderr.readline()
        found = re.search(r"http://\S+", self.said)
        assert found, self.said + self.process.stderr.read()
        self.url = found[0]
        threading.Thread(target=self.process.stderr.read, daemon=True).start()

    @asynccontextmanager
    async def client(self, **options: Any) -> AsyncIterator[Client]:
        headers = {"Authorization": f"Bearer {self.token}"}
        async with (
            httpx2.AsyncClient(headers=headers, timeout=60) as http,
            Client(streamable_http_client(self.url, http_client=http), **options) as client,
        ):
            yield client

    def close(self) -> None:
        self.process.terminate()
        self.process.wait(20)
        assert self.process.stderr
        self.process.stderr.close()


@contextmanager
def http_server(folder: Path, home: Path, *args: str, **options: Any) -> Iterator[HttpServer]:
    server = HttpServer(folder, home, *args, **options)
    try:
        yield server
    finally:
        server.close()


class Lines:
    """A server process spoken to in raw lines."""

    def __init__(self, folder: Path, home: Path, *args: str) -> None:
        pipe = subprocess.PIPE
        env = environment(home)
        self.process = subprocess.Popen(command(*args), cwd=folder, env=env, stdin=pipe, stdout=pipe)

    def __enter__(self) -> Lines:
        return self

    def __exit__(self, *error: object) -> None:
        assert self.process.stdin and self.process.stdout
        self.process.stdin.close()
        try:
            assert self.process.wait(20) == 0
        finally:
            self.process.kill()
            self.process.stdout.close()

    def send(self, message: object) -> None:
        self.send_bytes(json.dumps(message).encode() + b"\n")

    def send_bytes(self, data: bytes) -> None:
        assert self.process.stdin
        self.process.stdin.write(data)
        self.process.stdin.flush()

    def receive(self) -> Any:
        assert self.process.stdout
        return json.loads(self.process.stdout.readline())

    def request(self, method: str, params: object = None, id: object = 1) -> Any:
        message = {"jsonrpc": "2.0", "id": id, "method": method}
        self.send(message | ({"params": params} if params is not None else {}))
        return self.receive()

    def initialize(self, **capabilities: Any) -> Any:
        params = {"protocolVersion": "2025-06-18", "capabilities": capabilities, "clientInfo": {}}
        answer = self.request("initialize", params)
        self.send({"jsonrpc": "2.0", "method": "notifications/initialized"})
        return answer

    def call(self, tool: str, **arguments: Any) -> Any:
        return self.request("tools/call", {"name": tool, "arguments": arguments})
