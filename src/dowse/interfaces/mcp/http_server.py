"""MCP server over streamable HTTP, for many clients: bearer token, request timeouts, connection limits; official SDK.

It listens on this machine only and requires a token, unless told otherwise.
"""

from __future__ import annotations

import asyncio
import ctypes
import hmac
import logging
import sys
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import anyio
import anyio.from_thread
import anyio.lowlevel
import anyio.to_thread
import mcp_types as types
import uvicorn
from mcp.server.lowlevel import Server
from mcp.server.transport_security import TransportSecuritySettings
from mcp.shared.exceptions import MCPError
from starlette.types import ASGIApp, Receive, Scope, Send
from uvicorn.protocols.http.h11_impl import H11Protocol

from dowse.interfaces.mcp.call_context import Call, Cancelled
from dowse.interfaces.mcp.service import INTERNAL_ERROR, ProtocolError, Service
from dowse.interfaces.mcp.session import IDLE_SECONDS, MAX_SESSIONS, ClientSession, Sessions

URL_PATH = "/mcp"

LOOPBACK_HOSTS = ("127.0.0.1", "localhost", "::1")

MAX_THREADS = 16
"""Calls that run concurrently."""

KEEP_ALIVE_SECONDS = 300
"""Time that a connection stays open between two calls. Agents think for longer than the usual five seconds, and a call
on a connection that is just being closed fails."""


@dataclass(frozen=True, slots=True)
class ClientLimits:
    """Limits on what a client may take of the server."""

    header_seconds: float = (
        15.0  # from the connection, or the first byte of a request, to the end of its headers
    )
    body_seconds: float = 30.0  # from there to the end of its body
    idle_seconds: int = KEEP_ALIVE_SECONDS
    connections: int = 500  # half of what a process may usually have open


DEFAULT_LIMITS = ClientLimits()

MAX_HEAPS = 2
_M_ARENA_MAX = -8
"""Heaps of the GNU C library that all threads share; with one for each thread, a server of a hundred clients took 1.5
times the memory, and more with time."""

SESSION_HEADER = "mcp-session-id"


def serve(
    service: Service,
    host: str,
    port: int,
    token: str,
    *,
    ready: Callable[[str], None],
    limits: ClientLimits = DEFAULT_LIMITS,
) -> None:
    """Serve until interrupted; ``ready`` is told the address once it is listened on."""
    _share_heaps()
    for noisy in ("mcp", "uvicorn"):
        logging.getLogger(noisy).setLevel(logging.CRITICAL)
    config = uvicorn.Config(
        build_app(service, host, token),
        host=host,
        port=port,
        log_config=None,
        access_log=False,
        timeout_keep_alive=limits.idle_seconds,
        http=limit_protocol(limits),
        ws="none",
    )
    server = _AnnouncingServer(config, ready)
    try:
        server.run()
    finally:
        service.close()


def _share_heaps() -> None:
    """Have threads share few heaps where the C library gives each its own, whose free memory others cannot use."""
    if sys.platform != "linux":
        return
    try:
        ctypes.CDLL(None).mallopt(_M_ARENA_MAX, MAX_HEAPS)
    except (AttributeError, OSError):
        return  # another C library, which has no need of it


