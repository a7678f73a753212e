"""What only standard input and output have: raw lines, the process and its parent, the client's folders."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from mcp_types import ListRootsResult, Root

from dowse.interfaces.mcp.service import Service
from dowse.interfaces.mcp.session import ClientSession
from dowse.interfaces.mcp.stdio import MAX_MESSAGE_BYTES
from dowse.interfaces.workspace import ServerScope
from dowse.search.output.token_estimate import estimate_tokens
from tests.agents.clients import Lines, command, environment, make_tree, run, stdio_client
from tests.test_cli import HEAVY

LISTING_TOKENS = 2000


def test_handshake_loads_nothing_heavy(tree: Path, home: Path) -> None:
    script = """
import io, json, sys
from dowse.interfaces.cli import mcp as command
from dowse.interfaces.mcp.service import Service
from dowse.interfaces.mcp.stdio import StdioServer
from dowse.interfaces.workspace import ServerScope
out = io.BytesIO()
server = StdioServer(Service(ServerScope()), out)
for method in ("initialize", "tools/list", "prompts/list", "resources/templates/list"):
    line = json.dumps({"jsonrpc": "2.0", "id": 1, "method": method, "params": {"protocolVersion": "2025-06-18"}})
    server.run(io.BytesIO(line.encode() + b"\\n"))
assert out.getvalue().count(b'"result"') == 4, out.getvalue()
print(json.dumps(sorted(sys.modules)))
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    loaded = set(json.loads(done.stdout))
    assert not loaded & (
        HEAVY | {"mcp", "pydantic", "dowse.stores", "dowse.search", "dowse.types", "urllib.request"}
    )


def test_listing_is_short(capsys: pytest.CaptureFixture[str]) -> None:
    listing = Service(ServerScope()).answer(ClientSession(), "tools/list", {})
    tokens = estimate_tokens(json.dumps(listing))
    with capsys.disabled():
        print(f"\ntools/list: {tokens} tokens")
    assert tokens < LISTING_TOKENS


