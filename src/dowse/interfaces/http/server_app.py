"""The whole HTTP application: the API, the pages beside it, MCP if wanted, behind the guard and the audit log."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route
from starlette.types import ASGIApp

from dowse.errors import DowseError
from dowse.interfaces.http.api_app import HEALTH_PATH, Api, handle_error
from dowse.interfaces.http.problems import HttpProblem
from dowse.interfaces.http.request_guard import GuardRules, RequestGuard
from dowse.interfaces.http.request_metrics import AuditLog, RequestMetrics, RequestRecorder
from dowse.interfaces.http.request_threads import RequestThreads
from dowse.interfaces.http.served import Served

MCP_PATH = "/mcp"

OPEN_PATHS = frozenset({HEALTH_PATH})
"""What everybody may see: whether the server is there."""


@dataclass(frozen=True, slots=True)
class ServerParts:
    """What an HTTP server is made of, beside the API."""

    served: Served
    rules: GuardRules
    threads: RequestThreads = field(default_factory=RequestThreads)
    audit_log: AuditLog | None = None
    routes: Sequence[BaseRoute] = ()
    mcp: Starlette | None = None  # the SDK's application
    close: Callable[[], None] = lambda: None  # called at the end


def build_server_app(
    parts: ServerParts, show_error: Callable[[Request, Exception, Response], Response] | None = None
) -> ASGIApp:
    """Build the application; ``show_error`` may give a page instead of a problem."""
    metrics = RequestMetrics()
    api = Api(parts.served, parts.threads, metrics)

    async def answer_error(request: Request, error: Exception) -> Response:
        response = await handle_error(request, error)
        return show_error(request, error, response) if show_error else response

    @asynccontextmanager
    async def lifespan(app: Starlette) -> AsyncIterator[None]:
        async with AsyncExitStack() as stack:
            if parts.mcp is not None:
                await stack.enter_async_context(parts.mcp.router.lifespan_context(parts.mcp))
            yield
        parts.threads.close()
        parts.served.builds.close()
        parts.served.workspace.close()
        parts.close()
        if parts.audit_log is not None:
            parts.audit_log.close()

    app = Starlette(
        routes=[
            *api.routes(),
            *parts.routes,
            *([Route(MCP_PATH, parts.mcp, methods=None)] if parts.mcp else ()),
        ],
        exception_handlers=dict.fromkeys(
            (DowseError, HttpProblem, HTTPException, ClientDisconnect, Exception), answer_error
        ),
        lifespan=lifespan,
    )
    app.router.redirect_slashes = False
    return RequestRecorder(RequestGuard(app, parts.rules), metrics, parts.audit_log)
