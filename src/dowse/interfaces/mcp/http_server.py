"""MCP server over streamable HTTP, for many clients: bearer token, request timeouts, connection limits; official SDK.

It listens on this machine only and requires a token, unless told otherwise.
"""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable
from functools import partial
from typing import Any

import anyio
import anyio.from_thread
import anyio.lowlevel
import anyio.to_thread
import mcp_types as types
from mcp.server.lowlevel import Server
from mcp.server.transport_security import TransportSecuritySettings
from mcp.shared.exceptions import MCPError
from starlette.applications import Starlette
from starlette.types import ASGIApp, Receive, Scope, Send

from dowse.interfaces.call_context import Call, Cancelled
from dowse.interfaces.http.access import LOOPBACK_HOSTS, TokenBook, make_token
from dowse.interfaces.http.client_limits import Address, run_server
from dowse.interfaces.http.request_guard import GuardRules, HostRule, RequestGuard, get_header
from dowse.interfaces.mcp.service import INTERNAL_ERROR, ProtocolError, Service
from dowse.interfaces.mcp.session import IDLE_SECONDS, MAX_SESSIONS, ClientSession, Sessions

URL_PATH = "/mcp"

MAX_THREADS = 16
"""Calls that run concurrently."""

SESSION_HEADER = "mcp-session-id"


def serve(service: Service, host: str, port: int, token: str, *, ready: Callable[[str], None]) -> None:
    """Serve until interrupted; ``ready`` is told the URL once it is listened on."""
    logging.getLogger("mcp").setLevel(logging.CRITICAL)
    try:
        run_server(
            build_app(service, host, token), Address(host, port), ready=lambda url: ready(f"{url}{URL_PATH}")
        )
    finally:
        service.close()


def build_app(service: Service, host: str, token: str) -> ASGIApp:
    """Build the application: the SDK's, behind the guard."""
    rules = GuardRules(
        tokens=TokenBook([make_token("client", token)]) if token else None,
        # a server that is opened to others has a token or a proxy for it
        hosts=HostRule.loopback() if host in LOOPBACK_HOSTS else None,
        local_origins=True,  # clients that are pages of the user's own machine
    )
    return RequestGuard(build_sdk_app(service), rules)


def build_sdk_app(service: Service) -> Starlette:
    """Build the SDK's application, without any guard."""
    handlers = _Handlers(service)
    inner = handlers.build_server().streamable_http_app(
        streamable_http_path=URL_PATH,
        transport_security=TransportSecuritySettings(
            enable_dns_rebinding_protection=False
        ),  # the guard does it
        session_idle_timeout=IDLE_SECONDS,
        max_sessions=MAX_SESSIONS,
    )
    inner.add_middleware(_SessionCleanup, sessions=handlers.sessions)
    return inner


class _SessionCleanup:
    """Middleware that forgets a session when its client ends it, which the SDK does not report."""

    def __init__(self, inner: ASGIApp, sessions: Sessions) -> None:
        self._inner = inner
        self._sessions = sessions

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        await self._inner(scope, receive, send)
        if scope["type"] == "http" and scope["method"] == "DELETE":
            self._sessions.forget(get_header(scope, SESSION_HEADER))


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