class _LimitedProtocol(H11Protocol):
    """The HTTP protocol, with slow requests and excess connections closed."""

    limits = DEFAULT_LIMITS
    _timer: asyncio.TimerHandle | None = None
    _timed_request: object = None  # the request whose body is waited for

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        if len(self.connections) > self.limits.connections:
            transport.abort()
        else:
            self._start_timer(self.limits.header_seconds)

    def data_received(self, data: bytes) -> None:
        if self._timer is None and (self.cycle is None or self.cycle.response_complete):
            self._start_timer(self.limits.header_seconds)
        super().data_received(data)
        if self.cycle is None or self.cycle.response_complete:
            return
        if not self.cycle.more_body:
            self._stop_timer()
        elif self._timed_request is not self.cycle:
            self._timed_request = self.cycle
            self._start_timer(self.limits.body_seconds)

    def on_response_complete(self) -> None:
        self._stop_timer()
        super().on_response_complete()

    def connection_lost(self, exc: Exception | None) -> None:
        self._stop_timer()
        super().connection_lost(exc)

    def _start_timer(self, seconds: float) -> None:
        self._stop_timer()
        self._timer = self.loop.call_later(seconds, self.transport.abort)

    def _stop_timer(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None


def limit_protocol(limits: ClientLimits) -> type[H11Protocol]:
    """Make the protocol class that enforces some limits."""
    return type("LimitedProtocol", (_LimitedProtocol,), {"limits": limits})


class _AnnouncingServer(uvicorn.Server):
    """A server that calls back with the address it listens on."""

    def __init__(self, config: uvicorn.Config, ready: Callable[[str], None]) -> None:
        super().__init__(config)
        self._ready = ready

    async def startup(self, sockets: Any = None) -> None:
        await super().startup(sockets)
        if self.started:
            port = self.servers[0].sockets[0].getsockname()[1]
            host = f"[{self.config.host}]" if ":" in self.config.host else self.config.host
            self._ready(f"http://{host}:{port}{URL_PATH}")


def build_app(service: Service, host: str, token: str) -> ASGIApp:
    """Build the application: the SDK's, behind the token."""
    handlers = _Handlers(service)
    security = None
    if host not in LOOPBACK_HOSTS:  # whoever opens it to others says so, and has a token or a proxy for it
        security = TransportSecuritySettings(enable_dns_rebinding_protection=False)
    inner = handlers.build_server().streamable_http_app(
        streamable_http_path=URL_PATH,
        host=host,
        transport_security=security,
        session_idle_timeout=IDLE_SECONDS,
        max_sessions=MAX_SESSIONS,
    )
    cleanup = _SessionCleanup(inner, handlers.sessions)
    return _TokenGuard(cleanup, token) if token else cleanup


class _SessionCleanup:
    """Middleware that forgets a session when its client ends it, which the SDK does not report."""

    def __init__(self, inner: ASGIApp, sessions: Sessions) -> None:
        self._inner = inner
        self._sessions = sessions

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        await self._inner(scope, receive, send)
        if scope["type"] == "http" and scope["method"] == "DELETE":
            self._sessions.forget(_get_header(scope, SESSION_HEADER.encode()).decode("latin-1"))


class _TokenGuard:
    """Middleware that lets in only requests with the token."""

    def __init__(self, inner: ASGIApp, token: str) -> None:
        self._inner = inner
        self._expected = token.encode()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http" and not self._has_token(scope):
            headers = [
                (b"www-authenticate", b"Bearer"),
                (b"content-type", b"text/plain"),
                (b"connection", b"close"),
            ]
            await send({"type": "http.response.start", "status": 401, "headers": headers})
            await send(
                {"type": "http.response.body", "body": b"a token is needed: Authorization: Bearer TOKEN\n"}
            )
            return
        await self._inner(scope, receive, send)

    def _has_token(self, scope: Scope) -> bool:
        scheme, _, token = _get_header(scope, b"authorization").partition(b" ")
        return scheme.lower() == b"bearer" and hmac.compare_digest(token.strip(), self._expected)


def _get_header(scope: Scope, name: bytes) -> bytes:
    return next((value for key, value in scope["headers"] if key == name), b"")


class _Handlers:
    """Adapts the methods of the service to the SDK."""

    def __init__(self, service: Service) -> None:
        self._service = service
        self.sessions = Sessions()
        self._threads: anyio.CapacityLimiter | None = None

    def build_server(self) -> Server[Any]:
        """Build the SDK's server with every method of the service."""
        about = self._service.about
        info = about["serverInfo"]
        return Server(
            info["name"],
            version=info["version"],
            title=info["title"],
            instructions=about["instructions"],
            on_list_tools=self._handler(types.ListToolsResult),
            on_call_tool=self._handler(types.CallToolResult),
            on_list_resources=self._handler(types.ListResourcesResult),
            on_list_resource_templates=self._handler(types.ListResourceTemplatesResult),
            on_read_resource=self._handler(types.ReadResourceResult),
            on_list_prompts=self._handler(types.ListPromptsResult),
            on_get_prompt=self._handler(types.GetPromptResult),
        )

    def _handler(self, kind: Any) -> Callable[[Any, Any], Awaitable[Any]]:
        async def handle(context: Any, params: Any) -> Any:
            raw = params.model_dump(by_alias=True, mode="json", exclude_none=True) if params else {}
            session = self._find_session(context)
            is_quick = self._service.is_quick(context.method)
            if not is_quick and session.roots is None:
                session.roots = await self._ask_roots(context)
            try:
                if is_quick:
                    result = self._service.answer(session, context.method, raw)
                else:
                    result = await self._answer_in_thread(context, session, raw)
            except ProtocolError as error:
                raise MCPError(code=error.code, message=str(error)) from error
            except Exception as error:  # the outermost edge: the server outlives any call
                summary = " ".join(f"{type(error).__name__}: {error}".split())
                raise MCPError(code=INTERNAL_ERROR, message=f"internal error: {summary}") from error
            return kind.model_validate(result)

        return handle

    def _find_session(self, context: Any) -> ClientSession:
        """Find the session that a request belongs to; a new one if the request has none."""
        request = context.request
        id = request.headers.get(SESSION_HEADER, "") if request is not None else ""
        return self.sessions.get(id) if id else ClientSession()

    async def _ask_roots(self, context: Any) -> tuple[str, ...]:
        """Ask the client which folders it works on, if it can be asked."""
        capabilities = context.session.client_capabilities
        if not (capabilities and capabilities.roots and context.session.can_send_request):
            return ()
        with anyio.move_on_after(5):
            try:
                found = await context.session.send_request(types.ListRootsRequest(), types.ListRootsResult)
            except MCPError:
                return ()
            return tuple(str(root.uri) for root in found.roots)
        return ()

    async def _answer_in_thread(
        self, context: Any, session: ClientSession, raw: dict[str, Any]
    ) -> dict[str, Any]:
        """Answer in a thread, which is told when the request is cancelled."""
        if self._threads is None:
            self._threads = anyio.CapacityLimiter(MAX_THREADS)
        loop = anyio.lowlevel.current_token()  # several repositories are searched in threads of their own

        def notify(progress: float, total: float, message: str) -> None:
            anyio.from_thread.run(context.session.report_progress, progress, total, message, token=loop)

        call = Call(notify)
        run = partial(self._service.answer, session, context.method, raw, call)
        try:
            return await anyio.to_thread.run_sync(run, abandon_on_cancel=True, limiter=self._threads)
        except Cancelled as error:
            raise MCPError(code=INTERNAL_ERROR, message="cancelled") from error
        finally:
            call.cancel()  # of no effect on a call that has been answered
