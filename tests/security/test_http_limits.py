"""Slow and greedy clients of the server over HTTP, as raw sockets."""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
import uvicorn

from dowse.interfaces.http.client_limits import Address, ClientLimits, make_config
from dowse.interfaces.mcp.http_server import build_app
from dowse.interfaces.mcp.service import Service
from dowse.interfaces.workspace import ServerScope
from tests.agents.clients import make_tree

LIMITS = ClientLimits(header_seconds=0.4, body_seconds=0.4, idle_seconds=1, connections=3, refused=1)


@pytest.fixture
def port(tmp_path: Path) -> Iterator[int]:
    service = Service(ServerScope(roots=(str(make_tree(tmp_path / "tree")),), trust_client=False))
    config = make_config(build_app(service, "127.0.0.1", "secret"), Address("127.0.0.1", 0), LIMITS)
    server = uvicorn.Server(config)
    thread = threading.Thread(target=server.run)
    thread.start()
    while not server.started:
        time.sleep(0.01)
    yield server.servers[0].sockets[0].getsockname()[1]
    server.should_exit = True
    thread.join(20)
    service.close()


def read_all(client: socket.socket) -> bytes:
    """Read until the server closes the connection, which is a failure if it takes long."""
    client.settimeout(5)
    found = b""
    try:
        while part := client.recv(65_536):
            found += part
    except ConnectionResetError:
        pass
    return found


def head(scheme: str, length: int) -> bytes:
    return (
        f"POST /mcp HTTP/1.1\r\nHost: 127.0.0.1:80\r\nAuthorization: {scheme} secret\r\nAccept: application/json, "
        f"text/event-stream\r\nContent-Type: application/json\r\nContent-Length: {length}\r\n\r\n"
    ).encode()


@pytest.mark.parametrize(
    "data", [b"", b"POST /mcp HTT", b"POST /mcp HTTP/1.1\r\nHost: x\r\n", head("Bearer", 50)]
)
def test_who_sends_nothing_or_half_a_request_is_let_go(port: int, data: bytes) -> None:
    with socket.create_connection(("127.0.0.1", port)) as client:
        client.sendall(data)
        read_all(client)


@pytest.mark.parametrize("scheme", ["Bearer", "bearer", "BEARER"])
def test_the_scheme_is_read_in_any_case_and_idle_connections_end(port: int, scheme: str) -> None:
    with socket.create_connection(("127.0.0.1", port)) as client:
        client.sendall(head(scheme, 2) + b"{}")
        assert read_all(client).split()[1] == b"400"


def test_too_large_a_body_is_refused(port: int) -> None:
    with socket.create_connection(("127.0.0.1", port)) as client:
        client.sendall(head("Bearer", 5_000_000))
        assert read_all(client).split()[1] == b"413"


def test_too_many_connections_are_told_so_and_still_more_are_closed(port: int) -> None:
    clients = [socket.create_connection(("127.0.0.1", port)) for _ in range(5)]
    assert read_all(clients[-1]) == b""
    clients[-2].sendall(head("Bearer", 2) + b"{}")
    answered = read_all(clients[-2])
    assert answered.split()[1] == b"503" and b"retry-after: " in answered.lower()
    for client in clients:
        client.close()
