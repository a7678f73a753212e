"""``dowse serve`` as a command: what it says, the browser it opens, MCP beside it, TLS, and ``--web`` of a search."""

from __future__ import annotations

import os
import signal
import ssl
import subprocess
import sys
import time
from pathlib import Path

import httpx2
import pytest

from dowse.interfaces.http.running_servers import RunningServer, find_server, note_server
from tests.agents.clients import environment, make_tree
from tests.web.serving import BEARER, ServeCommand

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

posix = pytest.mark.skipif(os.name == "nt", reason="a shell script stands for the browser")


@pytest.fixture
def project(tmp_path: Path) -> Path:
    return make_tree(tmp_path / "project")


def test_the_printed_link_signs_in_once_and_the_rest_is_asked_for_a_token(project: Path, home: Path) -> None:
    with ServeCommand(project, home) as server, httpx2.Client(follow_redirects=True, timeout=60) as browser:
        assert httpx2.get(server.url).status_code == 401
        assert "Ask your code" in browser.get(server.link).text
        assert "retry_with_backoff" in browser.get(f"{server.url}/?q=retry with backoff").text
        assert httpx2.get(f"{server.url}/api/v1/status", headers=BEARER).status_code == 200


@posix
def test_web_opens_the_page_of_a_server_that_runs(project: Path, home: Path, tmp_path: Path) -> None:
    opened = tmp_path / "opened"
    program = tmp_path / "browser"
    program.write_text(f'#!/bin/sh\necho "$1" >> {opened}\n')
    program.chmod(0o755)
    env = environment(home) | {"DOWSE_STATE_DIR": str(home / "state"), "BROWSER": f"{program} %s"}
    command = [sys.executable, "-m", "dowse", "retry with backoff", "--web"]
    with ServeCommand(project, home) as server:
        done = subprocess.run(
            command, cwd=project, env=env, check=True, capture_output=True, text=True, timeout=60
        )
        assert done.stdout == ""
        link = opened.read_text().strip()
        assert link.startswith(server.url) and link.endswith("next=%2F%3Fq%3Dretry%2520with%2520backoff")
        assert httpx2.get(link).status_code == 303
    assert not list((home / "state/servers").iterdir())
    starting = subprocess.Popen(
        [*command, "--repo", str(project)], cwd=project, env=env, stderr=subprocess.PIPE
    )
    try:
        for _ in range(300):
            if len(opened.read_text().splitlines()) == 2:
                break
            time.sleep(0.1)
        assert "q%3Dretry" in opened.read_text().splitlines()[1]
    finally:
        starting.send_signal(signal.SIGINT)
        starting.communicate(timeout=20)


def test_a_note_of_a_server_that_is_gone_is_removed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DOWSE_STATE_DIR", str(tmp_path))
    with subprocess.Popen([sys.executable, "-c", ""]) as ended:
        ended.wait()
    gone = note_server(RunningServer("http://127.0.0.1:1", ("/a",), "key", ended.pid))
    here = note_server(RunningServer("http://127.0.0.1:2", ("/a", "/b"), "key", os.getpid()))
    assert gone.stat().st_mode & 0o077 == 0
    found = find_server(Path("/b"))
    assert found and found.url == "http://127.0.0.1:2" and find_server(Path("/c")) is None
    assert here.exists() and (os.name == "nt" or not gone.exists())
    here.write_text("not json")
    assert find_server(Path("/b")) is None


def test_mcp_can_be_served_beside_the_page(project: Path, home: Path) -> None:
    accept = {"Accept": "application/json, text/event-stream"}
    with ServeCommand(project, home, "--mcp") as server:
        url = f"{server.url}/mcp"
        assert httpx2.post(url, json=HELLO, headers=accept).status_code == 401
        answered = httpx2.post(url, json=HELLO, headers=accept | BEARER, timeout=60)
        assert answered.status_code == 200 and "dowse code search" in answered.text
    with ServeCommand(project, home) as server:
        assert httpx2.post(f"{server.url}/mcp", json=HELLO, headers=accept | BEARER).status_code == 404


def test_the_server_imports_no_mcp_unless_asked_for() -> None:
    code = (
        "import sys; from dowse.interfaces.web.web_server import WebServer, ServeOptions; "
        "WebServer(ServeOptions(folders=(sys.argv[1],))).build_app(); "
        "print([name for name in sys.modules if name in ('mcp', 'numpy', 'pydantic')])"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, str(Path(__file__).parent)], check=True, capture_output=True, text=True
    )
    assert done.stdout.strip() == "[]"


@posix
def test_tls_with_a_certificate(project: Path, home: Path, tmp_path: Path) -> None:
    files = tmp_path / "cert.pem", tmp_path / "key.pem"
    made = subprocess.run(
        ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=localhost",
         "-addext", "subjectAltName=IP:127.0.0.1", "-out", str(files[0]), "-keyout", str(files[1])],
        check=False, capture_output=True,
    )  # fmt: skip
    if made.returncode:
        pytest.skip("openssl is not installed: no certificate can be made")
    options = ("--certificate", str(files[0]), "--certificate-key", str(files[1]))
    trusted = ssl.create_default_context(cafile=str(files[0]))
    with ServeCommand(project, home, *options) as server:
        assert server.url.startswith("https://")
        answered = httpx2.get(server.link, verify=trusted)
        assert "; Secure" in answered.headers["set-cookie"]


@pytest.mark.parametrize(
    ("args", "message"),
    [(("--certificate", "missing.pem"), "no certificate"), (("--repo", "nowhere"), "no repository 'nowhere'"),
     (("--tokens", "missing.toml"), "cannot be read"), (("nowhere",), "does not exist"),
     (("--audit", "missing/log"), "cannot be written")],
)  # fmt: skip
def test_what_cannot_be_served_is_an_error(
    project: Path, home: Path, args: tuple[str, ...], message: str
) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "dowse", "serve", "--no-open", "--port", "0", *args],
        check=False, cwd=project, env=environment(home), capture_output=True, text=True, timeout=60,
    )  # fmt: skip
    assert (done.returncode, message in done.stderr) == (2, True), done.stderr


def test_a_short_token_is_refused(project: Path, home: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "dowse", "serve", "--no-open", "--port", "0"],
        check=False, cwd=project, env=environment(home) | {"DOWSE_SERVE_TOKEN": "short"}, capture_output=True,
        text=True, timeout=60,
    )  # fmt: skip
    assert done.returncode == 2 and "too short" in done.stderr
