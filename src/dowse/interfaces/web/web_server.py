"""Start ``dowse serve``: what it serves, who gets in, the application of page and API, and the server that runs it."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from os import getpid
from pathlib import Path
from typing import Any

from starlette.types import ASGIApp

from dowse import roots
from dowse.engine import Engine
from dowse.errors import UsageError
from dowse.interfaces.command_socket import CommandSocket
from dowse.interfaces.http.access import LOOPBACK_HOSTS, TokenBook, make_token, require_long
from dowse.interfaces.http.browser_sign_in import BrowserSessions
from dowse.interfaces.http.client_limits import Address, run_server
from dowse.interfaces.http.request_guard import GuardRules, HostRule, RateLimit
from dowse.interfaces.http.request_metrics import AuditLog
from dowse.interfaces.http.request_threads import RequestThreads
from dowse.interfaces.http.running_servers import SIGN_IN_PATH, RunningServer, note_server
from dowse.interfaces.http.served import Served
from dowse.interfaces.http.server_app import OPEN_PATHS, ServerParts, build_server_app
from dowse.interfaces.web.assets import list_asset_paths
from dowse.interfaces.web.page_routes import Pages
from dowse.interfaces.web.sign_in_page import SignInPage
from dowse.interfaces.workspace import ServerScope, Workspace
from dowse.multi_repo import find_folder

BROWSER = "this browser"
"""The name of the token with which the user's own browser is signed in."""


@dataclass(frozen=True, slots=True)
class ServeOptions:
    """What a server is told at its start. Empty: not given."""

    folders: tuple[str, ...] = ()
    repos: tuple[str, ...] = ()  # names in the settings, or folders
    host: str = "127.0.0.1"
    port: int = 0
    hosts: tuple[str, ...] = ()  # further names that it goes by
    token: str = ""
    tokens: str = ""  # a file
    no_token: bool = False
    allow_index: bool = False
    read_only: bool = False
    allow_home: bool = False
    certificate: str = ""
    certificate_key: str = ""
    audit: str = ""
    evaluations: str = ""
    editor: str = ""
    with_mcp: bool = False
    unlimited: bool = False  # however many requests a caller makes
    given: Mapping[str, Any] = field(default_factory=dict)  # settings


class WebServer:
    """A server that can be run once."""

    def __init__(self, options: ServeOptions) -> None:
        self.options = options
        self._scope = _find_scope(options)
        workspace = Workspace(self._scope)
        self.served = Served(
            workspace,
            workspace.folders(()),
            may_index=options.allow_index and not options.read_only,
            evaluations=Path(options.evaluations).resolve() if options.evaluations else None,
            editor_url=options.editor,
        )
        self._folders = tuple(map(str, self.served.repositories.values()))
        self.key = "" if options.no_token else secrets.token_urlsafe(24)
        self._note: Path | None = None

    @property
    def notes(self) -> list[str]:
        """What the user should know who starts it."""
        is_open = self.options.host not in LOOPBACK_HOSTS
        if self.options.no_token and is_open:
            return ["anybody who can reach this address can read the code that is indexed"]
        if is_open and not (self.options.token or self.options.tokens):
            return [f"token: {self.key} (set DOWSE_SERVE_TOKEN or give --tokens to choose it)"]
        return []

    def build_app(self) -> ASGIApp:
        """Build the application of page, API and MCP."""
        options = self.options
        tokens = None if options.no_token else self._make_tokens()
        sessions = BrowserSessions(tokens, secure=bool(options.certificate)) if tokens else None
        sign_in = SignInPage(tokens, sessions) if tokens and sessions else None
        rules = GuardRules(
            tokens=tokens,
            hosts=HostRule.for_server(options.host, options.hosts),
            sessions=sessions,
            open_paths=OPEN_PATHS | {SIGN_IN_PATH} | list_asset_paths(),
            sign_in_path=SIGN_IN_PATH,
            rate=None if options.unlimited else RateLimit(),
        )
        threads = RequestThreads()
        pages = Pages(self.served, threads)
        parts = ServerParts(
            self.served,
            rules,
            threads,
            audit_log=AuditLog(Path(options.audit)) if options.audit else None,
            routes=[*pages.routes(), *(sign_in.routes() if sign_in else ())],
            mcp=self._build_mcp() if options.with_mcp else None,
            close=self._remove_note,
        )
        return build_server_app(parts, pages.show_error)

    def _make_tokens(self) -> TokenBook:
        given = [make_token(BROWSER, self.key)]
        if self.options.token:
            given.append(make_token("environment", require_long(self.options.token, "DOWSE_SERVE_TOKEN")))
        return TokenBook(given, Path(self.options.tokens) if self.options.tokens else None)

    def _build_mcp(self) -> Any:
        try:
            from dowse.interfaces.mcp.http_server import build_sdk_app
            from dowse.interfaces.mcp.service import Service
        except ImportError as error:
            raise UsageError(f"--mcp needs the MCP SDK: pip install 'dowse[mcp]' ({error})") from error
        return build_sdk_app(Service(self._scope))

    def run(self, ready: Callable[[str], None]) -> None:
        """Serve until interrupted; ``ready`` is told the URL once it is listened on."""
        options = self.options
        files = [Path(name) if name else None for name in (options.certificate, options.certificate_key)]
        for file in files:
            if file is not None and not file.is_file():
                raise UsageError(f"there is no certificate at {file}")
        commands = CommandSocket(self.served.workspace)
        commands.start()
        try:
            run_server(self.build_app(), Address(options.host, options.port, *files), ready=ready)
        finally:
            commands.close()

    def _remove_note(self) -> None:
        if self._note is not None:
            with suppress(OSError):
                self._note.unlink()

    def note(self, url: str) -> RunningServer:
        """Leave a note for other commands of this user, and return what it says."""
        server = RunningServer(url, self._folders, self.key, getpid())
        with suppress(OSError):  # a state directory that cannot be written: the commands do without
            self._note = note_server(server)
        return server


def _find_scope(options: ServeOptions) -> ServerScope:
    """Find the folders to serve, with their names."""
    folders, names = list(options.folders), {}
    if options.repos:
        with Engine.open(folders[0] if folders else None, allow_home=True) as home:
            known = home.settings.repositories
            for repo in options.repos:
                folder = find_folder(repo, known, home.root)
                folders.append(str(folder))
                if repo in known:
                    names[repo] = folder
    for given in folders:
        roots.resolve_root(given, allow_home=options.allow_home)  # each must be there at the start
    return ServerScope(
        tuple(folders),
        trust_client=False,
        read_only=options.read_only,
        allow_home=options.allow_home,
        given=options.given,
        names=names,
    )