def test_malformed_messages(tree: Path, home: Path) -> None:
    with Lines(tree, home) as server:
        for line, code in (
            (b"{not json\n", -32700),
            (b"[]\n", -32600),
            (b"[" * 100_000 + b"\n", -32700),
            (b"\xff\xfe\n", -32700),
            (b'{"jsonrpc": "1.0", "id": 1, "method": "ping"}\n', -32600),
            (b'{"jsonrpc": "2.0", "id": {}, "method": "ping"}\n', -32600),
            (b'{"jsonrpc": "2.0", "id": 1, "method": 3}\n', -32600),
            (b'{"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": []}\n', -32602),
            (b'{"jsonrpc": "2.0", "id": 1, "method": "no/such"}\n', -32601),
            (b'{"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {}}\n', -32602),
            (b'{"jsonrpc": "2.0", "id": 1, "method": "server/discover", "params": {}}\n', -32022),
            (b"x" * (MAX_MESSAGE_BYTES + 10) + b"\n", -32600),
        ):
            server.send_bytes(line)
            assert server.receive()["error"]["code"] == code, line[:80]
        server.send({"jsonrpc": "2.0", "method": "notifications/nobody/knows"})
        server.send({"jsonrpc": "2.0", "id": "stray", "result": {}})
        server.send({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": [1]}})
        assert server.request("ping")["result"] == {}
        assert server.initialize()["result"]["protocolVersion"] == "2025-06-18"
        for bad in ({"name": 3}, {"name": "search", "arguments": []}, {}):
            assert server.request("tools/call", bad)["error"]["code"] == -32602


@pytest.mark.parametrize(
    "target",
    [
        "/etc/passwd",
        "../secret.txt",
        "src/../../secret.txt",
        "..\\secret.txt",
        "%2e%2e%2fsecret.txt",
        "C:\\Windows\\win.ini",
        "\\\\server\\share\\x",
        "file:///etc/passwd",
        "link/secret.txt",
        "link.txt",
        ".env:1-2",
    ],
)
def test_nothing_outside_is_read(tree: Path, home: Path, target: str) -> None:
    (tree.parent / "secret.txt").write_text("the secret sentence\n")
    outside = tree.parent / "outside"
    outside.mkdir(exist_ok=True)
    (outside / "secret.txt").write_text("the secret sentence\n")
    if not (tree / "link").exists():
        try:
            (tree / "link").symlink_to(outside, target_is_directory=True)
            (tree / "link.txt").symlink_to(tree.parent / "secret.txt")
        except OSError:
            pytest.skip("no symlinks here")
    service = Service(ServerScope((str(tree),)))
    try:
        for params in (
            {"name": "read", "arguments": {"target": [target]}},
            {"name": "graph", "arguments": {"ask": "related", "target": target}},
        ):
            result = service.answer(ClientSession(), "tools/call", params)
            assert result["isError"], result
            assert "secret sentence" not in json.dumps(result)
        found = service.answer(
            ClientSession(), "tools/call", {"name": "search", "arguments": {"query": '"secret sentence"'}}
        )
        assert "link" not in json.dumps(found["structuredContent"]["hits"])
    finally:
        service.close()


@pytest.mark.parametrize("mode", ["legacy", "auto"])
def test_folders_of_the_client_come_first(tree: Path, home: Path, tmp_path: Path, mode: str) -> None:
    other = tmp_path / "wörk space"
    make_tree(other)
    (other / "src/retry.py").write_text("def only_in_the_workspace():\n    pass\n")

    async def roots(context: Any) -> ListRootsResult:
        gone = Root.model_validate({"uri": (tmp_path / "gone").as_uri()})
        everything = Root.model_validate({"uri": Path(tmp_path.anchor).as_uri()})
        return ListRootsResult(roots=[gone, everything, Root.model_validate({"uri": other.as_uri()})])

    async def work() -> None:
        async with stdio_client(tree, home, mode=mode, list_roots_callback=roots) as client:
            found = await client.call_tool("search", {"query": "only_in_the_workspace"})
            assert found.structured_content["hits"][0]["name"] == "only_in_the_workspace"
        assert not (tree / ".dowse").exists()

    run(work)


@pytest.mark.parametrize("start", ["home", "root"])
def test_home_and_root_are_never_indexed(tree: Path, home: Path, start: str) -> None:
    folder = home if start == "home" else Path(home.anchor)
    with Lines(folder, home) as server:
        server.initialize()
        result = server.call("search", query="anything")["result"]
        assert result["isError"] and "hardly a source tree" in result["content"][0]["text"]
    assert not (folder / ".dowse").exists()


def test_leaves_when_the_client_goes_while_indexing(tree: Path, home: Path) -> None:
    body = "\n".join(f"def function_{i}(argument):\n    return argument * {i}\n" for i in range(400))
    for number in range(300):
        (tree / f"src/many{number}.py").write_text(f"# {number}\n{body}")
    with Lines(tree, home) as server:  # closing asserts that the process leaves with 0
        server.initialize()
        message = {"name": "search", "arguments": {"query": "function"}}
        server.send({"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": message})
        time.sleep(0.7)
        started = time.monotonic()
    assert time.monotonic() - started < 15


def test_says_once_that_nothing_is_good(tree: Path, home: Path) -> None:
    with Lines(tree, home) as server:
        server.initialize()
        text = server.call("search", query="qqqzzz")["result"]["content"][0]["text"]
        assert (
            text.count("good") == 1
            and "what is shown is a guess (show_low_confidence: true shows all hits)" in text
        )


def test_errors_of_the_graph_name_no_command_that_an_agent_lacks(tree: Path, home: Path) -> None:
    with Lines(tree, home) as server:
        server.initialize()
        result = server.call("graph", ask="callers", target="qqqzzz")["result"]
        assert result["isError"] and "nothing has the name 'qqqzzz'" in result["content"][0]["text"]
        assert "dowse" not in result["content"][0]["text"]


def test_stays_awake_while_a_pattern_is_searched_for(tree: Path, home: Path) -> None:
    (tree / "slow.txt").write_text("a" * 57 + "b\n")
    with Lines(tree, home) as server:  # closing asserts that the process leaves with 0
        server.initialize()
        server.call("search", query="token")
        message = {"name": "search", "arguments": {"query": "/^(a+)+$/"}}
        server.send({"jsonrpc": "2.0", "id": 20, "method": "tools/call", "params": message})
        time.sleep(0.5)
        started = time.monotonic()
        assert server.request("ping")["result"] == {}
        assert server.request("tools/list")["result"]["tools"]
        assert not server.call("search", query="token")["result"]["isError"]
        assert time.monotonic() - started < 3
        result = server.receive()["result"]
        assert result["isError"] and "takes too long" in result["content"][0]["text"]
        server.send({"jsonrpc": "2.0", "id": 21, "method": "tools/call", "params": message})
        time.sleep(0.5)
        started = time.monotonic()
    assert time.monotonic() - started < 10


@pytest.mark.skipif(sys.platform == "win32", reason="there, pipes break with the parent")
def test_leaves_with_its_parent(tree: Path, home: Path) -> None:
    """The parent is killed, but somebody else still holds the pipe."""
    reading, writing = os.pipe()
    os.write(writing, b'{"jsonrpc": "2.0", "id": 1, "method": "ping"}\n')
    said = tree.parent / "said"
    script = f"""
import subprocess, sys, time
child = subprocess.Popen({command()!r}, stdin={reading}, stdout=open({str(said)!r}, "w"), pass_fds=[{reading}])
print(child.pid, flush=True)
time.sleep(60)
"""
    parent = subprocess.Popen(
        [sys.executable, "-c", script],
        stdout=subprocess.PIPE,
        text=True,
        cwd=tree,
        env=environment(home),
        pass_fds=[reading],
    )
    assert parent.stdout
    child = int(parent.stdout.readline())
    until = time.monotonic() + 20
    while time.monotonic() < until and not (said.exists() and said.read_text()):
        time.sleep(0.1)
    assert _is_alive(child)
    parent.send_signal(signal.SIGKILL)
    parent.wait()
    parent.stdout.close()
    until = time.monotonic() + 20
    while time.monotonic() < until and _is_alive(child):
        time.sleep(0.1)
    os.close(reading)
    os.close(writing)
    assert not _is_alive(child)


def _is_alive(process: int) -> bool:
    try:
        status = Path(f"/proc/{process}/stat").read_text()
        return ") Z" not in status
    except OSError:
        pass
    try:
        os.kill(process, 0)
    except OSError:
        return False
    return not Path("/proc").exists()
