"""What strangers try on the web server: other sites, other names, wrong tokens, paths that lead out, slow requests."""

from __future__ import annotations

import hashlib
import json
import subprocess
import time
from pathlib import Path
from types import SimpleNamespace

import httpx2
import pytest

from dowse.errors import SettingsError, UsageError
from dowse.interfaces.http import request_guard
from dowse.interfaces.http.access import Permission, TokenBook, make_token, read_token_file
from dowse.interfaces.http.browser_sign_in import BrowserSessions
from dowse.interfaces.http.client_limits import Address, ClientLimits, run_server
from dowse.interfaces.http.request_guard import SECURITY_HEADERS, HostRule, RateLimit
from dowse.interfaces.web.sign_in_page import find_own_path
from dowse.interfaces.web.web_server import ServeOptions, WebServer
from tests.agents.clients import make_tree
from tests.web.serving import BEARER, TOKEN, send_raw, serve_here

SEARCH = "/api/v1/search?query=retry"

FOREIGN_HOSTS = ("evil.example", "evil.example:80", "127.0.0.1.evil.example", "localhost@evil.example", "10.0.0.1",
                 "localhost.", "[::ffff:10.0.0.1]", "xn--localhost", "", "a b", "[")  # fmt: skip

TRAVERSALS = ("../secret.txt", "..\\secret.txt", "/etc/passwd", "src/../../secret.txt", "%2e%2e/secret.txt",
              "link/secret.txt", "....//secret.txt", "src/retry.py/../../../secret.txt", "~/secret.txt",
              "file:///etc/passwd", "//secret.txt", ".git/config", ".dowse/catalogue.db")  # fmt: skip


