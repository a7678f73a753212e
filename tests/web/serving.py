"""Servers of page and API, in this process and as the command, and requests to them."""

from __future__ import annotations

import re
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx2
import uvicorn

from dowse.interfaces.http.client_limits import DEFAULT_LIMITS, Address, ClientLimits, make_config
from dowse.interfaces.web.web_server import ServeOptions, WebServer
from tests.agents.clients import environment

TOKEN = "a token for tests only"
BEARER = {"Authorization": f"Bearer {TOKEN}"}


@contextmanager
def serve_here(
    *folders: Path, limits: ClientLimits = DEFAULT_LIMITS, **options: Any
) -> Iterator[httpx2.Client]:
    """A client of a server in this process, with the token."""
    options = {"token": TOKEN, **options}
    server = WebServer(ServeOptions(folders=tuple(map(str, folders)), **options))
    running = uvicorn.Server(make_config(server.build_app(), Address("127.0.0.1", 0), limits))
    thread = threading.Thread(target=running.run)
    thread.start()
    try:
        while not running.started:
            time.sleep(0.01)
        port = running.servers[0].sockets[0].getsockname()[1]
        with httpx2.Client(base_url=f"http://127.0.0.1:{port}", headers=BEARER, timeout=60) as client:
            client.key = server.key  # type: ignore[attr-defined]
            yield client
    finally:
        running.should_exit = True
        thread.join(20)


class ServeCommand:
    """``dowse serve`` as a process."""

    def __init__(self, folder: Path, home: Path, *args: str, token: str = TOKEN) -> None:
        words = [sys.executable, "-m", "dowse", "serve", "--no-open", "--port", "0", *args]
        env = environment(home) | {"DOWSE_SERVE_TOKEN": token, "DOWSE_STATE_DIR": str(home / "state")}
        self.process = subprocess.Popen(words, cwd=folder, env=env, stderr=subprocess.PIPE, text=True)
        assert self.process.stderr
        self.said = ""
        while "open http" not in self.said:
            line = self.process.stderr.readline()
            assert line, self.said
            self.said += line
        found = re.search(r"listening on (http\S+)", self.said)
        assert found, self.said
        self.url = found[1]
        self.link = self.said.rpartition("open ")[2].strip()
        threading.Thread(target=self.process.stderr.read, daemon=True).start()

    def __enter__(self) -> ServeCommand:
        return self

    def __exit__(self, *error: object) -> None:
        self.process.terminate()
        self.process.wait(20)
        assert self.process.stderr
        self.process.stderr.close()


def send_raw(client: httpx2.Client, data: bytes) -> bytes:
    """Send bytes that no client would, and read until the server closes the connection."""
    with socket.create_connection((client.base_url.host, client.base_url.port)) as raw:
        raw.settimeout(10)
        raw.sendall(data)
        found = b""
        try:
            while part := raw.recv(65_536):
                found += part
        except ConnectionResetError:
            pass
        return found