@pytest.fixture(scope="module")
def tree(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("web")
    (folder / "secret.txt").write_text("the secret outside\n")
    tree = make_tree(folder / "tree")
    (tree / "link").symlink_to(folder)
    return tree


@pytest.fixture(scope="module")
def client(tree: Path):  # type: ignore[no-untyped-def]
    with serve_here(tree) as client:
        yield client


@pytest.mark.parametrize("host", FOREIGN_HOSTS)
def test_a_name_that_another_site_gave_this_machine_is_refused(client: httpx2.Client, host: str) -> None:
    said = send_raw(
        client,
        f"GET {SEARCH} HTTP/1.1\r\nHost: {host}\r\nAuthorization: Bearer {TOKEN}\r\nConnection: close\r\n\r\n".encode(),
    )
    assert said.split()[1] in (b"421", b"400") and b"retry_with_backoff" not in said


def test_a_server_for_others_goes_by_addresses_and_by_the_names_it_is_given() -> None:
    rule = HostRule.for_server("0.0.0.0", ["code.example"])
    allowed = ("10.0.0.1:80", "[::1]:80", "code.example", "CODE.example:443", "localhost")
    assert all(map(rule.allows, allowed))
    assert not any(
        map(rule.allows, ("evil.example", "", "code.example.evil", "10.0.0.1.evil.example", "x@10.0.0.1"))
    )


def sign_in(client: httpx2.Client) -> str:
    """The cookie of a browser that has followed the printed link."""
    answered = client.get("/sign-in", params={"key": client.key, "next": "/"}, headers={"Authorization": ""})  # type: ignore[attr-defined]
    assert answered.status_code == 303
    cookie: str = answered.headers["set-cookie"]
    assert "HttpOnly" in cookie and "SameSite=Lax" in cookie
    return cookie.partition(";")[0]


def test_the_cookie_lets_a_browser_in_and_no_other_site(tree: Path) -> None:
    with serve_here(tree, allow_index=True) as client:
        cookie = {"Cookie": sign_in(client)}
        with httpx2.Client(base_url=client.base_url) as browser:
            assert browser.get(SEARCH, headers=cookie).status_code == 200
            assert browser.get(SEARCH).status_code == 401
            for forged in (
                cookie["Cookie"] + "0",
                cookie["Cookie"].replace("=", "=9", 1),
                "dowse-1=x",
                'a="',
            ):
                assert browser.get(SEARCH, headers={"Cookie": forged}).status_code == 401
            same = {**cookie, "Origin": str(client.base_url).rstrip("/"), "Sec-Fetch-Site": "same-origin"}
            assert browser.post("/api/v1/index", json={}, headers=same).status_code == 200
            for origin in ("https://evil.example", "null", "http://127.0.0.1:1", "http://localhost"):
                foreign = {**cookie, "Origin": origin}
                assert browser.post("/api/v1/index", json={}, headers=foreign).status_code == 403
                assert browser.get(SEARCH, headers=foreign).status_code == 403
            for site in ("cross-site", "same-site"):
                loaded = {
                    **cookie,
                    "Sec-Fetch-Site": site,
                    "Sec-Fetch-Mode": "no-cors",
                    "Sec-Fetch-Dest": "script",
                }
                assert browser.get(SEARCH, headers=loaded).status_code == 403
            form = browser.post(
                "/api/v1/index", content=b"{}", headers={**cookie, "Content-Type": "text/plain"}
            )
            assert form.status_code == 415


def test_answers_tell_browsers_to_load_nothing_from_elsewhere(client: httpx2.Client) -> None:
    for path in (SEARCH, "/sign-in", "/nothing", "/api/v1/health"):
        headers = client.get(path).headers
        assert {name: headers[name] for name in SECURITY_HEADERS} == SECURITY_HEADERS
        assert "access-control-allow-origin" not in headers and "server" not in headers
    policy = SECURITY_HEADERS["Content-Security-Policy"]
    assert "unsafe" not in policy and "default-src 'none'" in policy


@pytest.mark.parametrize(
    "path", ["//evil.example", "https://evil.example", "/\\evil.example", "", "javascript:x", "/\n/x"]
)
def test_signing_in_leads_to_this_server_only(path: str) -> None:
    assert find_own_path(path) == "/"


def test_own_paths_are_gone_on_to() -> None:
    assert find_own_path("/?q=a%20b#L1") == "/?q=a%20b#L1"


@pytest.mark.parametrize("path", TRAVERSALS)
def test_nothing_outside_of_the_index_is_read(client: httpx2.Client, path: str) -> None:
    asked = (
        ("read", {"target": path}),
        ("outline", {"file": path}),
        ("related", {"place": path}),
        ("explain", {"query": "secret", "place": path}),
        ("show", {"id": path}),
        ("why", {"path": path}),
        ("search", {"query": "secret", "near": path}),
        ("files", {"glob": path}),
    )
    for operation, parameters in asked:
        answered = client.get(f"/api/v1/{operation}", params=parameters)
        assert answered.status_code in (200, 400, 404), answered.text
        assert "the secret outside" not in answered.text and "root:x" not in answered.text


def test_the_history_of_what_is_skipped_is_not_shown(tmp_path: Path) -> None:
    tree = make_tree(tmp_path / "tree")
    (tree / "private.py").write_text("def private_marker():\n    return 1\n")
    (tree / "src/upload.py").write_text(
        'AWS_KEY = "AKIA2E7QHVX3KZL5WRNB"\n\n\ndef upload(file):\n    return file\n'
    )
    git = ["git", "-c", "user.name=a", "-c", "user.email=a@b.c"]
    for command in (["init", "-q"], ["add", "."], ["commit", "-qm", "Upload with a private marker"]):
        subprocess.run([*git, *command], cwd=tree, check=True)
    (tree / ".dowseignore").write_text("private.py\n")
    with serve_here(tree) as client:
        found = client.get("/api/v1/history", params={"query": "upload with a private marker"}).json()
        shown = {hunk["path"] for commit in found["commits"] for hunk in commit["hunks"]}
        assert "src/upload.py" in shown and "private.py" not in shown
        assert "AKIA2E7QHVX3KZL5WRNB" not in json.dumps(found)


# --- tokens ---


def write_tokens(file: Path, text: str) -> Path:
    file.write_text(text)
    file.chmod(0o600)
    return file


def test_tokens_have_scopes_and_repositories_and_can_be_revoked(tree: Path, tmp_path: Path) -> None:
    other = make_tree(tmp_path / "other")
    digest = hashlib.sha256(b"reads only the other").hexdigest()
    file = write_tokens(
        tmp_path / "tokens.toml",
        f'[reader]\nsha256 = "{digest}"\nrepositories = ["other"]\n'
        '[writer]\ntoken = "may index everything"\nscopes = ["read", "index"]\n',
    )
    with serve_here(tree, other, tokens=str(file), allow_index=True) as client:
        reader, writer = (
            {"Authorization": f"Bearer {secret}"}
            for secret in ("reads only the other", "may index everything")
        )
        found = client.get(SEARCH, headers=reader).json()
        assert found["root"] == str(other)
        assert client.get(SEARCH + "&repository=tree", headers=reader).status_code == 404
        listed = client.get("/api/v1/repositories", headers=reader).json()["repositories"]
        assert [row["name"] for row in listed] == ["other"]
        assert str(tree) not in client.get("/api/v1/metrics", headers=reader).text
        assert client.post("/api/v1/index", json={"repository": "other"}, headers=reader).status_code == 403
        assert client.post("/api/v1/index", json={"repository": "other"}, headers=writer).status_code == 200
        write_tokens(file, f'[reader]\nsha256 = "{digest}"\nrepositories = ["nowhere"]\n')
        assert client.get(SEARCH, headers=writer).status_code == 401
        assert client.get(SEARCH, headers=reader).status_code == 403
        write_tokens(file, "not toml [")
        assert client.get(SEARCH, headers=reader).status_code == 401
        assert client.get(SEARCH).status_code == 200  # the token of the environment


@pytest.mark.parametrize(
    "text",
    ["x = 1", "[a]", '[a]\ntoken = "short"', '[a]\ntoken = "long enough, it is"\nsha256 = "00"', '[a]\nsha256 = "zz"',
     '[a]\ntoken = "long enough, it is"\nscopes = ["root"]', '[a]\ntoken = "long enough, it is"\nscope = []',
     '[a]\ntoken = "long enough, it is"\nrepositories = "all"', "["],
)  # fmt: skip
def test_a_wrong_token_file_is_an_error_at_the_start(tmp_path: Path, text: str) -> None:
    with pytest.raises(SettingsError):
        read_token_file(write_tokens(tmp_path / "tokens.toml", text))


def test_a_token_file_that_others_can_read_is_refused(tmp_path: Path) -> None:
    file = write_tokens(tmp_path / "tokens.toml", "")
    file.chmod(0o644)
    with pytest.raises(SettingsError, match="chmod 600"):
        read_token_file(file)


def test_every_token_is_compared_whatever_is_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    """No early end: the work is the same for a right, a wrong and an empty token."""
    compared: list[bytes] = []

    def count(one: bytes, other: bytes) -> bool:
        compared.append(one)
        return one == other

    monkeypatch.setattr("dowse.interfaces.http.access.hmac.compare_digest", count)
    book = TokenBook([make_token("first", "first secret"), make_token("last", "last secret")])
    for secret, name in (
        ("first secret", "first"),
        ("last secret", "last"),
        ("", None),
        ("first secre", None),
    ):
        compared.clear()
        found = book.find(secret)
        assert (found.caller.name if found else None) == name
        assert len(compared) == 2 and all(len(digest) == 32 for digest in compared)


def test_a_cookie_ends_with_its_token_and_its_time(monkeypatch: pytest.MonkeyPatch) -> None:
    token = make_token("me", "my own secret key", [Permission.READ])
    sessions = BrowserSessions(TokenBook([token]))
    value = sessions.make_cookie(token, 80).partition("=")[2].partition(";")[0]
    assert sessions.read_cookie(value) == token
    assert BrowserSessions(TokenBook([token])).read_cookie(value) is None  # another server
    later = time.time() + 15 * 24 * 3600
    monkeypatch.setattr(time, "time", lambda: later)
    assert sessions.read_cookie(value) is None


def test_without_a_token_whoever_reaches_it_may_ask(tree: Path) -> None:
    with serve_here(tree, no_token=True) as client:
        assert httpx2.get(f"{client.base_url}{SEARCH}").status_code == 200
        assert send_raw(client, b"GET / HTTP/1.1\r\nHost: evil.example\r\n\r\n").split()[1] == b"421"


def test_too_many_requests_are_told_to_wait(tree: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    now = [1000.0]
    monkeypatch.setattr(request_guard, "time", SimpleNamespace(monotonic=lambda: now[0]))
    burst = RateLimit().burst
    with serve_here(tree) as client:
        statuses = [client.get("/api/v1/nothing").status_code for _ in range(burst)]
        assert set(statuses) == {404}
        refused = client.get("/api/v1/nothing")
        assert refused.status_code == 429 and refused.headers["retry-after"] == "1"
        now[0] += 1
        assert client.get("/api/v1/nothing").status_code == 404


def test_the_audit_log_has_a_line_for_each_request(tree: Path, tmp_path: Path) -> None:
    log = tmp_path / "audit.jsonl"
    with serve_here(tree, audit=str(log)) as client:
        client.get(SEARCH)
        client.get(SEARCH, headers={"Authorization": "Bearer wrong\x1b[2J"})
    lines = [json.loads(line) for line in log.read_text().splitlines()]
    assert [(line["who"], line["path"], line["status"]) for line in lines] == [
        ("environment", "/api/v1/search", 200),
        ("anonymous", "/api/v1/search", 401),
    ]
    assert TOKEN not in log.read_text() and log.stat().st_mode & 0o077 == 0


# --- slow, large and malformed requests ---


def test_slow_clients_are_let_go(tree: Path) -> None:
    with serve_here(tree, limits=ClientLimits(0.4, 0.4, 1, 20)) as client:
        host = f"Host: 127.0.0.1\r\nAuthorization: {BEARER['Authorization']}\r\n"
        body = f"{host}Content-Type: application/json\r\nContent-Length: 50\r\n\r\n{{"
        for half in (
            "",
            "GET /api",
            f"GET {SEARCH} HTTP/1.1\r\n{host}",
            f"POST /api/v1/search HTTP/1.1\r\n{body}",
        ):
            began = time.monotonic()
            send_raw(client, half.encode())
            assert time.monotonic() - began < 9
        assert client.get(SEARCH).status_code == 200


@pytest.mark.parametrize("data", [b"\x16\x03\x01", b"GET / HTTP/9.9\r\n\r\n", b"GET /\x00 HTTP/1.1\r\nHost: a\r\n\r\n",
                                  b"GET / HTTP/1.1\r\nX: " + b"a" * 100_000 + b"\r\n\r\n"])  # fmt: skip
def test_what_is_no_request_is_refused(client: httpx2.Client, data: bytes) -> None:
    assert send_raw(client, data).split()[1] in (b"400", b"421")
    assert client.get("/api/v1/health").is_success


def test_a_taken_port_is_an_error_that_says_what_to_do(client: httpx2.Client) -> None:
    address = Address("127.0.0.1", client.base_url.port or 0)
    with pytest.raises(UsageError, match="--port"):
        run_server(WebServer(ServeOptions(no_token=True)).build_app(), address, ready=lambda url: None)
